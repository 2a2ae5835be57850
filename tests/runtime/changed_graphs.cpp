// SPDX-License-Identifier: MIT
// Changes the graphs and inputs of ONNX's backend tests at random and runs them: each must give a result or a one-line
// error.
//
//   runtime_changed_graphs FOLDER [--only PART] [--rounds N] [--first K] [--seed S] [--seconds N] [--jobs N]
#include <cstddef>
#include <exception>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <aton/ir/print.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/runtime/onnx_model.hpp>

#include "changed_graph.hpp"
#include "hostile_run.hpp"
#include "node_cases.hpp"

namespace {

using namespace aton::tests;

runnable read_case(std::string const& folder) {
    runnable out{aton::read_model(folder + "/model.onnx").graph, {}};
    std::vector<aton::runtime::value> const given =
        read_data_set(folder + '/' + data_sets_of(folder).at(0), out.graph).inputs;
    std::size_t next = 0;
    for (aton::value_id const id : out.graph.inputs)
        out.inputs.push_back(out.graph.values[id].initializer < 0 ? given[next++] : aton::runtime::value());
    return out;
}

/// Whole networks take too long to run many times.
bool is_small(std::string const& folder) {
    std::uintmax_t bytes = 0;
    for (auto const& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.is_regular_file()) bytes += entry.file_size();
    return bytes < 100000;
}

int run(std::string const& folder, hostile_options const& options) {
    std::vector<std::string> names;
    std::vector<runnable> cases;
    node_pool nodes;
    for (node_case const& c : read_index(folder)) {
        if (!is_small(folder + '/' + c.name)) continue;
        names.push_back(c.name);
        cases.push_back(read_case(folder + '/' + c.name));
        for (aton::graph_node const& n : cases.back().graph.nodes)
            if (nodes.empty() || nodes.back().op != n.op) nodes.push_back(n);
    }
    if (cases.empty()) return 1;
    hostile_tally const tally = hostile_run(
        "runtime_changed_graphs",
        cases.size(),
        options,
        [&](std::size_t i) { return names[i]; },
        [&](std::size_t i, std::uint64_t seed) {
            std::mt19937_64 rng(seed);
            runnable what = cases[i];
            change(what, nodes, rng);
            if (options.jobs == 0) {
                try {
                    std::cout << to_string(what.graph) << std::flush;
                } catch (std::exception const& e) {
                    std::cout << "not to be printed: " << e.what() << '\n';
                }
            }
            aton::runtime::onnx_options with;
            with.max_steps = 100000;
            (void)aton::runtime::onnx_model(std::move(what.graph), with).run(what.inputs);
        });
    return tally.found == 0 ? 0 : 1;
}

} // namespace

int main(int count, char** words) {
    try {
        if (count < 2) throw std::runtime_error("a folder is needed");
        return run(words[1], read_hostile_options(count, words, 2));
    } catch (std::exception const& e) {
        std::cerr << "runtime_changed_graphs: " << e.what() << '\n';
        return 2;
    }
}
