// SPDX-License-Identifier: MIT
// aton export: parses options of the form KEY=VALUE, shows progress on a terminal, and prints one line about the result.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

#include <aton/core/json_writer.hpp>

#include "commands.hpp"

namespace aton::tool {

dim_name parse_dim(std::string const& text) {
    std::size_t const equals = text.find('=');
    std::size_t const colon = text.rfind(':', equals);
    dim_name out;
    if (equals != std::string::npos && colon != std::string::npos && colon < equals) {
        out.input = text.substr(0, colon);
        out.name = text.substr(equals + 1);
        char const* const first = text.data() + colon + 1;
        char const* const last = text.data() + equals;
        auto const [end, fault] = std::from_chars(first, last, out.axis);
        if (fault == std::errc() && end == last && !out.input.empty() && !out.name.empty()) return out;
    }
    throw error("--dim " + plain(text) + ": write it as INPUT:AXIS=NAME, for example --dim x:0=batch");
}

torchscript::input_type parse_input(std::string const& text) {
    std::size_t const colon = text.find(':');
    std::size_t const open = text.find('[');
    torchscript::input_type out;
    bool is_good =
        colon != std::string::npos && colon != 0 && open != std::string::npos && colon < open && text.back() == ']';
    if (is_good) {
        out.name = text.substr(0, colon);
        out.type = dtype_from_name(text.substr(colon + 1, open - colon - 1));
        if (out.type == dtype::undefined)
            throw error("--input " + plain(text) + ": '" + plain(text.substr(colon + 1, open - colon - 1)) +
                        "' is not a dtype; use the names of torch, such as float32 or int64");
        std::string_view left = std::string_view(text).substr(open + 1, text.size() - open - 2);
        while (is_good && !left.empty()) {
            std::size_t const comma = left.find(',');
            std::string_view const each = left.substr(0, comma);
            left = comma == std::string_view::npos ? std::string_view() : left.substr(comma + 1);
            bool const starts_as_name =
                !each.empty() && (std::isalpha(static_cast<unsigned char>(each[0])) != 0 || each[0] == '_');
            std::int64_t size = 0;
            auto const [end, fault] = std::from_chars(each.data(), each.data() + each.size(), size);
            bool const is_size = fault == std::errc() && end == each.data() + each.size() && size >= 0;
            bool const is_name = starts_as_name && std::all_of(each.begin(), each.end(), [](char c) {
                                     return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
                                 });
            is_good = is_size || is_name;
            out.sizes.push_back(is_size ? dim(size) : dim(std::string(each)));
        }
    }
    if (!is_good)
        throw error("--input " + plain(text) +
                    ": write it as NAME:DTYPE[SIZES], for example --input x:float32[1,3,224,224]");
    return out;
}

namespace {

using clock = std::chrono::steady_clock;

/// "relu=probabilities"
std::pair<std::string, std::string> parse_rename(std::string const& text) {
    std::size_t const equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
        throw error("--rename " + plain(text) + ": write it as OLD=NEW");
    return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string text_of(double value, char const* unit) {
    char text[48];
    std::snprintf(text, sizeof text, value < 10 ? "%.2f %s" : "%.1f %s", value, unit);
    return text;
}

std::string size_text(std::uint64_t bytes) {
    double const b = static_cast<double>(bytes);
    if (b >= 1e9) return text_of(b / 1e9, "GB");
    if (b >= 1e6) return text_of(b / 1e6, "MB");
    return b >= 1e3 ? text_of(b / 1e3, "kB") : std::to_string(bytes) + " bytes";
}

std::string time_text(clock::duration d) {
    double const seconds = std::chrono::duration<double>(d).count();
    return seconds < 1 ? text_of(seconds * 1e3, "ms") : text_of(seconds, "s");
}

/// A progress line on stderr, overwritten as it changes. Appears after a delay, and only on a terminal.
class progress_line {
public:
    progress_line() : shown_(::isatty(STDERR_FILENO) != 0) {}
    progress_line(progress_line const&) = delete;
    progress_line& operator=(progress_line const&) = delete;
    ~progress_line() {
        if (dirty_) std::fputs("\r\033[K", stderr);
    }

    void operator()(std::uint64_t done, std::uint64_t total) {
        auto const now = clock::now();
        if (!shown_ || total == 0 || now - last_ < std::chrono::milliseconds(300)) return;
        last_ = now;
        dirty_ = true;
        std::fprintf(stderr,
                     "\rweights: %d %% of %s\033[K",
                     static_cast<int>(100.0 * static_cast<double>(done) / static_cast<double>(total)),
                     size_text(total).c_str());
        std::fflush(stderr);
    }

private:
    bool shown_;
    bool dirty_ = false;
    clock::time_point last_ = clock::now();
};

std::string default_output(std::string const& input) {
    std::filesystem::path path(input);
    return path.replace_extension(".onnx").string();
}

std::string_view word_of(warning_kind kind) {
    switch (kind) {
    case warning_kind::unused_input: return "unused_input";
    case warning_kind::pinned_dimension: return "pinned_dimension";
    case warning_kind::unchecked_guard: return "unchecked_guard";
    case warning_kind::dropped_effect: return "dropped_effect";
    case warning_kind::unknown_operator: return "unknown_operator";
    case warning_kind::random_operator: return "random_operator";
    }
    return "unknown";
}

std::string as_json(std::string const& output, int opset, export_report const& report, clock::duration took) {
    json_writer out;
    out.begin_object().field("output", output).field("opset", opset).field("nodes", report.nodes);
    out.field("weights", report.weights).field("weight_bytes", report.weight_bytes);
    out.field("rewritten_bytes", report.rewritten_bytes);
    out.name("seconds").value(std::chrono::duration<double>(took).count(), 6);
    out.name("warnings").array(report.warnings, [&](warning const& each) {
        out.begin_object().field("kind", word_of(each.kind)).field("text", each.text).end_object();
    });
    out.name("drawn_inputs").array(report.drawn_inputs, [&](drawn_input const& each) {
        out.begin_object().field("name", each.name).field("distribution", each.distribution).field("op", each.op);
        out.field("place", each.place).end_object();
    });
    return out.end_object().text() + '\n';
}

/// The failure of an export, for programs: the sentence, and the operators that cannot be converted.
std::string as_json(error const& e) {
    json_writer out;
    out.begin_object().field("error", std::string_view(e.what())).name("unconvertible");
    auto const* const refused = dynamic_cast<export_error const*>(&e);
    write_json(out, refused != nullptr ? refused->nodes() : std::vector<unconvertible>());
    return out.end_object().text() + '\n';
}

int export_or_throw(export_request request) {
    auto const start = clock::now();
    std::string const output = request.output.empty() ? default_output(request.input) : request.output;
    for (std::string const& text : request.inputs) request.options.inputs.push_back(parse_input(text));
    for (std::string const& text : request.dims) request.options.dims.push_back(parse_dim(text));
    for (std::string const& text : request.renames) request.options.renames.push_back(parse_rename(text));
    std::error_code ignored;
    if (std::filesystem::equivalent(request.input, output, ignored))
        throw error(plain(output) + ": is also the input; name another output file with -o");
    std::vector<plugin> const plugins = load_plugins(request.plugins);
    request.options.tables = tables_of(plugins);
    for (plugin const& each : plugins) request.options.rewrites.push_back(each.rewrites());
    export_report report;
    {
        progress_line progress;
        request.options.progress = [&](std::uint64_t done, std::uint64_t total) { progress(done, total); };
        report = export_file(request.input, output, request.options);
    }
    if (!request.quiet && request.format != "json")
        for (warning const& each : report.warnings)
            complain("warning: " + plain(request.input) + ": " + plain(each.text));
    bool const is_file = std::filesystem::is_regular_file(output, ignored);
    if (request.quiet || !is_file) return 0; // a pipe may be this process's stdout
    if (request.format == "json") {
        print_out(as_json(output, request.options.opset, report, clock::now() - start));
        return 0;
    }
    for (drawn_input const& each : report.drawn_inputs)
        print_out(plain(output) + ": input " + plain(each.name) + " is " + each.distribution + ", drawn by " +
                  plain(each.op) + (each.place.empty() ? "" : " at " + plain(each.place)) + '\n');
    std::string line = plain(output) + ": " + std::to_string(report.nodes) + " nodes, opset " +
                       std::to_string(request.options.opset) + ", " + std::to_string(report.weights) + " weights of " +
                       size_text(report.weight_bytes);
    if (report.rewritten_bytes != 0) line += " (" + size_text(report.rewritten_bytes) + " of them rewritten)";
    print_out(line + ", " + time_text(clock::now() - start) + '\n');
    return 0;
}

} // namespace

int export_model(export_request request) {
    bool const is_json = request.format == "json";
    try {
        return export_or_throw(std::move(request));
    } catch (error const& e) {
        if (is_json) print_out(as_json(e));
        throw;
    }
}

} // namespace aton::tool
