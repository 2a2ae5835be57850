// SPDX-License-Identifier: MIT
// Writes the examples of the built-in rewrites before and after them; fusions_run_test.py runs both.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <aton/model_io/model_io.hpp>

#include "../exporter/name_outputs.hpp"
#include "instance.hpp"

namespace {

using namespace fusion_tests;

std::string joined(std::vector<std::int64_t> const& numbers) {
    std::string s;
    for (std::int64_t n : numbers) s += (s.empty() ? "" : ",") + std::to_string(n);
    return s;
}

void write(aton::graph_data graph, example const& e, std::string const& path) {
    aton::model_options options;
    for (std::size_t i = 0; i != e.captures.size(); ++i)
        if (input const& v = e.captures[i].value; e.captures[i].is_value)
            options.metadata.emplace_back('x' + std::to_string(i),
                                          joined(v.sizes) + (v.elements.empty() ? "" : ';' + joined(v.elements)));
    options.metadata.emplace_back("nodes", std::to_string(graph.nodes.size()));
    random_graphs::name_outputs(graph);
    write_model(graph, path, options);
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) return std::fputs("usage: write_fusions FOLDER OPSET...\n", stderr), 2;
    std::string place;
    try {
        for (int i = 2; i != argc; ++i) {
            int const opset = std::stoi(argv[i]);
            for (aton::rewrite_entry const& r : every_rewrite()) {
                int number = 0;
                for (example const& e : every_example()) {
                    if (e.rewrite != r.name || !e.applies || !r.holds_at(opset)) continue;
                    for (aton::pattern_variant const& v : aton::variants_of(r.pattern)) {
                        place = std::string(argv[1]) + '/' + std::string(r.name) + '_' + std::to_string(opset) + '_' +
                                std::to_string(++number);
                        aton::graph_data graph = instance(r, v, e, opset);
                        write(graph, e, place + ".before.onnx");
                        optimized(graph, std::span(&r, 1));
                        write(graph, e, place + ".after.onnx");
                    }
                }
            }
        }
    } catch (std::exception const& e) {
        return std::fprintf(stderr, "%s: %s\n", place.c_str(), e.what()), 1;
    }
    return 0;
}
