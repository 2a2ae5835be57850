// SPDX-License-Identifier: MIT
// Writes random graphs before and after the passes; optimized_graphs_run_test.py runs both.
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <string>
#include <utility>

#include <aton/fusions/built_in.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/passes/passes.hpp>

#include "../dsl/random_layers.hpp"
#include "name_outputs.hpp"
#include "random_chain.hpp"
#include "random_positions.hpp"

namespace {

using namespace random_graphs;

void write(random_graph& g, std::string const& path) {
    aton::model_options options;
    for (auto const& [name, run] : g.input_sizes) {
        auto const values = g.input_values.find(name);
        options.metadata.emplace_back(
            name, joined_numbers(run) + (values == g.input_values.end() ? "" : ';' + joined_numbers(values->second)));
    }
    aton::graph_data before = g.data;
    name_outputs(before);
    options.metadata.emplace_back("nodes", std::to_string(g.data.nodes.size()));
    write_model(before, path + ".before.onnx", options);
    std::deque<aton::stored_tensor> weights;
    aton::optimize(g.data, weights, {.rewrites = aton::fusions::built_in_rewrites()});
    options.metadata.back().second = std::to_string(g.data.nodes.size());
    name_outputs(g.data);
    write_model(g.data, path + ".after.onnx", options);
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 5)
        return std::fputs("usage: write_optimized_graphs FOLDER CALL_SEEDS CHAIN_SEEDS OPSET...\n", stderr), 2;
    std::string place;
    try {
        for (int i = 4; i != argc; ++i) {
            int const opset = std::stoi(argv[i]);
            auto const number = static_cast<std::uint64_t>(opset);
            for (call_maker const& maker : call_makers)
                for (std::uint64_t seed = 0; seed != std::stoul(argv[2]); ++seed) {
                    if (maker.since > opset || opset > maker.until) continue;
                    random_graph g(1000 * seed + number, opset);
                    maker.make(g);
                    for (value const& v : g.results)
                        if (v.type().kind == aton::value_kind::tensor) g.data.outputs.push_back(v.id());
                    place = std::string(argv[1]) + '/' + maker.name + '_' + std::to_string(opset) + '_' +
                            std::to_string(seed);
                    if (!g.data.outputs.empty()) write(g, place);
                }
            for (std::uint64_t seed = 0; seed != std::stoul(argv[3]); ++seed) {
                random_graph g(1000 * seed + number, opset);
                random_chain const chain(g);
                place = std::string(argv[1]) + "/chain_" + std::to_string(opset) + '_' + std::to_string(seed);
                write(g, place);
                random_graph p(1000 * seed + number, opset);
                random_positions const positions(p);
                place = std::string(argv[1]) + "/positions_" + std::to_string(opset) + '_' + std::to_string(seed);
                if (!p.data.outputs.empty()) write(p, place);
            }
        }
    } catch (std::exception const& e) {
        return std::fprintf(stderr, "%s: %s\n", place.c_str(), e.what()), 1;
    }
    return 0;
}
