// SPDX-License-Identifier: MIT
// aton print, aton check and aton unconvertible: show and check the contents of a file.
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/json_writer.hpp>
#include <aton/frontend/pt2/read_program.hpp>
#include <aton/ir/print.hpp>
#include <aton/model_io/model_io.hpp>

#include "commands.hpp"

namespace aton::tool {

std::string summary(model const& m) {
    std::string out = "IR " + std::to_string(m.ir_version) + ", opset " + std::to_string(m.graph.opset);
    for (auto const& [domain, version] : m.graph.opset_imports) out += ", " + domain + ' ' + std::to_string(version);
    if (!m.producer_name.empty())
        out += ", made by " + m.producer_name + (m.producer_version.empty() ? "" : ' ' + m.producer_version);
    return plain(std::move(out));
}

bool is_archive(std::string const& path) {
    if (!std::filesystem::is_regular_file(path)) return false; // the reader reports the error
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) return false;
    char start[2]{};
    bool const is = std::fread(start, 1, 2, file) == 2 && start[0] == 'P' && start[1] == 'K';
    std::fclose(file);
    return is;
}

namespace {

int print_program(std::string const& path, export_options const& options) {
    program::program const p = read_program(path, options);
    std::string head = "# model " + plain(p.name);
    if (!torchscript::is_archive(path)) {
        pt2::archive const archive(path);
        if (archive.models().size() > 1) {
            head += " of";
            for (std::string const& each : archive.models()) head += ' ' + plain(each);
        }
    }
    if (!p.torch_version.empty()) head += ", torch " + plain(p.torch_version);
    print_out(head + ", " + std::to_string(p.main.nodes.size()) + " nodes\n" + to_string(p));
    return 0;
}

std::string as_json(std::vector<unconvertible> const& all) {
    json_writer out;
    write_json(out, all);
    return out.text() + '\n';
}

std::string as_text(std::vector<unconvertible> const& all, std::size_t nodes, int opset) {
    if (all.empty())
        return "all " + std::to_string(nodes) + " nodes can be converted at opset " + std::to_string(opset) + '\n';
    std::string out;
    for (unconvertible const& u : all) {
        out +=
            plain(u.op) + ": " + (u.count == 1 ? "once" : std::to_string(u.count) + " times") + ", " + plain(u.reason);
        if (!u.nearest.empty()) out += "; nearest: " + u.nearest;
        out += '\n';
        for (std::string const& place : u.places) out += "    " + plain(place) + '\n';
    }
    return out;
}

} // namespace

graph_data with_weights(graph_data graph) {
    std::vector<graph_data*> left{&graph};
    while (!left.empty()) {
        graph_data& g = *left.back();
        left.pop_back();
        for (graph_initializer& i : g.initializers)
            if (i.stored != nullptr) i.data = load(*std::exchange(i.stored, nullptr));
        for (graph_node& n : g.nodes)
            for (node_attribute& a : n.attributes)
                for (graph_data& inner : a.graphs) left.push_back(&inner);
    }
    return graph;
}

int print_file(std::string const& path, std::string const& name, std::vector<std::string> const& inputs) {
    export_options options;
    options.model = name;
    for (std::string const& text : inputs) options.inputs.push_back(parse_input(text));
    if (is_archive(path)) return print_program(path, options);
    if (!inputs.empty()) throw error(plain(path) + ": --input is for TorchScript archives");
    if (!name.empty()) throw error(plain(path) + ": --model is for .pt2 files");
    model const m = read_model(path);
    std::string out = "# " + summary(m) + '\n';
    if (!m.external.empty())
        out += "# " + std::to_string(m.external.size()) + " tensors in other files, the first in " +
               plain(m.external.front().location) + '\n';
    print_out(out + to_string(m.graph));
    return 0;
}

void write_json(json_writer& out, std::vector<unconvertible> const& all) {
    out.begin_array();
    for (unconvertible const& u : all) {
        out.new_line("  ").begin_object().field("op", u.op).field("count", u.count).field("reason", u.reason);
        out.name("nearest");
        if (u.nearest.empty()) out.null();
        else out.value(u.nearest);
        out.name("places").array(u.places).end_object();
    }
    if (!all.empty()) out.new_line();
    out.end_array();
}

int check_models(std::vector<std::string> const& paths, std::string const& format) {
    bool const is_json = format == "json";
    int status = 0;
    json_writer out;
    out.begin_array();
    for (std::string const& path : paths) {
        out.new_line("  ").begin_object().field("file", path);
        try {
            check_model(path);
            model const m = read_model(path);
            out.field("ok", true).field("nodes", m.graph.nodes.size()).field("ir_version", m.ir_version);
            out.field("opset", m.graph.opset).name("error").null();
            if (!is_json)
                print_out(path + ": ok (" + std::to_string(m.graph.nodes.size()) + " nodes, " + summary(m) + ")\n");
        } catch (error const& e) {
            out.field("ok", false).name("nodes").null().name("ir_version").null().name("opset").null();
            out.field("error", std::string_view(e.what()));
            complain(e.what());
            status = 1;
        }
        out.end_object();
    }
    if (is_json) print_out(out.new_line().end_array().text() + '\n');
    return status;
}

int list_unconvertible(unconvertible_request const& request) {
    std::vector<plugin> const plugins = load_plugins(request.plugins);
    export_options options = request.options;
    options.tables = tables_of(plugins);
    for (std::string const& text : request.inputs) options.inputs.push_back(parse_input(text));
    program::program p = read_program(request.input, options);
    prepare(p, options);
    std::vector<unconvertible> const all = find_unconvertible(p, options);
    print_out(request.format == "json" ? as_json(all) : as_text(all, p.main.nodes.size(), request.options.opset));
    return 0;
}

} // namespace aton::tool
