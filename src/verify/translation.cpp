// SPDX-License-Identifier: MIT
// Converts a call to an ONNX graph with a mapping, and runs that graph.
#include <aton/verify/translation.hpp>

#include <utility>

#include <aton/aten/function_schema.hpp>
#include <aton/ir/print.hpp>
#include <aton/onnx/registry.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/runtime/onnx_model.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

using aten::base_type;
using kind = aten::argument_kind;
using runtime::aten_argument;

/// Converts arguments of the runtime to those of the DSL; tensors become inputs of the graph.
class argument_writer {
public:
    explicit argument_writer(translation& to) : to_(to) {}

    dsl::argument write(aten_argument const& a, aten::schema_type const& t) {
        switch (a.kind) {
        case kind::none: return dsl::argument::none();
        case kind::tensor: return dsl::argument::of_tensor(input(a.tensor));
        case kind::tensors: return list(a, t);
        case kind::number:
            if (t.base == base_type::sym_int && !t.list) return dsl::argument::of_size(a.number.to<std::int64_t>());
            return dsl::argument::of_number(a.number);
        case kind::numbers: return numbers(a, t);
        case kind::text:
        case kind::tag:
            return t.base == base_type::str ? dsl::argument::of_text(a.text) : dsl::argument::of_tag(a.text);
        case kind::type: return dsl::argument::of_type(a.type);
        default: return {};
        }
    }

private:
    dsl::argument list(aten_argument const& a, aten::schema_type const& t) {
        if (a.tensors.empty() && t.base != base_type::tensor) return numbers(a, t);
        std::vector<dsl::optional_value> all;
        for (runtime::tensor const& each : a.tensors) all.push_back(each ? input(each) : dsl::optional_value{});
        return dsl::argument::of_tensors(std::move(all));
    }

    static dsl::argument numbers(aten_argument const& a, aten::schema_type const& t) {
        std::vector<dsl::sym_int> sizes;
        std::vector<double> floats;
        dsl::bool_list bools;
        for (scalar const& s : a.numbers) {
            if (t.base == base_type::float_) floats.push_back(s.to<double>());
            else if (t.base == base_type::bool_) bools.push_back(s.to<double>() != 0);
            else sizes.emplace_back(s.to<std::int64_t>());
        }
        if (t.base == base_type::float_) return dsl::argument::of_floats(std::move(floats));
        if (t.base == base_type::bool_) return dsl::argument::of_bools(bools);
        if (t.base == base_type::scalar) return dsl::argument::of_numbers(a.numbers);
        return dsl::argument::of_sizes(std::move(sizes));
    }

    dsl::optional_value input(runtime::tensor const& x) {
        value_id const id = to_.graph.add_input("x" + std::to_string(to_.inputs.size()), {x.dtype(), shape(x.sizes())});
        to_.inputs.emplace_back(x);
        return dsl::value(to_.graph, id);
    }

    translation& to_;
};

} // namespace

translation translate(dsl::entry const& row, std::string_view schema, int opset, sample const& s) {
    translation out;
    argument_writer writer(out);
    std::vector<dsl::argument> arguments;
    aten::schema_argument formal;
    for (aten::argument_cursor each{schema}; each.next(formal);) {
        dsl::argument& a = arguments.emplace_back();
        for (aten_argument const& given : s.arguments)
            if (given.name == formal.name) a = writer.write(given, formal.type);
    }
    auto const output = [&](dsl::value const& v) {
        out.graph.outputs.push_back(v.id());
        return out.graph.outputs.size() - 1;
    };
    for (dsl::result const& r : dsl::convert(out.graph, row, opset, std::move(arguments))) {
        translation::slot& slot = out.results.emplace_back();
        slot.is_list = r.is_list;
        slot.produced = r.is_list || r.single.has_value();
        if (r.is_list)
            for (dsl::value const& v : r.list) slot.outputs.push_back(output(v));
        else if (r.single) slot.outputs.push_back(output(*r.single));
    }
    return out;
}

std::vector<runtime::value> run(translation const& t, graph_data graph, runtime::device where) {
    runtime::onnx_model const model(std::move(graph), {where, 0});
    std::vector<runtime::value> inputs;
    for (runtime::value const& v : t.inputs) inputs.emplace_back(to_device(v.one(), where));
    return results_of(t, model.run(inputs));
}

std::vector<runtime::value> results_of(translation const& t, std::vector<runtime::value> const& outputs) {
    std::vector<runtime::value> out;
    for (translation::slot const& slot : t.results) {
        if (!slot.is_list) {
            out.push_back(slot.produced ? outputs.at(slot.outputs[0]) : runtime::value());
            continue;
        }
        std::vector<runtime::tensor> list;
        for (std::size_t const i : slot.outputs) {
            runtime::value const& v = outputs.at(i);
            if (v.is_sequence()) list.insert(list.end(), v.many().begin(), v.many().end());
            else list.push_back(v.one());
        }
        out.emplace_back(std::move(list));
    }
    return out;
}

std::string structure_of(graph_data const& g) {
    graph_data plain = g;
    plain.opset = 0;
    for (graph_node& n : plain.nodes)
        if (n.domain.empty()) n.op += '-' + std::to_string(onnx::find("", n.op, g.opset).since());
    return to_string(plain);
}

} // namespace ATON_NAMESPACE::verify
