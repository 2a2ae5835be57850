// SPDX-License-Identifier: MIT
// Runs ONNX's backend tests as written by make_node_tests.py and reports which operators give what ONNX expects.
//
//   runtime_node_tests FOLDER [--only PART] [--kind KIND] [--every N] [--known FILE] [--least PERCENT] [--json FILE] [--outputs FOLDER] [--jobs N] [--device cpu|cuda]
//
// --only: cases with this in their name or operator; --kind: node, simple, light, ...; --every: each N-th case of the
// index. --known: one line per known failure, with its name and the reason; the program fails if another case fails, or
// if one of these passes. --least: the program fails if fewer of the node tests pass. --json: one line per case.
// --outputs: compares the results of another program, in FOLDER/NAME/test_data_set_K/output_I.pb, or in
// FOLDER/NAME/error.txt the reason for their absence. --jobs: processes; 0: all in this one. --device: the device of
// tensors; cuda requires a build with nvcc, or the program of tests/cuda/emulator.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/core/json_writer.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/runtime/onnx_model.hpp>

#if defined(ATON_HAS_CUDA)
#include <aton/runtime/cuda.hpp>
#endif

#include "compare_values.hpp"
#include "guarded_run.hpp"
#include "node_cases.hpp"

namespace {

using aton::tests::node_case;

struct options {
    std::string folder;
    std::string only;
    std::string kind;
    std::size_t every = 1;
    std::string known;
    double least = 0;
    std::string json;
    std::string outputs;
    std::size_t jobs = 2;
    aton::runtime::device where;
};

/// Each process registers the GPU itself.
void make_known([[maybe_unused]] aton::runtime::device d) {
#if defined(ATON_HAS_CUDA)
    if (d.kind == aton::runtime::device_kind::cuda) (void)aton::runtime::cuda_kernels();
#endif
}

options read_options(int count, char** words) {
    options o;
    if (count < 2 || count % 2 != 0) throw aton::error("a folder is required, and a value for each option");
    o.folder = words[1];
    for (int i = 2; i + 1 < count; i += 2) {
        std::string_view const key = words[i];
        std::string const word = words[i + 1];
        if (key == "--only") o.only = word;
        else if (key == "--kind") o.kind = word;
        else if (key == "--every") o.every = std::stoul(word);
        else if (key == "--known") o.known = word;
        else if (key == "--least") o.least = std::stod(word);
        else if (key == "--json") o.json = word;
        else if (key == "--outputs") o.outputs = word;
        else if (key == "--jobs") o.jobs = std::stoul(word);
        else if (key == "--device" && word == "cuda") o.where.kind = aton::runtime::device_kind::cuda;
        else if (key == "--device" && word == "cpu") o.where = {};
        else throw aton::error("unknown option " + std::string(key));
    }
    return o;
}

std::string joined(std::string folder, std::string const& name) { return (folder += '/') += name; }

std::vector<node_case> chosen(options const& o) {
    std::vector<node_case> out;
    std::size_t n = 0;
    for (node_case& c : aton::tests::read_index(o.folder)) {
        bool const is_wanted =
            (o.kind.empty() || c.kind == o.kind) &&
            (o.only.empty() || c.name.find(o.only) != std::string::npos || c.about.find(o.only) != std::string::npos);
        if (is_wanted && n++ % o.every == 0) out.push_back(std::move(c));
    }
    return out;
}

/// The inputs of a graph, empty for those that have an initializer.
std::vector<aton::runtime::value> placed(aton::graph_data const& graph,
                                         std::vector<aton::runtime::value> const& given) {
    std::vector<aton::runtime::value> out;
    std::size_t next = 0;
    for (aton::value_id const id : graph.inputs)
        out.push_back(graph.values[id].initializer < 0 ? given[next++] : aton::runtime::value());
    return out;
}

std::vector<aton::runtime::value> on_cpu(std::vector<aton::runtime::value> values) {
    for (aton::runtime::value& v : values) v = aton::runtime::to_device(v, {});
    return values;
}

/// What is wrong with a case; empty: nothing. Throws what the interpreter throws.
std::string problem_of(options const& o, node_case const& c) {
    make_known(o.where);
    std::string const folder = joined(o.folder, c.name);
    aton::graph_data const graph = aton::read_model(joined(folder, "model.onnx")).graph;
    if (std::ifstream error(joined(joined(o.outputs, c.name), "error.txt")); !o.outputs.empty() && error) {
        std::string text;
        std::getline(error, text);
        return text;
    }
    for (std::string const& name : aton::tests::data_sets_of(folder)) {
        aton::tests::data_set const data = aton::tests::read_data_set(joined(folder, name), graph);
        std::vector<aton::runtime::value> const got =
            o.outputs.empty()
                ? on_cpu(aton::runtime::onnx_model(graph, {o.where, 0}).run(placed(graph, data.inputs)))
                : aton::tests::read_values(joined(joined(o.outputs, c.name), name), "output", graph, graph.outputs);
        std::string problem = c.check == "values" ? aton::tests::difference(got, data.outputs, {c.relative, c.absolute})
                                                  : aton::tests::draw_problem(c.check, data.inputs, got, data.outputs);
        if (!problem.empty()) return problem;
    }
    return {};
}

std::string on_one_line(std::string text) {
    std::replace_if(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    return text;
}

struct tally {
    std::size_t passed = 0;
    std::size_t failed = 0;
};

double percent(tally const& t) {
    return t.passed + t.failed == 0 ? 0
                                    : 100 * static_cast<double>(t.passed) / static_cast<double>(t.passed + t.failed);
}

void print(std::vector<node_case> const& cases, std::vector<std::string> const& problems) {
    std::map<std::string, tally> by_operator;
    std::map<std::string, tally> by_kind;
    for (std::size_t i = 0; i != cases.size(); ++i) {
        for (tally* t : {&by_operator[cases[i].about], &by_kind[cases[i].kind]})
            ++(problems[i].empty() ? t->passed : t->failed);
    }
    std::printf("%-40s %6s %6s\n", "operator", "passed", "failed");
    for (auto const& [about, t] : by_operator) std::printf("%-40s %6zu %6zu\n", about.c_str(), t.passed, t.failed);
    std::printf("\n");
    for (std::size_t i = 0; i != cases.size(); ++i)
        if (!problems[i].empty()) std::printf("failed: %s: %s\n", cases[i].name.c_str(), problems[i].c_str());
    std::printf("\n");
    for (auto const& [kind, t] : by_kind)
        std::printf("%-20s %zu of %zu passed = %.2f %%\n", kind.c_str(), t.passed, t.passed + t.failed, percent(t));
}

void write_json(std::string const& path, std::vector<node_case> const& cases,
                std::vector<std::string> const& problems) {
    std::ofstream out(path);
    for (std::size_t i = 0; i != cases.size(); ++i)
        out << R"({"name":)" << aton::json_text(cases[i].name) << R"(,"kind":)" << aton::json_text(cases[i].kind)
            << R"(,"operator":)" << aton::json_text(cases[i].about) << R"(,"passed":)"
            << (problems[i].empty() ? "true" : "false") << R"(,"reason":)" << aton::json_text(problems[i]) << "}\n";
    if (!out.flush()) throw aton::error(path + " cannot be written");
}

/// Names of known failures, with reasons.
std::map<std::string, std::string> read_known(std::string const& path) {
    std::ifstream in(path);
    if (!in) throw aton::error(path + " cannot be read");
    std::map<std::string, std::string> out;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::size_t const space = line.find(' ');
        if (space == std::string::npos) throw aton::error(path + ": no reason for " += line);
        out[line.substr(0, space)] = line.substr(space + 1);
    }
    return out;
}

/// The number of unexpected results.
int compare_with_known(options const& o, std::vector<node_case> const& cases,
                       std::vector<std::string> const& problems) {
    std::map<std::string, std::string> known = read_known(o.known);
    int surprises = 0;
    auto const surprise = [&](std::string const& name, char const* what) {
        std::printf("%s %s\n", name.c_str(), what);
        ++surprises;
    };
    for (std::size_t i = 0; i != cases.size(); ++i) {
        bool const is_known = known.erase(cases[i].name) != 0;
        if (is_known && problems[i].empty()) surprise(cases[i].name, "is listed as failing, and passes");
        if (!is_known && !problems[i].empty()) surprise(cases[i].name, "fails, and is not listed");
    }
    if (o.only.empty() && o.kind.empty() && o.every == 1)
        for (auto const& [name, why] : known) surprise(name, "is listed as failing, but does not exist");
    return surprises;
}

int run(options const& o) {
    std::vector<node_case> const cases = chosen(o);
    std::vector<std::string> problems =
        aton::tests::guarded_run(cases.size(), [&](std::size_t i) { return problem_of(o, cases[i]); }, o.jobs);
    for (std::string& text : problems) text = on_one_line(std::move(text));
    print(cases, problems);
    if (!o.json.empty()) write_json(o.json, cases, problems);
    tally nodes;
    for (std::size_t i = 0; i != cases.size(); ++i)
        if (cases[i].kind == "node") ++(problems[i].empty() ? nodes.passed : nodes.failed);
    int const surprises = o.known.empty() ? 0 : compare_with_known(o, cases, problems);
    bool const is_enough = percent(nodes) >= o.least;
    if (!is_enough) std::printf("fewer than %.2f %% of the node tests passed\n", o.least);
    return surprises == 0 && is_enough && !cases.empty() ? 0 : 1;
}

} // namespace

int main(int count, char** words) {
    try {
        return run(read_options(count, words));
    } catch (std::exception const& e) {
        std::cerr << "runtime_node_tests: " << e.what() << '\n';
        return 2;
    }
}
