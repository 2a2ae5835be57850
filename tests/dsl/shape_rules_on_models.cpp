// SPDX-License-Identifier: MIT
// Runs the shape rules over .onnx files, given only the types of the inputs, and compares the results with the declared types of the
// outputs. Names the operators whose output ranks stay unknown. Exit status 1: a contradiction.
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/ir/print.hpp>
#include <aton/ir/shapes/rules.hpp>
#include <aton/model_io/model_io.hpp>

namespace {

struct totals {
    int outputs = 0;
    int unknown_rank = 0;
    int wrong = 0;
    std::map<std::string, int> silent; ///< operators without a rank
};

bool agrees(aton::value_type const& ours, aton::value_type const& declared) {
    if (ours.dtype != aton::dtype::undefined && ours.dtype != declared.dtype) return false;
    if (!ours.shape.has_rank() || !declared.shape.has_rank()) return true;
    if (ours.shape.rank() != declared.shape.rank()) return false;
    for (std::size_t i = 0; i != ours.shape.rank(); ++i)
        if (ours.shape[i].is_static() && declared.shape[i].is_static() &&
            ours.shape[i].size() != declared.shape[i].size())
            return false;
    return true;
}

void compare(std::string const& path, totals& t) {
    aton::graph_data g = aton::read_model(path).graph;
    std::vector<aton::value_type> declared;
    for (aton::graph_value& v : g.values) {
        declared.push_back(v.type);
        if (v.producer >= 0) v.type = {};
    }
    for (aton::graph_node const& n : g.nodes) {
        aton::shapes::infer_types(g, n);
        for (aton::value_id id : n.outputs) {
            if (id == aton::no_value || declared[id].dtype == aton::dtype::undefined) continue;
            ++t.outputs;
            if (declared[id].shape.has_rank() && !g.values[id].type.shape.has_rank()) {
                ++t.unknown_rank;
                ++t.silent[n.domain + "::" + n.op];
            }
            if (agrees(g.values[id].type, declared[id])) continue;
            ++t.wrong;
            std::printf("%s: output %%%s of %s: ours %s, declared %s\n",
                        path.c_str(),
                        g.values[id].name.c_str(),
                        n.op.c_str(),
                        to_string(g.values[id].type).c_str(),
                        to_string(declared[id]).c_str());
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) return std::fputs("usage: shape_rules_on_models FOLDER\n", stderr), 2;
    totals t;
    for (auto const& entry : std::filesystem::directory_iterator(argv[1])) {
        if (entry.path().extension() != ".onnx") continue;
        try {
            compare(entry.path().string(), t);
        } catch (aton::error const& e) {
            std::printf("%s\n", e.what());
            ++t.wrong;
        }
    }
    std::printf("%d outputs, %d of unknown rank, %d contradictions\n", t.outputs, t.unknown_rank, t.wrong);
    for (auto const& [op, n] : t.silent) std::printf("  %s: %d\n", op.c_str(), n);
    return t.wrong == 0 && t.outputs != 0 ? 0 : 1;
}
