// SPDX-License-Identifier: MIT
// aton export: parses options of the form KEY=VALUE, exports and compares a file, and describes the result.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <aton/core/json_writer.hpp>
#include <aton/ir/print.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/passes/pass_trace.hpp>

#include "commands.hpp"
#include "model_files.hpp"
#include "progress.hpp"
#include "system/paths.hpp"

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

namespace {

namespace fs = std::filesystem;

/// Of inputs in place of random numbers.
constexpr std::size_t max_drawn_lines = 64;
constexpr std::size_t max_copied_lines = 8;
constexpr std::size_t max_unquantized_lines = 8;
/// Significant ones, of the errors of weights.
constexpr int error_digits = 6;

/// "relu=probabilities", of `option`.
std::pair<std::string, std::string> parse_rename(std::string const& text, char const* option = "--rename ") {
    std::size_t const equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
        throw error(option + plain(text) + ": write it as OLD=NEW");
    return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string_view word_of(warning_kind kind) {
    switch (kind) {
    case warning_kind::unused_input: return "unused_input";
    case warning_kind::pinned_dimension: return "pinned_dimension";
    case warning_kind::unchecked_guard: return "unchecked_guard";
    case warning_kind::dropped_effect: return "dropped_effect";
    case warning_kind::unknown_operator: return "unknown_operator";
    case warning_kind::random_operator: return "random_operator";
    case warning_kind::state_input: return "state_input";
    case warning_kind::missing_kernel: return "missing_kernel";
    case warning_kind::assumed_tie: return "assumed_tie";
    case warning_kind::kept_weight: return "kept_weight";
    case warning_kind::unused_weight: return "unused_weight";
    case warning_kind::unrounded_weights: return "unrounded_weights";
    }
    return "unknown";
}

void write_report(json_writer& out, export_outcome const& made, int opset) {
    export_report const& report = *made.report;
    out.field("opset", opset).field("nodes", report.nodes);
    out.field("weights", report.weights).field("weight_bytes", report.weight_bytes);
    out.field("rewritten_bytes", report.rewritten_bytes);
    out.name("seconds").value(std::chrono::duration<double>(made.took).count(), 6);
    out.name("warnings").array(report.warnings, [&](warning const& each) {
        out.begin_object().field("kind", word_of(each.kind)).field("text", each.text);
        out.field("count", each.count).end_object();
    });
    out.name("drawn_inputs").array(report.drawn_inputs, [&](drawn_input const& each) {
        out.begin_object().field("name", each.name).field("distribution", each.distribution).field("op", each.op);
        out.field("place", each.place).end_object();
    });
    out.name("copied_weights").array(report.copied_weights, [&](copied_weight const& each) {
        out.begin_object()
            .field("name", each.name)
            .field("bytes", each.bytes)
            .field("reason", each.reason)
            .end_object();
    });
    out.name("quantized_weights").array(report.quantized, [&](quantized_weight const& each) {
        out.begin_object().field("name", each.name).field("elements", each.elements).field("bytes", each.bytes);
        out.name("largest_error").value(each.error.largest, error_digits);
        out.name("relative_error").value(each.error.relative, error_digits).end_object();
    });
    out.name("unquantized_weights").array(report.unquantized, [&](unquantized_weight const& each) {
        out.begin_object().field("name", each.name).field("reason", each.reason).end_object();
    });
    out.name("quantized_products").array(report.products, [&](quantized_product const& each) {
        out.begin_object().field("op", each.op).field("node", each.node).field("place", each.place);
        out.field("on_integers", each.reason.empty()).field("reason", each.reason).end_object();
    });
    out.name("verification");
    if (made.verified) out.json(made.verified->json);
    else out.null();
}

std::string_view word_of(export_stage stage) {
    switch (stage) {
    case export_stage::read: return "reading";
    case export_stage::convert: return "converting";
    case export_stage::optimize: return "optimizing";
    case export_stage::write: return "writing";
    }
    return "exporting";
}

/// Which weights were rounded, and which were not.
/// "model.onnx: 9 of 11 products with quantized operands run on integers; the others: its output is not quantized (2)".
std::string product_line(export_report const& report, std::string const& output) {
    if (report.products.empty()) return {};
    std::map<std::string, std::size_t> reasons;
    std::size_t fused = 0;
    for (quantized_product const& each : report.products) {
        if (each.reason.empty()) ++fused;
        else ++reasons[each.reason];
    }
    std::string out = output + ": " + std::to_string(fused) + " of " + std::to_string(report.products.size()) +
                      " products with quantized operands run on integers";
    char const* before = "; the others: ";
    for (auto const& [reason, count] : reasons) {
        out += before + reason + " (" + std::to_string(count) + ")";
        before = ", ";
    }
    return out + '\n';
}

std::string quantized_lines(export_report const& report, std::string const& output) {
    std::string out;
    std::vector<unquantized_weight> const& left = report.unquantized;
    for (std::size_t i = 0; i != std::min(max_unquantized_lines, left.size()); ++i)
        out += output + ": weight '" + plain(left[i].name) + "' is not rounded: it " + left[i].reason + '\n';
    if (left.size() > max_unquantized_lines)
        out += output + ": " + std::to_string(left.size() - max_unquantized_lines) +
               " more weights are not rounded (--json lists all of them)\n";
    if (report.quantized.empty()) return out;
    std::uint64_t bytes = 0;
    std::uint64_t elements = 0;
    quantized_weight const* worst = &report.quantized.front();
    for (quantized_weight const& each : report.quantized) {
        bytes += each.bytes;
        elements += each.elements;
        if (each.error.relative > worst->error.relative) worst = &each;
    }
    char error[32];
    std::snprintf(error, sizeof error, "%.3g", worst->error.relative);
    return out + output + ": " + std::to_string(report.quantized.size()) + " weights of " + std::to_string(elements) +
           " elements are rounded to " + size_text(bytes) + ", relative error at most " + error + " ('" +
           plain(worst->name) + "')\n";
}

/// Whether the output is a file that can be read again, and not a pipe or a device.
bool is_file_or_new(std::string const& path) {
    std::error_code ignored;
    fs::path const file = system::path_of(path);
    return fs::is_regular_file(file, ignored) || !fs::exists(file, ignored);
}

/// Says in the result of a comparison which change of a pass made the model wrong.
void name_wrong_step(verification& found, export_job const& job, export_options options, model_verifier const& verifier,
                     progress& shown) {
    shown.stage(job.input + ": searching for the pass");
    options.stage = nullptr;
    options.progress = nullptr;
    std::string what;
    try {
        program::program const p = read_program(job.input, options);
        program::program prepared = p;
        prepare(prepared, options);
        std::optional<pass_step> const step = find_wrong_step(
            prepared, options, [&](graph_data const& g) { return verifier(p, with_weights(g), nullptr).passed; });
        what = step ? "change " + std::to_string(step->number) + " of the passes made the model wrong: " + step->pass +
                          (step->subject.empty() ? "" : ", " + plain(step->subject))
                    : "the passes did not make the model wrong: it differs without their changes, too";
    } catch (error const& e) {
        what = "the pass that made the model wrong was not found: " + std::string(e.what());
    }
    found.summary += "; " + what;
    found.text += what + '\n';
}

verification verify(export_job const& job, export_options const& options, model_verifier const& verifier,
                    progress& shown) {
    shown.stage(job.input + ": verifying");
    try {
        model m = read_model(job.output);
        load_external(m, job.output);
        auto const count = [&](std::size_t done, std::size_t all) { shown.step(done, all, "nodes"); };
        verification found = verifier(read_program(job.input, options), m.graph, count);
        if (!found.passed && options.optimize) name_wrong_step(found, job, options, verifier, shown);
        return found;
    } catch (error const& e) {
        throw error(plain(job.output) + ": is written, but cannot be compared: " + e.what());
    }
}

void export_or_throw(export_outcome& made, export_options options, model_verifier const& verifier, progress& shown) {
    export_job const& job = made.job;
    std::error_code ignored;
    if (fs::equivalent(system::path_of(job.input), system::path_of(job.output), ignored))
        throw error(plain(job.output) + ": is also the input; name another output file with -o");
    if (verifier && !is_file_or_new(job.output))
        throw error(plain(job.output) + ": is not a regular file, which --verify needs");
    options.stage = [&](export_stage stage) { shown.stage(job.input + ": " + std::string(word_of(stage))); };
    options.progress = [&](std::uint64_t done, std::uint64_t total) { shown.step_bytes(done, total); };
    pass_trace trace; // of this export: others may run at the same time
    if (options.trace != nullptr) options.trace = &(trace = *options.trace);
    made.report = export_file(job.input, job.output, options);
    if (verifier) made.verified = verify(job, options, verifier, shown);
}

/// What the request says about passes; null if it says nothing.
std::unique_ptr<pass_trace> trace_of(export_request const& request) {
    if (request.print_after.empty() && request.stop_after.empty()) return {};
    auto trace = std::make_unique<pass_trace>();
    std::string const& stop = request.stop_after;
    if (std::ranges::all_of(stop, [](unsigned char c) { return std::isdigit(c) != 0; })) {
        auto const [end, fault] = std::from_chars(stop.data(), stop.data() + stop.size(), trace->max_steps);
        if (!stop.empty() && fault != std::errc()) throw error("--stop-after " + stop + ": the number is too large");
    } else {
        trace->stop_after = find_pass(stop);
    }
    if (request.print_after.empty()) return trace;
    trace->after = [wanted = find_pass(request.print_after)](std::string_view pass, graph_data const& graph) {
        if (pass != wanted) return;
        print_note("# after " + std::string(pass) + "\n" + to_string(graph));
    };
    return trace;
}

/// The options with everything that the request has as text. `plugins` must outlive them.
export_options options_of(export_request const& request, std::vector<plugin> const& plugins) {
    export_options options = request.options;
    for (std::string const& text : request.inputs) options.inputs.push_back(parse_input(text));
    for (std::string const& text : request.dims) options.dims.push_back(parse_dim(text));
    for (std::string const& text : request.renames) options.renames.push_back(parse_rename(text));
    for (std::string const& text : request.weight_names)
        options.weights_map.push_back(parse_rename(text, "--weights-map "));
    if (!request.quantize.empty()) {
        options.quantize = parse_quantize(request.quantize);
        options.quantize->include = request.quantize_include;
        options.quantize->exclude = request.quantize_exclude;
    }
    options.tables = tables_of(plugins);
    for (plugin const& each : plugins) options.rewrites.push_back(each.rewrites());
    return options;
}

int print_one(export_outcome const& made, export_request const& request) {
    std::error_code ignored;
    bool const is_json = request.format == "json";
    int const opset = request.options.opset;
    bool const is_file = fs::is_regular_file(system::path_of(made.job.output), ignored); // or perhaps our own stdout
    bool const is_silent = made.report && (!is_file || (request.quiet && made.passed()));
    if (!request.quiet && !is_json) print_warnings(made);
    if (is_json && !is_silent) {
        json_writer out;
        write_json(out, made, opset);
        print_out(out.text() + '\n');
    } else if (made.error.empty() && !is_silent) {
        print_out((request.quiet ? std::string() : text_of(made, opset)) +
                  (made.verified ? made.verified->text : std::string()));
    }
    if (!made.error.empty()) complain(made.error, made.refused);
    return made.passed() ? 0 : 1;
}

int export_or_throw(export_request& request) {
    std::vector<plugin> const plugins = load_plugins(request.plugins);
    request.options = options_of(request, plugins);
    std::unique_ptr<pass_trace> const trace = trace_of(request);
    request.options.trace = trace.get();
    std::vector<export_job> const jobs = plan_exports(request);
    if (are_several(request.files)) return export_several(request, jobs);
    std::optional<progress> shown(style_of_stderr(request.quiet));
    export_outcome const made = export_one(jobs.front(), request.options, request.verifier, *shown);
    shown.reset();
    return print_one(made, request);
}

} // namespace

export_outcome export_one(export_job const& job, export_options options, model_verifier const& verifier,
                          progress& shown) {
    auto const start = std::chrono::steady_clock::now();
    export_outcome made{job, job.fault};
    try {
        if (job.fault.empty()) export_or_throw(made, std::move(options), verifier, shown);
    } catch (export_error const& e) {
        made.error = e.what();
        made.refused = e.nodes();
    } catch (std::bad_alloc const&) {
        made.error = plain(job.input) + ": out of memory";
    } catch (std::exception const& e) {
        made.error = e.what();
    }
    made.took = std::chrono::steady_clock::now() - start;
    return made;
}

std::string text_of(export_outcome const& made, int opset) {
    export_report const& report = *made.report;
    std::string const output = plain(made.job.output);
    std::string out;
    for (std::size_t i = 0; i != std::min(max_drawn_lines, report.drawn_inputs.size()); ++i) {
        drawn_input const& each = report.drawn_inputs[i];
        out += output + ": input " + plain(each.name) + " is " + each.distribution + ", drawn by " + plain(each.op) +
               (each.place.empty() ? "" : " at " + plain(each.place)) + '\n';
    }
    if (report.drawn_inputs.size() > max_drawn_lines)
        out += output + ": " + std::to_string(report.drawn_inputs.size() - max_drawn_lines) +
               " more inputs are random numbers (--json lists all of them)\n";
    for (std::size_t i = 0; i != std::min(max_copied_lines, report.copied_weights.size()); ++i)
        out += output + ": weight '" + plain(report.copied_weights[i].name) + "' is copied: it " +
               report.copied_weights[i].reason + '\n';
    if (report.copied_weights.size() > max_copied_lines)
        out += output + ": " + std::to_string(report.copied_weights.size() - max_copied_lines) +
               " more weights are copied (--json lists all of them)\n";
    out += product_line(report, output);
    out += quantized_lines(report, output);
    out += output + ": " + std::to_string(report.nodes) + " nodes, opset " + std::to_string(opset) + ", " +
           std::to_string(report.weights) + " weights of " + size_text(report.weight_bytes);
    if (report.rewritten_bytes != 0) out += " (" + size_text(report.rewritten_bytes) + " of them rewritten)";
    return out + ", " + time_text(made.took) + '\n';
}

void write_json(json_writer& out, export_outcome const& made, int opset) {
    bool const differs = made.verified && !made.verified->passed;
    out.begin_object().field("input", made.job.input).field("output", made.job.output).field("ok", made.passed());
    out.name("error");
    if (!made.error.empty()) out.value(made.error);
    else if (differs) out.value(made.job.output + ": differs from the program: " + made.verified->summary);
    else out.null();
    write_json(out.name("unconvertible"), made.refused);
    if (made.report) write_report(out, made, opset);
    out.end_object();
}

void print_warnings(export_outcome const& made) {
    if (!made.report) return;
    for (warning const& each : made.report->warnings) warn(made.job.input, each.text);
}

int export_models(export_request request) {
    try {
        return export_or_throw(request);
    } catch (error const& e) {
        if (request.format != "json") throw;
        json_writer out;
        export_outcome const failed{{request.files.front(), request.output}, e.what()};
        if (are_several(request.files)) out.begin_array();
        write_json(out, failed, request.options.opset);
        if (are_several(request.files)) out.end_array();
        print_out(out.text() + '\n');
        throw;
    }
}

} // namespace aton::tool
