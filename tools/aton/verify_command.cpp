// SPDX-License-Identifier: MIT
// aton verify: mappings, a model, and reports in files.
#include "verify_command.hpp"

#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <aton/frontend/pt2/read_program.hpp>
#include <aton/mappings.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/model_io/values.hpp>
#include <aton/verify/check.hpp>
#include <aton/verify/models.hpp>

#include "commands.hpp"

namespace aton::tool {

namespace {

namespace fs = std::filesystem;

bool is_html(std::string const& path) { return path.ends_with(".html"); }

/// The file appears whole or not at all.
void write_report(std::string const& path, std::string const& text) {
    std::string const temporary = path + ".part" + std::to_string(::getpid());
    std::FILE* const file = std::fopen(temporary.c_str(), "wb");
    bool done = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (file != nullptr) done = std::fclose(file) == 0 && done;
    std::error_code fault;
    if (done) fs::rename(temporary, path, fault);
    if (done && !fault) return;
    fs::remove(temporary, fault);
    throw error(plain(path) + ": the report cannot be written");
}

/// The inputs that lie in a folder as ONNX's tests have them.
std::vector<runtime::value> read_inputs(std::string const& folder) {
    std::vector<runtime::value> out;
    for (;;) {
        fs::path const path = fs::path(folder) / ("input_" + std::to_string(out.size()) + ".pb");
        if (!fs::exists(path)) break;
        file_value const v = read_value(path.string(), value_kind::tensor);
        out.emplace_back(runtime::tensor::from_constant(v.tensors.at(0)));
    }
    if (out.empty()) throw error(plain(folder) + ": has no input_0.pb");
    return out;
}

} // namespace

void check_usage(verify_request const& request) {
    bool const of_model = !request.files.empty();
    if (request.files.size() == 1) throw usage_error("a model needs both files, MODEL.pt2 MODEL.onnx");
    if (of_model && (!request.only.empty() || request.opset != 0 || request.mutants || request.least_power != 0 ||
                     !request.plugins.empty()))
        throw usage_error("--only, --opset, --mutants, --least-power and --plugin are for mappings, not for a model");
    if (!of_model && (!request.inputs.empty() || !request.model.empty()))
        throw usage_error("--inputs and --model are for a model");
    if (request.least_power != 0 && !request.mutants) throw usage_error("--least-power needs --mutants");
    for (std::string const& path : request.reports) {
        if (!is_html(path) && !path.ends_with(".json"))
            throw usage_error("--report " + path + ": name a file that ends with .html or .json");
        if (of_model && is_html(path)) throw usage_error("--report " + path + ": the report of a model is .json");
    }
}

int verify_mappings(verify_request const& request) {
    std::vector<plugin> const plugins = load_plugins(request.plugins);
    std::vector<dsl::table_view> const others = tables_of(plugins);
    std::span<dsl::table_view const> const built_in = mappings::library();
    std::span<dsl::table_view const> const tables = plugins.empty() ? built_in : others;
    verify::check_options options;
    options.only = request.only;
    options.samples = request.samples;
    options.seed = request.seed;
    options.mutants = request.mutants;
    options.threads = request.threads;
    if (request.opset != 0) options.least_opset = options.most_opset = request.opset;
    if (::isatty(STDERR_FILENO) != 0)
        options.progress = [](std::size_t done, std::size_t total) {
            std::fprintf(stderr, done == total ? "\r\033[K" : "\r%zu of %zu mappings\033[K", done, total);
        };
    std::vector<dsl::entry> rows;
    for (dsl::table_view const& table : tables) rows.insert(rows.end(), table.begin(), table.end());
    verify::report const all = check(rows, options);
    if (all.rows.empty())
        throw error("no mapping " +
                    (request.only.empty() ? "is there" : "has '" + plain(request.only) + "' in its name"));
    for (std::string const& path : request.reports) write_report(path, is_html(path) ? all.to_html() : all.to_json());
    print_out(all.to_text());
    if (request.mutants && all.power() < request.least_power)
        throw error("fewer mutants were caught than --least-power " + std::to_string(request.least_power) + " %");
    return all.passed() ? 0 : 1;
}

int verify_model(verify_request const& request) {
    program::program const p = pt2::read_program(request.files[0], request.model);
    model m = read_model(request.files[1]);
    load_external(m, request.files[1]);
    verify::model_options options;
    options.samples = request.samples;
    options.seed = request.seed;
    if (!request.inputs.empty()) options.inputs = read_inputs(request.inputs);
    verify::model_report const report = compare_models(p, m.graph, options);
    for (std::string const& path : request.reports) write_report(path, report.to_json());
    print_out(report.to_text());
    return report.passed() ? 0 : 1;
}

} // namespace aton::tool
