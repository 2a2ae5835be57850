// SPDX-License-Identifier: MIT
// What the commands do once their options are read. Each returns the exit status, and throws aton::error for what went wrong.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <aton/exporter/exporter.hpp>
#include <aton/exporter/plugin.hpp>

namespace aton::tool {

/// The result of a command, on stdout; throws when it cannot be written.
void print_out(std::string_view text);
/// What main() does: `run`, with what it throws said on one line of stderr, for an exit status of 1.
int guarded(int (*run)(int, char**), int argc, char** argv);
/// Says on one line of stderr what went wrong.
void complain(std::string_view what);
/// Text from a file, without control characters.
[[nodiscard]] std::string plain(std::string text);
/// "IR 9, opset 20, ai.onnx.ml 4, made by pytorch 2.13.0"
[[nodiscard]] std::string summary(model const& m);
/// Whether a file is an archive, as .pt2 files are, going by its first bytes. Throws where it cannot be read.
[[nodiscard]] bool is_archive(std::string const& path);

/// Replaces this program by one that lies beside it; argv[0] and the options after it are handed on. Throws where it cannot.
[[noreturn]] int become(std::string const& program, char** argv);

/// Loads plugins; throws where one cannot be used, or hides rows of a later one or of the built-in tables.
[[nodiscard]] std::vector<plugin> load_plugins(std::vector<std::string> const& paths);
/// Their tables, in order.
[[nodiscard]] std::vector<dsl::table_view> tables_of(std::vector<plugin> const& plugins);

struct export_request {
    std::string input;
    std::string output; ///< empty: beside the input, with .onnx
    bool quiet = false;
    std::vector<std::string> dims;    ///< "x:0=batch"
    std::vector<std::string> renames; ///< "relu=probabilities"
    std::vector<std::string> plugins; ///< files, in the order in which their tables are looked at
    export_options options;
};
int export_model(export_request request);

struct unconvertible_request {
    std::string input;
    std::string format = "text";
    std::vector<std::string> plugins;
    export_options options;
};
int list_unconvertible(unconvertible_request const& request);

int print_file(std::string const& path, std::string const& model);
int check_models(std::vector<std::string> const& paths);

} // namespace aton::tool
