// SPDX-License-Identifier: MIT
#include "operator_nodes.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <aton/aten/scalar_type.hpp>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using aten::base_type;
using files::in_quotes;

constexpr std::string_view memory_formats[] = {
    "contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};

/// A value as the argument of a node that its schema wants.
program::argument argument_of(aten::schema_type const& type, value const& v, program_values& values,
                              code_position const& at) {
    using made = program::argument;
    if (v.is() == kind::none) return made::none();
    std::vector<value> items;
    if (v.is() == kind::list || v.is() == kind::tuple) items = v.list()->items;
    else if (type.list) items.assign(static_cast<std::size_t>(std::max(type.list_size, 1)), v);
    if (type.list) {
        if (type.base == base_type::tensor) {
            std::vector<program::value_ref> all;
            for (value const& each : items)
                all.push_back(each.is() == kind::none ? program::value_ref()
                                                      : program::value_ref(values.tensor_of(each)));
            return made::of_tensors(std::move(all));
        }
        if (type.base == base_type::str) {
            std::vector<std::string> all;
            for (value const& each : items) all.push_back(text_of(constant_in(at, each, "a string of a list")));
            return made::of_texts(std::move(all));
        }
        std::vector<program::number> all;
        for (value const& each : items) all.push_back(values.number_of(each));
        return made::of_numbers(std::move(all));
    }
    switch (type.base) {
    case base_type::tensor: return made::of_tensor(values.tensor_of(v));
    case base_type::str: return made::of_text(text_of(constant_in(at, v, "a string")));
    case base_type::scalar_type: {
        std::int64_t const code = constant_in(at, v, "a dtype").number().to<std::int64_t>();
        dtype const t = aten::scalar_type(code);
        std::string_view const name = aten::scalar_type_name(code);
        if (t == dtype::undefined && !name.empty())
            at.fail("uses the dtype " + std::string(name) + ", which ONNX does not have");
        if (t == dtype::undefined) at.fail("uses the unknown dtype " + std::to_string(code));
        return made::of_type(t);
    }
    case base_type::layout:
        if (v.integer() != 0) at.fail("uses a layout that is not strided");
        return made::of_tag("strided");
    case base_type::memory_format:
        for (std::size_t i = 0; i != std::size(memory_formats); ++i)
            if (v.integer() == static_cast<std::int64_t>(i)) return made::of_tag(std::string(memory_formats[i]));
        at.fail("uses the unknown memory format " + text_of(constant_in(at, v, "a memory format")));
    case base_type::device: return made::of_tag(text_of(constant_in(at, v, "a device")));
    default: return made::of_number(values.number_of(v));
    }
}

bool is_weak(value const& v) { return v.is_weak(); }

std::ptrdiff_t count_weak(call_arguments const& given) {
    return std::count_if(given.positional.begin(), given.positional.end(), is_weak);
}

/// Whether an overload gets a weak constant as a tensor.
bool binds_weak(fitting_overload const& fitting) {
    for (std::size_t i = 0; i != fitting.bound.size(); ++i)
        if (fitting.bound[i] != nullptr && fitting.bound[i]->is_weak() &&
            fitting.chosen->arguments[i].type.base == base_type::tensor)
            return true;
    return false;
}

} // namespace

value operator_nodes::add(std::string const& op, call_arguments const& given) {
    std::vector<overload> const& all = overloads_.of(op);
    if (all.empty()) {
        bool const is_torchs = op.starts_with("aten::") || op.starts_with("prim");
        at_.fail("calls " + in_quotes(op) + ", which neither torch nor a table declares" +
                 (is_torchs ? "" : "; write a row for it: aton stub begins one"));
    }
    std::vector<fitting_overload> const candidates = overloads_.fitting(all, given);
    if (candidates.empty()) {
        std::string kinds;
        for (value const& each : given.positional) (kinds += kinds.empty() ? "" : ", ") += describe(each);
        at_.fail("no overload of " + in_quotes(op) + " accepts (" + kinds + ")");
    }
    if (count_weak(given) != 0 && binds_weak(candidates.front())) {
        call_arguments const strong = conversions_.without_weak_types(given);
        if (count_weak(strong) != count_weak(given)) return caller_.call_operator(op, strong);
    }
    std::string refusal;
    for (fitting_overload const& each : candidates) {
        program::node n = node_of(each);
        try {
            std::vector<inferred_result> const types = types_.types_of(n, *each.chosen);
            return add_results(std::move(n), *each.chosen, types);
        } catch (error const& e) {
            if (refusal.empty()) refusal = e.what();
        }
    }
    if (refusal.starts_with(path_ + ": ")) throw error(refusal); // it has the line already
    at_.fail(refusal);
}

program::node operator_nodes::node_of(fitting_overload const& fitting) {
    program::node n;
    n.op = fitting.chosen->op;
    for (std::size_t i = 0; i != fitting.bound.size(); ++i)
        if (fitting.bound[i] != nullptr)
            n.arguments.push_back(argument_of(fitting.chosen->arguments[i].type, *fitting.bound[i], values_, at_)
                                      .named(std::string(fitting.chosen->arguments[i].name)));
    if (fitting.chosen->is_torchs) n.schema = fitting.chosen->schema;
    n.origin = build_.origin_here();
    return n;
}

value operator_nodes::add_results(program::node n, overload const& o, std::vector<inferred_result> const& types) {
    std::string const name(operator_name(n.op));
    if (!o.returns.empty() && types.size() < o.returns.size())
        at_.fail("'" + n.op + "' has " + std::to_string(o.returns.size()) + " results, but its mapping returns " +
                 std::to_string(types.size()));
    std::vector<value> results;
    for (std::size_t i = 0; i != o.returns.size(); ++i) results.push_back(add_result(n, o.returns[i], types[i]));
    gradients_.note(build_.made(), n);
    n.name = n.results.empty() || n.results[0].values.empty() ? build_.unique_name(name)
                                                              : build_.value_at(n.results[0].values[0]).name;
    if (!types_.note_resized(n, o)) aliases_.note(n, o, at_);
    types_.note_resized_outs(n, o);
    build_.nodes().push_back(std::move(n));
    at_.spend(1);
    if (results.empty()) return {};
    return results.size() == 1 ? results[0] : heap_.tuple(std::move(results));
}

value operator_nodes::add_result(program::node& n, aten::schema_return const& declared,
                                 inferred_result const& inferred) {
    std::string const name(operator_name(n.op));
    program::result& made = n.results.emplace_back();
    made.is_list = declared.type.list;
    if (made.is_list != inferred.is_list)
        at_.fail("the results of the mapping of '" + n.op + "' do not match its schema");
    std::vector<value> all;
    for (inferred_type const& each : inferred.types) {
        if (declared.type.base != base_type::tensor)
            at_.fail("'" + n.op + "' returns " + std::string(declared.type.text) + ", which is not supported");
        if (each.type == dtype::undefined || !each.has_rank)
            at_.fail("the type of a result of '" + n.op + "' is not known");
        made.values.push_back(build_.add_tensor(name, each));
        elements_.note(made.values.back(), each.elements);
        all.push_back(value::of(kind::tensor, made.values.back()));
    }
    if (all.empty() && !made.is_list && declared.type.base == base_type::tensor) {
        // The mapping does not compute it. A value without a type: what uses it is refused.
        made.values.push_back(build_.add_value(name, program::value_kind::tensor));
        all.push_back(value::of(kind::tensor, made.values.back()));
    }
    if (made.is_list) return heap_.list(std::move(all));
    return all.empty() ? value{} : all[0];
}

} // namespace ATON_NAMESPACE::torchscript
