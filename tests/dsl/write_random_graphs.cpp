// SPDX-License-Identifier: MIT
// Writes models of one random call each, with the sizes and contents of their inputs in the metadata ("input_0": "2,3" or "2,3;7,7,7,..."):
// shape_rules_run_test.py runs them and compares the sizes of the results with the shapes that the models declare.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include <aton/model_io/model_io.hpp>

#include "random_layers.hpp"

namespace {

using namespace random_graphs;

void write(call_maker const& maker, int opset, std::uint64_t seed, std::string const& folder) {
    random_graph g(seed, opset);
    maker.make(g);
    if (g.results.empty()) return;
    for (value const& v : g.results)
        if (v.type().kind == aton::value_kind::tensor) g.data.outputs.push_back(v.id());
    if (g.data.outputs.empty()) return;
    aton::model_options options;
    for (auto const& [name, run] : g.input_sizes) {
        auto const values = g.input_values.find(name);
        options.metadata.emplace_back(
            name, joined_numbers(run) + (values == g.input_values.end() ? "" : ';' + joined_numbers(values->second)));
    }
    write_model(g.data,
                folder + '/' + maker.name + '_' + std::to_string(opset) + '_' + std::to_string(seed) + ".onnx",
                options);
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) return std::fputs("usage: write_random_graphs FOLDER SEEDS OPSET...\n", stderr), 2;
    try {
        for (int i = 3; i != argc; ++i) {
            int const opset = std::stoi(argv[i]);
            for (call_maker const& maker : call_makers)
                for (std::uint64_t seed = 0; seed != std::stoul(argv[2]); ++seed)
                    if (maker.since <= opset && opset <= maker.until)
                        write(maker, opset, 1000 * seed + static_cast<std::uint64_t>(opset), argv[1]);
        }
    } catch (std::exception const& e) {
        return std::fprintf(stderr, "%s\n", e.what()), 1;
    }
    return 0;
}
