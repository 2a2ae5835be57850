// SPDX-License-Identifier: MIT
// Writes a model of each case of features.py: as it is built, after the passes, and inlined. feature_pairs_run_test.py runs them.
#include <cstdio>
#include <deque>
#include <exception>
#include <string>
#include <vector>

#include <aton/model_io/model_io.hpp>
#include <aton/passes/passes.hpp>

#include "feature_pairs.hpp"
#include "name_outputs.hpp"

namespace {

using namespace aton::dsl;
using feature_pairs::pair_case;

/// Both variants of a call in one model, so that functions are shared, or get names of their own.
aton::graph_data build(pair_case const& c, int opset, bool dynamic) {
    aton::graph_data data;
    data.opset = opset;
    aton::shape const sizes = dynamic ? aton::shape{"a", 3} : aton::shape{2, 3};
    value const x(data, data.add_input("x", {aton::dtype::float32, sizes}));
    value const bias(data, data.add_input("bias", {aton::dtype::float32, aton::shape{3}}));
    for (int variant : {0, 1})
        for (result const& r : c.convert(data, opset, x, bias, variant)) {
            std::vector<value> all = r.list;
            if (!r.is_list) all.push_back(*r.single);
            for (value const& v : all) {
                // ONNX requires the rank of every output; the exporter knows it from the program.
                if (!v.has_rank()) v.set_shape(aton::shape(std::vector<aton::dim>(2)));
                data.outputs.push_back(v.id());
            }
        }
    return data;
}

void write(aton::graph_data data, std::string const& path) {
    random_graphs::name_outputs(data);
    write_model(data, path);
}

void write_all(pair_case const& c, int opset, std::string const& folder) {
    bool const dynamic = (c.number + opset) % 2 != 0;
    std::string const path = folder + '/' + std::to_string(c.number) + '_' + std::to_string(opset);
    std::deque<aton::stored_tensor> weights;
    aton::graph_data data = build(c, opset, dynamic);
    write(data, path + ".plain.onnx");
    aton::graph_data inlined = data;
    aton::optimize(data, weights);
    write(data, path + ".optimized.onnx");
    aton::inline_functions(inlined);
    write(inlined, path + ".inlined.onnx");
    aton::optimize(inlined, weights);
    write(inlined, path + ".best.onnx");
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) return std::fputs("usage: write_feature_pairs FOLDER OPSET...\n", stderr), 2;
    std::vector<pair_case> cases;
    for (auto* add : {feature_pairs::add_pairs_0,
                      feature_pairs::add_pairs_1,
                      feature_pairs::add_pairs_2,
                      feature_pairs::add_pairs_3})
        add(cases);
    int failed = 0;
    for (pair_case const& c : cases)
        for (int i = 2; i != argc; ++i) {
            int const opset = std::stoi(argv[i]);
            if (opset < c.since) continue;
            try {
                write_all(c, opset, argv[1]);
            } catch (std::exception const& e) {
                ++failed;
                std::fprintf(stderr, "%s, opset %d: %s\n", c.names, opset, e.what());
            }
        }
    return failed == 0 ? 0 : 1;
}
