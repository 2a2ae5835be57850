// SPDX-License-Identifier: MIT
// The aton command: lists operators, prints and checks ONNX files. Exit status 0: done, 1: the input or the work failed, 2: wrong usage.
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

// CLI11 2.1's headers are not ours
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <CLI/CLI.hpp>
#pragma GCC diagnostic pop

#include <aton/dsl/error.hpp>
#include <aton/dsl/print.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/onnx/registry.hpp>

#include "list_operators.hpp"

namespace {

using aton::tool::list_format;

/// Says on one line of stderr what went wrong.
void complain(std::string const& what) { std::fprintf(stderr, "aton: %s\n", what.c_str()); }

void print_out(std::string const& text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        throw aton::error("standard output cannot be written");
}

/// Text from a file, without control characters.
std::string plain(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    return text;
}

/// "IR 9, opset 20, ai.onnx.ml 4, made by pytorch 2.13.0"
std::string summary(aton::model const& m) {
    std::string out = "IR " + std::to_string(m.ir_version) + ", opset " + std::to_string(m.graph.opset);
    for (auto const& [domain, version] : m.graph.opset_imports) out += ", " + domain + ' ' + std::to_string(version);
    if (!m.producer_name.empty())
        out += ", made by " + m.producer_name + (m.producer_version.empty() ? "" : ' ' + m.producer_version);
    return plain(std::move(out));
}

void print_model(std::string const& path) {
    aton::model const m = aton::read_model(path);
    std::string out = "# " + summary(m) + '\n';
    if (!m.external.empty())
        out += "# " + std::to_string(m.external.size()) + " tensors in other files, the first in " +
               plain(m.external.front().location) + '\n';
    for (std::string const& f : m.functions) out += "# function " + plain(f) + '\n';
    print_out(out + to_string(m.graph));
}

/// Checks every file; false where one is not a legal model.
bool check_models(std::vector<std::string> const& paths) {
    bool all = true;
    for (std::string const& path : paths) {
        try {
            aton::check_model(path);
            aton::model const m = aton::read_model(path);
            print_out(path + ": ok (" + std::to_string(m.graph.nodes.size()) + " nodes, " + summary(m) + ")\n");
        } catch (aton::error const& e) {
            complain(e.what());
            all = false;
        }
    }
    return all;
}

int run(int argc, char** argv) {
    CLI::App app("Aton: PyTorch ATen operators to ONNX", "aton");
    app.set_version_flag("--version", std::string("aton ") + ATON_VERSION, "Print the version");
    app.require_subcommand(1);

    aton::tool::list_request request;
    CLI::App* const ops = app.add_subcommand("ops", "List the ATen overloads that have a built-in mapping");
    ops->add_option("--opset", request.opset, "Only mappings that hold at this opset")
        ->check(CLI::Range(1, aton::onnx::newest_version("")));
    std::string format = "text";
    ops->add_option("--format", format, "text, json or markdown")->check(CLI::IsMember({"text", "json", "markdown"}));
    bool all = false;
    bool mapped = false;
    CLI::Option* const only_mapped =
        ops->add_flag("--mapped", mapped, "Only overloads that have a mapping: the default");
    ops->add_flag("--all", all, "Every ATen overload that torch has")->excludes(only_mapped);

    std::string file;
    CLI::App* const print = app.add_subcommand("print", "Print the graph of an ONNX file");
    print->add_option("FILE", file, "An .onnx file")->required();

    std::vector<std::string> files;
    CLI::App* const check =
        app.add_subcommand("check", "Hold ONNX files against ONNX's checker, with full shape inference");
    check->add_option("FILE", files, "An .onnx file")->required();

    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& e) {
        if (e.get_exit_code() == 0) return app.exit(e); // --help, --version
        complain(std::string(e.what()) + " (aton --help says more)");
        return 2;
    }
    request.mapped = !all;
    request.format = format == "json"       ? list_format::json
                     : format == "markdown" ? list_format::markdown
                                            : list_format::text;
    if (ops->parsed()) print_out(list_operators(request));
    if (print->parsed()) print_model(file);
    if (check->parsed()) return check_models(files) ? 0 : 1;
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (std::exception const& e) {
        complain(e.what());
    } catch (...) {
        complain("an unknown error");
    }
    return 1;
}
