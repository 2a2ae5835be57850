// SPDX-License-Identifier: MIT
// aton verify, a program of its own that lies beside aton: it carries the runtime, which nothing else needs. Exit status: 0 all is the same,
// 1 something is not or the work failed, 2 wrong usage.
#include <cstdint>
#include <string>
#include <vector>

// CLI11 2.1's headers are not ours
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <CLI/CLI.hpp>
#pragma GCC diagnostic pop

#include <aton/core/error.hpp>
#include <aton/onnx/registry.hpp>

#include "commands.hpp"
#include "verify_command.hpp"

namespace aton::tool {

namespace {

int run(int argc, char** argv) {
    CLI::App app("Run mappings or a model as ATen and as ONNX on the same numbers", "aton verify");
    verify_request request;
    app.add_option(
           "MODEL", request.files, "MODEL.pt2 MODEL.onnx: a program and its graph; none: every built-in mapping")
        ->expected(0, 2);
    app.add_option("--only", request.only, "Mappings whose overload has this text in its name")->type_name("TEXT");
    app.add_option(
           "--opset", request.opset, "Mappings at this opset alone; default: at each one where their graph changes")
        ->check(CLI::Range(1, onnx::newest_version("")));
    app.add_option("--samples",
                   request.samples,
                   "Calls for each combination of dtype, sizes and values; of a model: sets of inputs")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
    app.add_option("--seed", request.seed, "Other random numbers")->capture_default_str();
    app.add_option("--seeds", request.seeds, "Mappings with each of these seeds, a line for each: 1..200")
        ->type_name("FIRST..LAST");
    app.add_option("--log", request.log, "Where lines of --seeds are kept; seeds that it has are not run again")
        ->type_name("FILE");
    app.add_flag("--mutants", request.mutants, "Change every graph on purpose and count how many changes are noticed");
    app.add_option("--least-power", request.least_power, "Fail where fewer percent of the mutants are caught")
        ->check(CLI::Range(0.0, 100.0));
    app.add_option("--least-row-power",
                   request.least_row_power,
                   "Fail where a mapping catches fewer percent of its own mutants")
        ->check(CLI::Range(0.0, 100.0));
    app.add_option("--threads", request.threads, "Threads for mappings; default: as many as the machine has")
        ->check(CLI::Range(1, 1024));
    app.add_option(
           "--plugin", request.plugins, "Mappings of a shared library instead of the built-in ones; may be repeated")
        ->type_name("FILE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--inputs",
                   request.inputs,
                   "A folder with input_0.pb, input_1.pb, ...: inputs of the model, instead of random ones")
        ->type_name("FOLDER");
    app.add_option("--model", request.model, "The name of one of several models in the .pt2 archive")
        ->type_name("NAME");
    app.add_option("--device", request.device, "Where tensors are computed; cuda: of builds with ATON_BUILD_CUDA")
        ->check(CLI::IsMember({"cpu", "cuda"}))
        ->capture_default_str();
    app.add_option("--report", request.reports, "Write a report, too: .html (mappings) or .json; may be repeated")
        ->type_name("FILE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.footer("Exit status: 0 all is the same, 1 something differs or the work failed, 2 wrong usage.");
    app.callback([&] {
        if (std::string const fault = usage_fault(request); !fault.empty()) throw CLI::ValidationError(fault);
    });
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& e) {
        if (e.get_exit_code() == 0) return app.exit(e); // --help
        complain(plain(e.what()) + " (aton verify --help says more)");
        return 2;
    }
    return request.files.empty() ? verify_mappings(request) : verify_model(request);
}

} // namespace

} // namespace aton::tool

int main(int argc, char** argv) { return aton::tool::guarded(aton::tool::run, argc, argv); }
