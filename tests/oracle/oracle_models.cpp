// SPDX-License-Identifier: MIT
// Builds an ONNX model from every recorded ATen call that a table maps, for run_oracle.py to run and compare.
//
//   oracle_models --cases cases.jsonl --opset 20 --out models.bin [--ops add.Tensor,elu] [--shapes symbolic]
//
// --shapes: how the inputs are declared. static; symbolic: every size of 2 or more is a symbol, equal sizes the same
// one, as in an export with dynamic shapes; unknown: a rank without sizes.
//
// The output starts with a JSON line {"opset"}; then come records: one JSON line {"case", "status", "reason",
// "outputs", "bytes"}, and that many bytes of ModelProto. status: built; refused (by the mapping with
// unsupported_error, or no row covers the opset any more); error (anything else that was thrown); no_row_at_opset (every
// row starts later). Calls of overloads without any row are omitted.
#include <exception>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <simdjson.h>

#include <aton/core/json_writer.hpp>
#include <aton/dsl/table.hpp>
#include <aton/ir/complex.hpp>
#include <aton/mappings/lower_quantized.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/passes/passes.hpp>

#include "oracle_tables.hpp"
#include "recorded_case.hpp"

namespace {

using aton::dsl::value;

struct options {
    std::string cases;
    std::string out;
    int opset = 20;
    std::set<std::string> ops; ///< "add.Tensor"; empty: all
    oracle::input_shapes shapes = oracle::input_shapes::fixed;
};

/// One line of the container, and the model's bytes.
struct record {
    std::string status;
    std::string reason = {};
    std::string outputs = "[]"; ///< one entry per result: a name, null (not produced), or a list of names
    std::string model = {};
};

std::set<std::string> read_ops(std::string const& text) {
    std::set<std::string> ops;
    std::istringstream list(text);
    for (std::string op; std::getline(list, op, ',');) ops.insert(op.rfind("aten::", 0) == 0 ? op.substr(6) : op);
    return ops;
}

options read_options(int count, char** words) {
    options o;
    for (int i = 1; i + 1 < count; i += 2) {
        std::string_view const key = words[i];
        std::string const word = words[i + 1];
        if (key == "--cases") o.cases = word;
        else if (key == "--out") o.out = word;
        else if (key == "--opset") o.opset = std::stoi(word);
        else if (key == "--ops") o.ops = read_ops(word);
        else if (key == "--shapes" && word == "static") o.shapes = oracle::input_shapes::fixed;
        else if (key == "--shapes" && word == "symbolic") o.shapes = oracle::input_shapes::symbolic;
        else if (key == "--shapes" && word == "unknown") o.shapes = oracle::input_shapes::unknown;
        else throw std::runtime_error("unknown option " + std::string(key) + " " + word);
    }
    if (o.cases.empty() || o.out.empty()) throw std::runtime_error("--cases FILE and --out FILE are needed");
    return o;
}

/// Makes results the outputs o0, o1, ... of the graph. An input, or a value that is an output already, passes through
/// an Identity.
class output_namer {
public:
    explicit output_namer(aton::graph_data& graph) : graph_(graph) {}

    std::string name_all(std::vector<aton::dsl::result> const& results) {
        std::string out = "[";
        for (aton::dsl::result const& r : results) {
            if (out.size() > 1) out += ',';
            if (!r.is_list) {
                out += r.single ? name(*r.single) : "null";
                continue;
            }
            out += '[';
            for (std::size_t i = 0; i != r.list.size(); ++i) (out += i != 0 ? "," : "") += name(r.list[i]);
            out += ']';
        }
        return out + "]";
    }

private:
    std::string name(value v) {
        aton::value_id id = v.id();
        if (graph_.values[id].producer < 0 || named_.count(id) != 0) id = identity(id);
        named_.insert(id);
        graph_.outputs.push_back(id);
        return aton::json_text(graph_.values[id].name = "o" + std::to_string(named_.size() - 1));
    }

    aton::value_id identity(aton::value_id from) {
        aton::value_id const id = graph_.add_value(graph_.values[from].type);
        graph_.values[id].producer = static_cast<std::int64_t>(graph_.nodes.size());
        aton::graph_node& node = graph_.nodes.emplace_back();
        node.op = "Identity";
        node.inputs = {from};
        node.outputs = {id};
        node.source = "output";
        return id;
    }

    aton::graph_data& graph_;
    std::set<aton::value_id> named_;
};

struct known_rows {
    std::string text; ///< "11..12, 14..28", where adjacent ranges are joined; empty: none
    int first = std::numeric_limits<int>::max();
};

known_rows rows_of(std::string_view overload) {
    std::map<int, int> ranges; // the first opset to the last
    for (aton::dsl::table_view const& t : oracle_tables())
        for (aton::dsl::entry const& e : t)
            if (e.overload == overload) ranges.emplace(e.since, e.until);
    known_rows out;
    for (auto at = ranges.begin(); at != ranges.end();) {
        auto const [since, first_end] = *at;
        int until = first_end;
        while (++at != ranges.end() && at->first == until + 1) until = at->second;
        out.text += (out.text.empty() ? "" : ", ") + std::to_string(since) + ".." + std::to_string(until);
    }
    if (!ranges.empty()) out.first = ranges.begin()->first;
    return out;
}

/// The model of one call. Never throws.
record convert(oracle::json c, aton::dsl::entry const& row, options const& o) {
    aton::graph_data graph;
    try {
        std::vector<aton::dsl::argument> arguments = oracle::argument_reader(graph, o.shapes).read_call(c);
        // A program records the number of tensors in a list of results, even if it depends on sizes.
        for (oracle::json result : simdjson::dom::array(c["outputs"]))
            if (result.is_array()) graph.context.expected.resize(simdjson::dom::array(result).size());
        std::string outputs =
            output_namer(graph).name_all(aton::dsl::convert(graph, row, o.opset, std::move(arguments)));
        aton::complex_ir::lower(graph);
        aton::mappings::lower_quantized(graph, aton::mappings::quantize_form::arithmetic);
        aton::remove_unused(graph);
        return {"built", {}, std::move(outputs), aton::to_model_proto(graph)};
    } catch (aton::unsupported_error const& e) {
        return {"refused", e.what()};
    } catch (std::exception const& e) {
        return {"error", e.what()};
    }
}

void write(std::ofstream& out, std::string_view name, record const& r) {
    out << R"({"case":)" << aton::json_text(name) << R"(,"status":")" << r.status << R"(","reason":)"
        << aton::json_text(r.reason) << ",\"outputs\":" << r.outputs << ",\"bytes\":" << r.model.size() << "}\n"
        << r.model;
}

int run(options const& o) {
    std::ifstream in(o.cases);
    if (!in) throw std::runtime_error("cannot read " + o.cases);
    std::ofstream out(o.out, std::ios::binary);
    out << "{\"opset\":" << o.opset << "}\n";
    simdjson::dom::parser parser;
    std::map<std::string, known_rows> rows; // of every overload met
    std::map<std::string, int> count;
    for (std::string line; std::getline(in, line);) {
        oracle::json const c = parser.parse(line);
        std::string const overload = oracle::overload_of(c);
        if (!o.ops.empty() && o.ops.count(overload.substr(6)) == 0) continue;
        auto const [known, is_new] = rows.try_emplace(overload);
        if (is_new) known->second = rows_of(overload);
        if (known->second.text.empty()) continue;
        aton::dsl::entry const* row = aton::dsl::find(oracle_tables(), overload, o.opset);
        record const r = row != nullptr ? convert(c, *row, o)
                                        : record{o.opset < known->second.first ? "no_row_at_opset" : "refused",
                                                 "rows hold at opsets " + known->second.text};
        write(out, std::string_view(c["case"]), r);
        ++count[r.status];
    }
    if (!out.flush()) throw std::runtime_error("cannot write " + o.out);
    std::cout << "opset " << o.opset << ':';
    for (auto const& [status, n] : count) std::cout << ' ' << n << ' ' << status;
    std::cout << '\n';
    return 0;
}

} // namespace

int main(int count, char** words) {
    try {
        return run(read_options(count, words));
    } catch (std::exception const& e) {
        std::cerr << "oracle_models: " << e.what() << '\n';
        return 2;
    }
}
