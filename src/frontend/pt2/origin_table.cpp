// SPDX-License-Identifier: MIT
#include "origin_table.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

constexpr std::size_t longest_text = 200;

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    std::size_t const first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// On one line, and not longer than a message may be; UTF-8 characters stay whole.
std::string plain(std::string_view text) {
    std::size_t size = text.size();
    if (size > longest_text) {
        size = longest_text;
        while (size != 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
    }
    std::string out(text.substr(0, size));
    for (char& c : out)
        if (static_cast<unsigned char>(c) < 0x20 || c == '\x7f') c = ' ';
    return out;
}

bool is_bracket_open(char c) { return c == '(' || c == '['; }
bool is_bracket_close(char c) { return c == ')' || c == ']'; }

/// "L['self'].layer1[0].conv1@1" -> "layer1.0.conv1": the names of older versions, and the count of calls of the same module.
std::string plain_path(std::string_view path) {
    constexpr std::string_view root = "L['self']";
    if (path.starts_with(root)) path.remove_prefix(root.size());
    std::string out;
    for (std::size_t i = 0; i < path.size(); ++i) {
        constexpr std::string_view modules = "_modules[";
        if (path.substr(i).starts_with(modules)) i += modules.size() - 1;
        char const c = path[i];
        if (c == '@') {
            while (i + 1 < path.size() && path[i + 1] >= '0' && path[i + 1] <= '9') ++i;
        } else if (c == '[' || c == '.') {
            if (!out.empty() && out.back() != '.') out += '.';
        } else if (c != ']' && c != '\'' && c != '"') {
            out += c;
        }
    }
    if (out.ends_with('.')) out.pop_back();
    return plain(out);
}

/// The last of "key,path,type;key,path,type"; commas in brackets do not count.
void read_module(std::string_view stack, program::origin& out) {
    std::string_view entry = stack.substr(stack.rfind(';') + 1); // npos + 1 is 0
    std::size_t commas[2] = {std::string_view::npos, std::string_view::npos};
    std::size_t found = 0;
    int depth = 0;
    for (std::size_t i = 0; i != entry.size() && found != 2; ++i) {
        if (is_bracket_open(entry[i])) ++depth;
        else if (is_bracket_close(entry[i])) --depth;
        else if (entry[i] == ',' && depth == 0) commas[found++] = i;
    }
    // What torch puts where a node has no module.
    if (found != 2 || entry.starts_with("_empty_nn_module_stack")) return;
    out.module = plain_path(trimmed(entry.substr(commas[0] + 1, commas[1] - commas[0] - 1)));
    out.module_type = plain(trimmed(entry.substr(commas[1] + 1)));
}

struct frame {
    std::string_view file;
    std::string_view line;
    std::string_view function;
    std::string_view code;
};

/// `File "x.py", line 12, in f`, then the line of code. False: it is no frame.
bool read_frame(std::string_view text, frame& out) {
    constexpr std::string_view start = "File \"";
    constexpr std::string_view middle = "\", line ";
    constexpr std::string_view in = ", in ";
    text.remove_prefix(start.size());
    std::size_t const line_end = text.find('\n');
    std::string_view const head = text.substr(0, line_end);
    std::size_t const quote = head.rfind(middle);
    if (quote == std::string_view::npos) return false;
    std::string_view const rest = head.substr(quote + middle.size());
    std::size_t const comma = rest.find(in);
    out.file = head.substr(0, quote);
    out.line = rest.substr(0, comma);
    out.function = comma == std::string_view::npos ? std::string_view{} : trimmed(rest.substr(comma + in.size()));
    std::string_view const below = line_end == std::string_view::npos ? std::string_view{} : text.substr(line_end + 1);
    out.code = trimmed(below.substr(0, below.find('\n')));
    return !out.line.empty() && out.line.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Code of torch itself, or made by it while it traced.
bool is_library(std::string_view file) {
    return file.starts_with('<') || file.starts_with("torch/") || file.find("/torch/") != std::string_view::npos ||
           file.find("\\torch\\") != std::string_view::npos;
}

std::string_view base_name(std::string_view file) { return file.substr(file.find_last_of("/\\") + 1); }

/// Whether only blanks are before `at` in its line.
bool starts_line(std::string_view text, std::size_t at) {
    while (at != 0 && text[at - 1] == ' ') --at;
    return at == 0 || text[at - 1] == '\n';
}

/// From the innermost frame outwards, until one is not torch's.
void read_source(std::string_view trace, program::origin& out) {
    constexpr std::string_view start = "File \"";
    frame chosen;
    for (std::size_t at = trace.rfind(start); at != std::string_view::npos;
         at = at == 0 ? std::string_view::npos : trace.rfind(start, at - 1)) {
        frame each;
        if (!starts_line(trace, at) || !read_frame(trace.substr(at), each)) continue;
        bool const library = is_library(each.file);
        if (chosen.file.empty() || !library) chosen = each;
        if (!library) break;
    }
    if (chosen.file.empty()) return;
    out.source = plain(base_name(chosen.file)) + ":" + plain(chosen.line);
    if (!chosen.function.empty()) out.source += " in " + plain(chosen.function);
    out.code = plain(chosen.code);
}

} // namespace

std::uint32_t origin_table::find(std::string_view module_stack, std::string_view stack_trace) {
    if (module_stack.empty() && stack_trace.empty()) return 0;
    auto const [known, is_new] = seen_.try_emplace({module_stack, stack_trace}, 0);
    if (!is_new) return known->second;
    program::origin found;
    read_module(module_stack, found);
    read_source(stack_trace, found);
    std::string key = found.module;
    for (std::string const* part : {&found.module_type, &found.source, &found.code}) (key += '\n') += *part;
    if (key.size() == 3) return 0; // nothing could be read: [0]
    auto const [place, first] = distinct_.try_emplace(std::move(key), static_cast<std::uint32_t>(out_.size()));
    if (first) out_.push_back(std::move(found));
    return known->second = place->second;
}

} // namespace ATON_NAMESPACE::pt2
