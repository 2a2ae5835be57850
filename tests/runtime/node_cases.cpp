// SPDX-License-Identifier: MIT
// Reads the folders of ONNX's backend tests.
#include "node_cases.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <aton/core/error.hpp>
#include <aton/model_io/values.hpp>

namespace aton::tests {

namespace {

runtime::value to_value(file_value const& from) {
    if (!from.is_sequence)
        return from.is_empty() ? runtime::value() : runtime::tensor::from_constant(from.tensors.front());
    std::vector<runtime::tensor> elements;
    for (tensor const& t : from.tensors) elements.push_back(runtime::tensor::from_constant(t));
    return elements;
}

} // namespace

std::vector<node_case> read_index(std::string const& folder) {
    std::string const path = folder + "/index.tsv";
    std::ifstream in(path);
    if (!in) throw error(path + " cannot be read: tests/runtime/make_node_tests.py writes it");
    std::vector<node_case> out;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream words(line);
        node_case& c = out.emplace_back();
        if (!(words >> c.name >> c.kind >> c.about >> c.relative >> c.absolute >> c.check))
            throw error(path + ": not a line of an index: " += line);
    }
    return out;
}

std::vector<std::string> data_sets_of(std::string const& case_folder) {
    std::vector<std::string> out;
    for (auto const& entry : std::filesystem::directory_iterator(case_folder))
        if (entry.is_directory()) out.push_back(entry.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
}

std::vector<value_id> open_inputs(graph_data const& graph) {
    std::vector<value_id> out;
    for (value_id const id : graph.inputs)
        if (graph.values[id].initializer < 0) out.push_back(id);
    return out;
}

std::vector<runtime::value> read_values(std::string const& folder, std::string const& what, graph_data const& graph,
                                        std::vector<value_id> const& of) {
    std::vector<runtime::value> out;
    for (value_id const id : of) {
        std::string path = folder;
        ((path += '/') += what) += '_' + std::to_string(out.size()) + ".pb";
        out.push_back(to_value(read_value(path, graph.values[id].type.kind)));
    }
    return out;
}

data_set read_data_set(std::string const& folder, graph_data const& graph) {
    return {read_values(folder, "input", graph, open_inputs(graph)),
            read_values(folder, "output", graph, graph.outputs)};
}

} // namespace aton::tests
