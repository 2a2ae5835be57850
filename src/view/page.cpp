// SPDX-License-Identifier: MIT
// Fills the model into the page: page/page.html with its style and scripts, which are compiled in.
#include "page.hpp"

#include <string>
#include <string_view>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/core/json_writer.hpp>

#include "pane.hpp"

namespace ATON_NAMESPACE::view {

namespace {

/// Names and texts of the files of the page; a long text is several pieces.
constexpr std::pair<std::string_view, std::string_view> pieces[] = {
#include <page_files.inc>
};

void append_file(std::string& to, std::string_view name) {
    for (auto const& [of, text] : pieces)
        if (of == name) to += text;
}

/// Text between tags.
std::string escaped(std::string_view text) {
    std::string out;
    for (char const c : clipped(std::string(text), std::string::npos)) {
        if (c == '&') out += "&amp;";
        else if (c == '<') out += "&lt;";
        else if (c == '>') out += "&gt;";
        else out += c;
    }
    return out;
}

/// The model as JSON without '<', which is only in strings there, so that no text of the model ends the script around it.
std::string data_of(page const& p) {
    json_writer out;
    string_pool strings;
    out.begin_object().field("title", p.title).name("facts").array(p.facts).field("failure", p.failure);
    out.field("comparison", p.comparison.summary);
    out.name("warnings").array(p.warnings).name("panes").begin_array();
    pane of_program;
    if (p.program != nullptr) {
        of_program = pane_of(*p.program, p.refused);
        add_comparison(of_program, p.comparison.nodes);
        write_pane(out, strings, of_program);
    }
    if (p.graph != nullptr) {
        pane of_graph = pane_of(*p.graph);
        find_origins(of_graph, of_program);
        write_pane(out, strings, of_graph);
    }
    out.end_array().name("strings").array(strings.all()).end_object();
    std::string safe;
    safe.reserve(out.text().size());
    for (char const c : out.text())
        if (c == '<') safe += "\\u003c";
        else safe += c;
    return safe;
}

} // namespace

std::string to_html(page const& p) {
    constexpr std::string_view scripts[] = {"model.js",
                                            "tree.js",
                                            "layout.js",
                                            "pane.js",
                                            "draw.js",
                                            "outline.js",
                                            "details.js",
                                            "search.js",
                                            "first_look.js",
                                            "main.js"};
    std::string frame;
    append_file(frame, "page.html");
    std::string out;
    std::string_view rest = frame;
    for (;;) {
        std::size_t const open = rest.find("{{");
        out += rest.substr(0, open);
        if (open == std::string_view::npos) return out;
        std::size_t const close = rest.find("}}", open);
        std::string_view const name = rest.substr(open + 2, close - open - 2);
        rest.remove_prefix(close + 2);
        if (name == "title") out += escaped(p.title);
        else if (name == "data") out += data_of(p);
        else if (name == "scripts")
            for (std::string_view const script : scripts) append_file(out, script);
        else append_file(out, name);
    }
}

} // namespace ATON_NAMESPACE::view
