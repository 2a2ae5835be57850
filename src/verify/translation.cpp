// SPDX-License-Identifier: MIT
// Converts a call to an ONNX graph with a mapping, and runs that graph.
#include <aton/verify/translation.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/ir/complex.hpp>
#include <aton/ir/print.hpp>
#include <aton/mappings/lower_quantized.hpp>
#include <aton/mappings/requirements.hpp>
#include <aton/onnx/registry.hpp>
#include <aton/passes/passes.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/runtime/onnx_model.hpp>

#include "call_watch.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

/// The sizes of a tensor, of which those along the dynamic axis get a name, or none.
shape shape_of(runtime::sizes const& sizes, int dynamic_axis, std::string const& name) {
    std::vector<dim> dims(sizes.begin(), sizes.end());
    for (std::size_t i = 0; i != dims.size(); ++i) {
        bool const is_dynamic = dynamic_axis == call_types::every_axis || dynamic_axis == static_cast<int>(i);
        if (is_dynamic && sizes[i] > 1) dims[i] = name.empty() ? dim() : dim(name + '_' + std::to_string(i));
    }
    return shape(dims);
}

/// Equal sizes have one symbol: what is concluded from it holds for the call.
shape with_symbols(shape const& of, std::vector<std::int64_t> const& symbols) {
    std::vector<dim> dims(of.dims().begin(), of.dims().end());
    for (dim& d : dims)
        if (d.is_static() && std::ranges::find(symbols, d.size()) != symbols.end())
            d = dim("size_" + std::to_string(d.size()));
    return shape(dims);
}

/// The types of the results, as a program records them: those of each tensor of a list, and no type for None.
std::vector<value_type> recorded_types(call_types const& types) {
    std::vector<value_type> out;
    auto const add = [&](runtime::tensor const& x) {
        value_type& to = out.emplace_back();
        if (x) to = {x.dtype(), shape_of(x.sizes(), types.dynamic_axis, {})};
    };
    for (runtime::value const& v : types.results)
        if (v.is_sequence()) std::ranges::for_each(v.many(), add);
        else add(v.is_tensor() ? v.one() : runtime::tensor());
    return out;
}

/// An argument of the DSL; its tensors become inputs of the graph, or constants.
dsl::argument to_argument(runtime::aten_argument const& a, sample const& s, int dynamic_axis, translation& to) {
    bool const is_constant = std::ranges::find(s.constants, a.name) != s.constants.end();
    auto const input = [&to, &s, is_constant, dynamic_axis](runtime::tensor const& x) -> dsl::optional_value {
        if (!x) return {};
        if (is_constant)
            return dsl::value(to.graph, dsl::detail::append_constant(to.graph, runtime::to_host(x).to_constant()));
        std::string const name = "x" + std::to_string(to.inputs.size());
        shape const of = with_symbols(shape_of(x.sizes(), dynamic_axis, name), s.symbols);
        value_id const id = to.graph.add_input(name, {x.dtype(), of});
        to.inputs.emplace_back(in_reals(x));
        return dsl::value(to.graph, id);
    };
    return aten::transform(a, input, [](scalar const& s) { return dsl::number(s); });
}

/// The numbers that ATen's kernel draws on this device with seed 0, as inputs in place of the nodes that draw random numbers.
void add_draws(translation& to, runtime::device where) {
    std::vector<random_input> const draws = replace_draws_by_inputs(to.graph);
    if (draws.empty()) return;
    remove_unused(to.graph);
    for (random_input const& draw : draws) {
        value_type const& type = to.graph.values[draw.input].type;
        if (!type.shape.is_static()) throw unsupported_error("the shape of the random numbers is not known");
        runtime::sizes of;
        for (dim const& d : type.shape.dims()) of.push_back(d.size());
        std::uint64_t const seed = runtime::seed_of_draw(0, static_cast<std::uint64_t>(&draw - draws.data()));
        bool const normal = draw.replaced.op.starts_with("RandomNormal");
        to.inputs.emplace_back(runtime::to_host(normal ? cast(runtime::normal(of, seed, where), type.dtype)
                                                       : runtime::uniform(of, type.dtype, seed, where)));
    }
}

/// Takes out the opset, also in nested graphs and functions.
void remove_opset(graph_data& g) {
    g.opset = 0;
    for (graph_node& n : g.nodes)
        for (node_attribute& a : n.attributes)
            for (graph_data& nested : a.graphs) remove_opset(nested);
    for (graph_function& f : g.functions)
        for (graph_data& body : f.body) remove_opset(body);
}

/// Adds the version of its schema to the operator of each node.
void name_versions(graph_data& g, int opset) {
    for (graph_node& n : g.nodes) {
        if (n.domain.empty()) n.op += '-' + std::to_string(onnx::find("", n.op, opset).since());
        for (node_attribute& a : n.attributes)
            for (graph_data& nested : a.graphs) name_versions(nested, opset);
    }
    for (graph_function& f : g.functions)
        for (graph_data& body : f.body) name_versions(body, opset);
}

} // namespace

translation translate(dsl::entry const& row, std::string_view schema, int opset, sample const& s, bool exact_nan,
                      runtime::device where, call_types const& types) {
    translation out;
    out.graph.context.exact_nan = exact_nan;
    out.graph.context.expected = recorded_types(types);
    std::vector<dsl::argument> arguments;
    aten::schema_argument formal;
    for (aten::argument_cursor each{schema}; each.next(formal);) {
        dsl::argument& a = arguments.emplace_back();
        for (runtime::aten_argument const& given : s.arguments)
            if (given.name == formal.name) a = to_argument(given, s, types.dynamic_axis, out);
    }
    mappings::check_requirements(s.overload, schema, arguments);
    auto const output = [&](dsl::value const& v) {
        out.graph.outputs.push_back(v.id());
        out.complex_outputs.push_back(is_complex(v.dtype()));
        return out.graph.outputs.size() - 1;
    };
    std::vector<dsl::result> const results = [&] {
        watched_call const watched(s, opset);
        return dsl::convert(out.graph, row, opset, std::move(arguments));
    }();
    for (dsl::result const& r : results) {
        translation::slot& slot = out.results.emplace_back();
        slot.is_list = r.is_list;
        slot.produced = r.is_list || r.single.has_value();
        if (r.is_list)
            for (dsl::value const& v : r.list) {
                if (v.id() == no_value)
                    throw illegal_call("tensor " + std::to_string(slot.outputs.size()) + " of result " +
                                       std::to_string(out.results.size() - 1) + " was never set");
                slot.outputs.push_back(output(v));
            }
        else if (r.single) slot.outputs.push_back(output(*r.single));
    }
    complex_ir::lower(out.graph);
    mappings::lower_quantized(out.graph, mappings::quantize_form::arithmetic);
    add_draws(out, where);
    return out;
}

std::vector<runtime::value> run(translation const& t, graph_data graph, runtime::onnx_options options,
                                runtime::onnx_observer const& observer, runtime::opset_range* same) {
    runtime::device const where = options.where;
    runtime::onnx_model const model(std::move(graph), std::move(options));
    std::vector<runtime::value> inputs;
    for (runtime::value const& v : t.inputs) inputs.emplace_back(to_device(v.one(), where));
    return results_of(t, model.run(inputs, observer, same));
}

std::vector<runtime::value> results_of(translation const& t, std::vector<runtime::value> const& outputs) {
    std::vector<runtime::value> out;
    auto const result = [&](std::size_t i) -> runtime::value {
        runtime::value const& v = outputs.at(i);
        return t.complex_outputs[i] ? runtime::value(contiguous(v.one()).from_pairs()) : v;
    };
    for (translation::slot const& slot : t.results) {
        if (!slot.is_list) {
            out.push_back(slot.produced ? result(slot.outputs[0]) : runtime::value());
            continue;
        }
        std::vector<runtime::tensor> list;
        for (std::size_t const i : slot.outputs) {
            runtime::value const v = result(i);
            if (v.is_sequence()) list.insert(list.end(), v.many().begin(), v.many().end());
            else list.push_back(v.one());
        }
        out.emplace_back(std::move(list));
    }
    return out;
}

std::string structure_of(graph_data const& g) {
    graph_data plain = g;
    name_versions(plain, g.opset);
    remove_opset(plain);
    return to_string(plain);
}

} // namespace ATON_NAMESPACE::verify
