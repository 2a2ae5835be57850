// SPDX-License-Identifier: MIT
// aton verify: checks mappings or a model, and writes reports.
#include "verify_command.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/core/json_writer.hpp>
#include <aton/exporter/exporter.hpp>
#include <aton/frontend/pt2/read_program.hpp>
#include <aton/fusions/built_in.hpp>
#include <aton/mappings/built_in.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/verify/check.hpp>
#include <aton/verify/models.hpp>
#include <aton/verify/rewrites.hpp>

#if defined(ATON_HAS_CUDA)
#include <aton/runtime/cuda.hpp>
#endif

#include "commands.hpp"
#include "given_inputs.hpp"
#include "progress.hpp"
#include "system/paths.hpp"
#include "torch_truth.hpp"
#include "verify_seeds.hpp"

namespace aton::tool {

namespace {

bool is_html(std::string const& path) { return path.ends_with(".html"); }

/// The device to run on. Throws aton::error if there is no GPU, or this build does not support it.
runtime::device device_of(verify_request const& request) {
    if (request.device == "cpu") return {};
#if defined(ATON_HAS_CUDA)
    return runtime::cuda_kernels().memory().where();
#else
    throw error("--device " + request.device + ": this aton-verify was built without ATON_BUILD_CUDA");
#endif
}

/// The options that the results of a seed depend on.
std::string settings_of(verify_request const& request) {
    std::string out = "aton verify --samples " + std::to_string(request.samples) + " --device " + request.device;
    if (!request.only.empty()) out += " --only " + plain(request.only);
    if (request.torch) out += " --torch";
    if (request.nan != "exact") out += " --nan " + request.nan;
    if (request.opset != 0) out += " --opset " + std::to_string(request.opset);
    for (std::string const& path : request.plugins) out += " --plugin " + plain(path);
    return out;
}

/// The overloads that a file lists, one a line; none without a file.
std::vector<std::string> overloads_in(std::string const& path) {
    std::vector<std::string> out;
    if (path.empty()) return out;
    std::ifstream file(system::path_of(path));
    if (!file) throw error(plain(path) + ": cannot be read");
    for (std::string line; std::getline(file, line);)
        if (!line.empty() && line.front() != '#') out.push_back(line);
    return out;
}

/// The rewrites of the plugins and the target, or the built-in ones if there are none.
std::vector<rewrite_entry> rewrites_of(std::vector<plugin> const& plugins, targets::target const* target) {
    std::vector<rewrite_entry> all;
    auto const add = [&](rewrites_view table) { all.insert(all.end(), table.begin(), table.end()); };
    for (plugin const& each : plugins) add(each.rewrites());
    if (target != nullptr) {
        add(target->rewrites);
        add(target->last_rewrites);
    }
    if (plugins.empty() && target == nullptr) add(fusions::built_in_rewrites());
    return all;
}

/// The JSON of a report, with what the conditions of rewrites are needed for.
std::string with_conditions(std::string json, std::optional<verify::condition_report> const& conditions) {
    if (!conditions) return json;
    json_writer out;
    out.begin_object().field("needed", conditions->needed).name("survivors").array(conditions->survivors).end_object();
    return json.substr(0, json.rfind('}')) + ", \"conditions\": " + out.text() + "}\n";
}

} // namespace

void take_recorded(verify::model_options& options, std::string const& folder) {
    options.inputs = read_values(folder, "input");
    options.outputs = read_values(folder, "output");
    if (options.inputs.empty() && options.outputs.empty()) throw error(plain(folder) + ": has no input_0.pb");
}

void print_report(verify_request const& request, bool passed, std::string const& text, std::string const& json) {
    if (request.quiet && passed) return;
    print_out(request.is_json() ? json : text);
}

std::string usage_fault(verify_request const& request) {
    bool const of_model = !request.files.empty();
    bool const of_rewrites_in_model = request.rewrites && request.files.size() == 1;
    bool const of_pair = is_pair(request);
    if (request.files.size() == 2 && !of_pair && request.files[0].ends_with(".onnx"))
        return "two models are both .onnx files; a program comes first, MODEL.pt2 MODEL.onnx";
    if (of_pair && !request.model.empty()) return "--model is for .pt2 files";
    if (std::string fault = runtime_fault(request); !fault.empty()) return fault;
    if (request.files.size() == 1 && !request.rewrites && !is_asked(request))
        return "a model needs both files, MODEL.pt2 MODEL.onnx; or --rewrites MODEL.pt2, or MODEL.onnx with --runtime";
    if (of_rewrites_in_model && (!request.only.empty() || request.mutants || request.least_power != 0 ||
                                 request.least_row_power != 0 || !request.calls.empty() || !request.reports.empty()))
        return "--only, --mutants, --least-power, --least-row-power, --calls and --report are not for the rewrites of "
               "a model";
    if (of_model && !of_rewrites_in_model &&
        (!request.only.empty() || request.opset != 0 || request.mutants || request.least_power != 0 ||
         request.least_row_power != 0 || !request.plugins.empty() || !request.calls.empty()))
        return "--only, --opset, --mutants, --least-power, --least-row-power, --plugin and --calls are for mappings, "
               "not for a model";
    if (request.rewrites && (request.files.size() > 1 || !request.calls.empty()))
        return "--rewrites takes one file at most, MODEL.pt2, and no --calls";
    if (request.torch && (of_model || request.rewrites || request.device != "cpu"))
        return "--torch is for mappings, on the CPU";
    if (!of_model && (!request.inputs.empty() || !request.model.empty())) return "--inputs and --model are for a model";
    if (request.least_power != 0 && !request.mutants) return "--least-power needs --mutants";
    if (!request.without_mutants.empty() && !request.mutants) return "--without-mutants needs --mutants";
    if (request.max_mutants != 0 && !request.mutants) return "--max-mutants needs --mutants";
    if (request.least_row_power != 0 && !request.mutants) return "--least-row-power needs --mutants";
    if (!request.seeds.empty() && (of_model || request.mutants || !request.reports.empty() || !request.calls.empty()))
        return "--seeds is for mappings, without --mutants, --calls and --report";
    if (!request.seeds.empty() && !read_seeds(request.seeds))
        return "--seeds " + request.seeds + ": write FIRST..LAST, as in 1..200";
    if (!request.log.empty() && request.seeds.empty()) return "--log needs --seeds";
    for (std::string const& path : request.reports) {
        if (!is_html(path) && !path.ends_with(".json"))
            return "--report " + path + ": name a file that ends with .html or .json";
        if (of_model && is_html(path)) return "--report " + path + ": the report of a model is .json";
    }
    return {};
}

int verify_mappings(verify_request const& request) {
    std::vector<plugin> const plugins = load_plugins(request.plugins);
    std::vector<dsl::table_view> const others = tables_of(plugins);
    std::span<dsl::table_view const> const built_in = mappings::built_in_tables();
    std::span<dsl::table_view const> const tables = plugins.empty() ? built_in : others;
    verify::check_options options;
    options.only = request.only;
    options.samples = request.samples;
    options.seed = request.seed;
    options.exact_nan = request.nan == "exact";
    options.mutants = request.mutants;
    options.max_mutants = request.max_mutants;
    std::vector<std::string> const without_mutants = overloads_in(request.without_mutants);
    options.without_mutants = without_mutants;
    options.threads = request.threads;
    options.where = device_of(request);
    options.isolated = !plugins.empty() && request.device == "cpu"; // rows of others may crash
    if (request.torch) use_torch(options);
    if (request.opset != 0) options.min_opset = options.max_opset = request.opset;
    std::vector<verify::recorded_call> calls;
    if (!request.calls.empty()) calls = verify::read_calls(request.calls);
    options.calls = calls;
    progress shown(style_of_stderr(request.quiet));
    shown.stage("verify");
    options.progress = [&](std::size_t done, std::size_t all) {
        shown.step(done, all, request.rewrites ? "rewrites" : "mappings");
    };
    std::vector<dsl::entry> rows;
    std::vector<rewrite_entry> const checked_rewrites =
        request.rewrites ? rewrites_of(plugins, request.target) : std::vector<rewrite_entry>();
    verify::rewrite_rows const rewrites(checked_rewrites);
    if (request.rewrites) {
        rows.assign(rewrites.rows().begin(), rewrites.rows().end());
        options = rewrites.options(options);
    } else {
        for (dsl::table_view const& table : tables) rows.insert(rows.end(), table.begin(), table.end());
    }
    auto const checked = [&](std::uint64_t seed) {
        options.seed = seed;
        if (!request.seeds.empty()) shown.stage("seed " + std::to_string(seed));
        verify::report all = check(rows, options);
        if (all.rows.empty()) {
            std::string const at = request.opset == 0 ? std::string() : " at opset " + std::to_string(request.opset);
            throw error(request.only.empty() ? "there are no mappings to check" + at
                                             : "no mapping has '" + plain(request.only) + "' in its name" + at);
        }
        return all;
    };
    if (!request.seeds.empty()) return verify_seeds(request, settings_of(request), checked);
    verify::report const all = checked(request.seed);
    bool const any_recorded = std::any_of(all.rows.begin(), all.rows.end(), [](verify::row_report const& r) {
        return r.recorded.total() != 0 || !r.failures.empty();
    });
    if (!request.calls.empty() && !any_recorded)
        throw error(plain(request.calls) + ": no call is of an operator that is checked" +
                    (all.without_row.empty() ? std::string() : "; one is of " + plain(all.without_row.front())));
    for (std::string const& path : request.reports) write_file(is_html(path) ? all.to_html() : all.to_json(), path);
    std::optional<verify::condition_report> conditions;
    if (request.rewrites && request.mutants) {
        shown.stage("without conditions");
        options.mutants = false;
        conditions = verify::check_conditions(checked_rewrites, options);
    }
    print_report(request,
                 all.passed(),
                 all.to_text() + (conditions ? conditions->to_text() : std::string()),
                 with_conditions(all.to_json(), conditions));
    if (request.mutants && all.power() < request.least_power)
        throw error("the mappings detect " + std::to_string(all.power()) +
                    " % of their mutants, less than --least-power " + std::to_string(request.least_power) + " %");
    verify::row_report const* const weakest = all.weakest();
    if (request.mutants && weakest != nullptr && weakest->mutants.power() < request.least_row_power)
        throw error(weakest->overload + " detects " + std::to_string(weakest->mutants.power()) +
                    " % of its mutants, less than --least-row-power " + std::to_string(request.least_row_power) + " %");
    return all.passed() ? 0 : 1;
}

bool is_pair(verify_request const& request) {
    return request.files.size() == 2 && request.files[0].ends_with(".onnx") && request.files[1].ends_with(".onnx");
}

int verify_model(verify_request const& request) {
    if (is_asked(request)) return verify_runtime(request);
    if (is_pair(request)) return verify_pair(request, device_of(request));
    verify::model_options options;
    options.samples = request.samples;
    options.seed = request.seed;
    options.where = device_of(request);
    if (!request.inputs.empty()) take_recorded(options, request.inputs);
    progress shown(style_of_stderr(request.quiet));
    if (request.rewrites) return verify_translation(request, options, shown);
    shown.stage(request.files[0]);
    options.progress = [&](std::size_t done, std::size_t all) { shown.step(done, all, "nodes"); };
    program::program const p = pt2::read_program(request.files[0], request.model);
    model m = read_model(request.files[1]);
    load_external(m, request.files[1]);
    verify::model_report const report = compare_models(p, m.graph, options);
    for (std::string const& path : request.reports) write_file(report.to_json(), path);
    print_report(request, report.passed(), report.to_text(), report.to_json());
    return report.passed() ? 0 : 1;
}

} // namespace aton::tool
