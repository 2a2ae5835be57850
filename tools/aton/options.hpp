// SPDX-License-Identifier: MIT
// Options that several commands have, and the commands `export` and `view`, which aton and aton-verify have.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

// CLI11 2.1's headers do not compile cleanly with -Wconversion
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <CLI/CLI.hpp>
#pragma GCC diagnostic pop

#include "commands.hpp"

namespace aton::tool {

/// Runs a command if its subcommand was given, and returns its exit status; -1: it was not.
using command = std::function<int()>;

/// Adds an option whose value is one of `words`.
template <class Enum>
void add_choice(CLI::App& app, std::string const& name, Enum& value, std::map<std::string, Enum> const& words,
                std::string const& help) {
    std::string default_word;
    std::string all;
    for (auto const& [word, meaning] : words) {
        all += (all.empty() ? "" : ", ") + word;
        if (meaning == value) default_word = word;
    }
    std::function<bool(std::vector<std::string> const&)> const set = [&value, words, name, all](auto const& given) {
        auto const found = words.find(given.at(0));
        if (found == words.end()) throw CLI::ValidationError(name, given.at(0) + " is not one of " + all);
        value = found->second;
        return true;
    };
    app.add_option(name, set, help)->type_name("WORD")->default_str(default_word);
}

/// Prints the help or the version that ended the parsing of arguments, or what is wrong with them, and names `help`, a command. Returns the
/// exit status.
[[nodiscard]] int end_parsing(CLI::App const& app, CLI::ParseError const& e, std::string const& help);
/// --format and --json
void add_format(CLI::App& app, std::string& format);
/// --target
void add_target(CLI::App& app, targets::target const*& target);
/// --opset, --model and --target
void add_conversion_options(CLI::App& app, export_options& options);
void add_operators(CLI::App& app, operator_mode& operators);
void add_plugins(CLI::App& app, std::vector<std::string>& plugins);
void add_inputs(CLI::App& app, std::vector<std::string>& inputs);
void add_dims(CLI::App& app, std::vector<std::string>& dims);
/// --weights-from, --weights-map and --weights-cast
void add_weight_sources(CLI::App& app, export_options& options, std::vector<std::string>& names);

/// Runs a program and its graph, on the inputs of the folder `recorded` unless it is empty.
using export_verifier =
    std::function<verification(program::program const&, graph_data const&, std::string const& recorded,
                               std::function<void(std::size_t, std::size_t)> const& progress)>;
/// With --verify and a null `verifier`, calls `pass_on`, which runs the whole command line.
[[nodiscard]] command add_export(CLI::App& app, export_verifier verifier, std::function<int()> pass_on);
/// With --verify and a null `compare`, calls `pass_on`, which runs the whole command line.
[[nodiscard]] command add_view(CLI::App& app, node_comparer compare, std::function<int()> pass_on);

} // namespace aton::tool
