// SPDX-License-Identifier: MIT
// Writes random nested graphs before and after the passes, and read back; nested_graphs_run_test.py checks and runs them.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <string>

#include <aton/model_io/model_io.hpp>
#include <aton/passes/passes.hpp>

#include "function_graph.hpp"
#include "name_outputs.hpp"
#include "random_nested.hpp"

namespace {

void write(aton::graph_data data, std::string const& path) {
    random_graphs::name_outputs(data);
    write_model(data, path);
}

/// Writes the graph before and after the passes and read back, and with inlined functions before and after the passes.
void write_all(aton::graph_data const& data, std::string const& path) {
    std::deque<aton::stored_tensor> weights;
    write(data, path + ".before.onnx");
    write_model(aton::read_model(path + ".before.onnx").graph, path + ".again.onnx");
    aton::graph_data optimized = data;
    aton::optimize(optimized, weights);
    write(optimized, path + ".after.onnx");
    if (data.functions.empty()) return;
    aton::graph_data inlined = data;
    aton::inline_functions(inlined);
    write(inlined, path + ".inlined.onnx");
    aton::optimize(inlined, weights);
    write(inlined, path + ".best.onnx");
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) return std::fputs("usage: write_nested_graphs FOLDER SEEDS OPSET...\n", stderr), 2;
    std::string place;
    try {
        for (int i = 3; i != argc; ++i) {
            int const opset = std::stoi(argv[i]);
            for (bool const with_overloads : {false, true}) {
                place = std::string(argv[1]) + (with_overloads ? "/overloads_" : "/functions_") + std::to_string(opset);
                write_all(random_graphs::function_graph(opset, with_overloads), place);
            }
            for (std::uint64_t seed = 0; seed != std::stoul(argv[2]); ++seed) {
                place = std::string(argv[1]) + "/nested_" + std::to_string(opset) + '_' + std::to_string(seed);
                write_all(random_graphs::random_nested(1000 * seed + static_cast<std::uint64_t>(opset), opset).data,
                          place);
            }
        }
    } catch (std::exception const& e) {
        return std::fprintf(stderr, "%s: %s\n", place.c_str(), e.what()), 1;
    }
    return 0;
}
