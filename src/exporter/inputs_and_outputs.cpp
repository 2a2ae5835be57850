// SPDX-License-Identifier: MIT
// Inputs and outputs of a graph: user inputs, weights, state, and outputs with the names that users see.
#include "converter.hpp"
#include "result_types.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <aton/model_io/weights.hpp>

namespace ATON_NAMESPACE::exporter {

namespace {

/// Constants up to this size in bytes are loaded, so that mappings can inspect them: indices, sizes, scales.
constexpr std::uint64_t small_constant = 1024;

bool holds_numbers(dtype t) { return tensor::can_hold(t); }

/// A key that is equal for equal views of the same bytes.
std::string identity_of(stored_tensor const& t) {
    std::string out = std::to_string(static_cast<int>(t.type));
    auto const append = [&](std::int64_t n) { out += ',' + std::to_string(n); };
    for (std::int64_t s : t.sizes) append(s);
    for (stored_part const& p : t.parts) {
        out += ';';
        append(p.bytes.file);
        append(static_cast<int>(p.stored_as));
        append(static_cast<std::int64_t>(p.bytes.position));
        append(p.offset);
        for (std::int64_t s : p.strides) append(s);
    }
    return out;
}

/// Refuses views with strides of 0 that expand a small file without bound.
void check_total_size(graph_data const& graph, std::string const& file) {
    constexpr std::uint64_t always_allowed = std::uint64_t{1} << 30;
    std::set<std::pair<int, std::uint64_t>> storages; // by file and position
    std::uint64_t in_file = 0;
    std::uint64_t as_tensors = 0;
    for (graph_initializer const& i : graph.initializers) {
        if (i.stored == nullptr || i.stored->is_absent()) continue;
        for (stored_part const& part : i.stored->parts)
            if (storages.emplace(part.bytes.file, part.bytes.position).second) in_file += part.bytes.size;
        as_tensors += i.stored->byte_count();
        if (as_tensors > always_allowed && (as_tensors - always_allowed) / 4 > in_file + always_allowed)
            throw error(file + ": the weights expand " + std::to_string(in_file) + " bytes of storage to more than " +
                        std::to_string(as_tensors) + " bytes, which is not supported");
    }
}

} // namespace

stored_tensor as_real(stored_tensor const& complex) {
    stored_tensor real = complex;
    real.type = part_type(complex.type);
    real.sizes.push_back(2);
    for (stored_part& part : real.parts) {
        part.sizes.push_back(2);
        for (std::int64_t& stride : part.strides) stride *= 2;
        part.strides.push_back(1);
        part.offset *= 2;
    }
    return real;
}

void converter::add_inputs() {
    std::unordered_set<std::string_view> mutated;
    for (program::output const& out : program_.outputs)
        if (out.kind == program::output_kind::buffer_mutation || out.kind == program::output_kind::parameter_mutation)
            mutated.insert(out.target);
    for (program::input const& in : original_.inputs) {
        if (in.value == program::no_value) continue;
        program::value const& v = program_.values[in.value];
        bool const is_state = options_.state == state_mode::inputs && mutated.count(in.target) != 0;
        switch (in.kind) {
        case program::input_kind::parameter:
        case program::input_kind::buffer:
        case program::input_kind::constant:
            if (!is_state) {
                add_weight(in);
                break;
            }
            [[fallthrough]];
        case program::input_kind::user: {
            value_type const type = recorded_type(v, dims_);
            if (type.dtype == dtype::undefined)
                throw error(program_.file + ": input '" + in.target + "' has a dtype that ONNX does not have");
            bind(in.value, {dsl::value(main_, main_.add_input(in.target.empty() ? v.name : in.target, type)), {}, {}});
            break;
        }
        case program::input_kind::custom_object:
            bind(in.value, {{}, {}, "'" + in.target + "' is a custom object, which ONNX cannot represent"});
            break;
        case program::input_kind::baked:
        case program::input_kind::token: break;
        }
    }
    check_total_size(main_, program_.file);
}

void converter::add_weight(program::input const& in) {
    stored_tensor const& data = is_complex(in.data.type) ? in.as_real : in.data;
    if (data.type == dtype::undefined)
        return bind(in.value, {{}, {}, "'" + in.target + "' has a dtype that ONNX does not have"});
    auto const [known, is_new] = weights_.try_emplace(identity_of(data), aton::no_value);
    if (is_new) {
        known->second = main_.add_value(value_type{data.type, shape(data.sizes)}, in.target);
        bool const is_quantized = (data.type == dtype::int8 || data.type == dtype::uint8) && data.sizes.size() >= 2;
        if (data.byte_count() <= small_constant && holds_numbers(data.type) && !data.is_absent() && !is_quantized)
            main_.set_initializer(known->second, load(data));
        else main_.set_initializer(known->second, {}, &data);
    }
    dsl::value const weight(main_, known->second);
    ops const g(main_, options_.opset);
    bind(in.value, {is_complex(in.data.type) ? g.to_value(g.as_complex(weight)) : weight, {}, {}});
}

void converter::add_outputs() {
    main_.context = {};
    // The user's outputs come first, in the order of the program; with them the loss and the gradients of a training step.
    for (std::size_t i = 0; i != program_.outputs.size(); ++i) {
        program::output const& out = program_.outputs[i];
        program::argument const& a = program_.main.outputs[i];
        if (out.kind == program::output_kind::gradient) add_output(a, out.target + ".grad");
        if (out.kind != program::output_kind::user && out.kind != program::output_kind::loss) continue;
        add_output(a,
                   !out.target.empty()                         ? out.target
                   : program::value_of(a) != program::no_value ? program_.values[program::value_of(a)].name
                                                               : "output_" + std::to_string(i));
    }
    for (std::size_t i = 0; i != program_.outputs.size(); ++i) {
        program::output const& out = program_.outputs[i];
        if (out.kind == program::output_kind::buffer_mutation || out.kind == program::output_kind::parameter_mutation ||
            out.kind == program::output_kind::input_mutation) {
            check_mutation(out, program_.main.outputs[i]);
            add_output(program_.main.outputs[i], out.target + ".out");
        }
    }
    if (main_.outputs.empty()) throw error(program_.file + ": the program returns nothing");
    std::vector<std::pair<std::string*, std::string const*>> renamed; // all at once, so that two can swap their names
    std::unordered_set<std::string_view> from_names;
    for (auto const& [from, to] : options_.renames) {
        if (!from_names.insert(from).second) throw error(program_.file + ": '" + from + "' is renamed twice");
        std::size_t const before = renamed.size();
        for (std::string& name : output_names_)
            if (name == from) renamed.emplace_back(&name, &to);
        for (value_id id : main_.inputs)
            if (main_.values[id].name == from) renamed.emplace_back(&main_.values[id].name, &to);
        if (renamed.size() == before)
            throw error(program_.file + ": cannot rename '" + from + "': no input or output has this name");
    }
    for (auto const& [name, to] : renamed) *name = *to;
    std::unordered_set<std::string_view> taken;
    for (value_id id : main_.inputs)
        if (!taken.insert(main_.values[id].name).second)
            throw error(program_.file + ": two inputs are named '" + main_.values[id].name + "'");
    for (std::string& name : output_names_) {
        std::string const wanted = name;
        for (int i = 1; taken.count(name) != 0; ++i) name = wanted + ".out" + (i == 1 ? "" : std::to_string(i));
        taken.insert(name);
    }
}

/// Checks that the new value of a buffer or input has the type of the old one: signatures of torch 2.5 mix up the values.
void converter::check_mutation(program::output const& out, program::argument const& a) const {
    program::value_index const now = program::value_of(a);
    if (now == program::no_value) return;
    auto const old = std::find_if(program_.inputs.begin(), program_.inputs.end(), [&](program::input const& in) {
        return in.value != program::no_value && in.target == out.target;
    });
    if (old == program_.inputs.end()) return;
    value_type const before = type_of(old->value);
    value_type const after = type_of(now);
    if (!fits(after, before))
        throw error(program_.file + ": the program is inconsistent: '" + out.target + "' is " + describe(before) +
                    ", but its new value '" + program_.values[now].name + "' is " + describe(after) +
                    "; export it again with another version of torch");
}

void converter::add_output(program::argument const& a, std::string name) {
    using kind = program::argument_kind;
    ops const g(main_, options_.opset);
    try {
        switch (a.kind) {
        case kind::none: return; // a graph cannot return None
        case kind::tensor:
        case kind::number: {
            program::value_index const v = program::value_of(a);
            dtype const type = v == program::no_value ? dtype_of(a.number.constant) : dtype_of(program_.values[v].kind);
            main_.outputs.push_back(as_value(v == program::no_value ? bound(a.number) : bound(v), type).id());
            break;
        }
        default: throw unsupported_error("it is neither a tensor nor a number");
        }
    } catch (unsupported_error const& e) {
        throw error(program_.file + ": output '" + name + "' cannot be exported: " + e.what());
    }
    output_names_.push_back(std::move(name));
}

void name_outputs(graph_data& graph, std::vector<std::string> const& names) {
    std::unordered_set<std::string_view> const taken(names.begin(), names.end());
    std::unordered_set<value_id> const inputs(graph.inputs.begin(), graph.inputs.end());
    std::vector<char> is_output(graph.values.size(), 0);
    graph.context = {};
    for (std::size_t i = 0; i != graph.outputs.size(); ++i) {
        value_id& id = graph.outputs[i];
        bool const is_made = graph.values[id].producer >= 0;
        if (!is_made || is_output[id] != 0) { // an input, an initializer, or another output needs a node
            value_type const type = graph.values[id].type;
            id = dsl::value(dsl::graph<oldest_export_opset>(graph, graph.opset).op<"Identity">(dsl::value(graph, id)))
                     .id();
            graph.values[id].type = type;
            is_output.resize(graph.values.size(), 0);
        }
        is_output[id] = 1;
    }
    for (std::size_t id = 0; id != graph.values.size(); ++id)
        if (is_output[id] == 0 && inputs.count(static_cast<value_id>(id)) == 0 &&
            taken.count(graph.values[id].name) != 0)
            graph.values[id].name.clear();
    for (std::size_t i = 0; i != graph.outputs.size(); ++i) graph.values[graph.outputs[i]].name = names[i];
}

} // namespace ATON_NAMESPACE::exporter
