// SPDX-License-Identifier: MIT
// Calls of operators: finds the overload that the arguments fit best, and makes a node of it.
#include "interpreter.hpp"

#include <algorithm>

#include <aton/aten/scalar_type.hpp>
#include <aton/aten/schema_table.hpp>

#include "frontend/pt2/text.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using aten::base_type;
using pt2::in_quotes;

/// Overloads that only TorchScript's interpreter has, such as aten::to.prim_dtype.
constexpr int only_in_torchscript = 50;
/// A tensor of one number where a number is expected, and a number where a tensor is.
constexpr int implicit_number = 6;
constexpr int implicit_tensor = 8;

overload read_overload(std::string_view op, std::string_view schema) {
    overload out;
    out.op = op;
    out.schema = schema;
    aten::argument_cursor arguments{schema};
    for (aten::schema_argument each; arguments.next(each);) out.arguments.push_back(each);
    aten::return_cursor returns{schema};
    for (aten::schema_return each; returns.next(each);) out.returns.push_back(each);
    return out;
}

constexpr std::string_view memory_formats[] = {
    "contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};

} // namespace

std::vector<overload> const& interpreter::overloads_of(std::string const& op) {
    auto const [known, is_new] = overloads_.try_emplace(op);
    if (!is_new) return known->second;
    bool exact = false;
    for (std::size_t i = aten::detail::lower_bound(op, exact); i != aten::schema_count(); ++i) {
        std::string_view const schema = aten::schema_at(i);
        if (!schema.starts_with(op)) break;
        if (aten::detail::table_op(i) == op)
            known->second.push_back(read_overload(aten::detail::table_name(i), schema));
    }
    if (known->second.empty() && options_.schemas_of)
        for (std::string_view const schema : options_.schemas_of(op)) {
            known->second.push_back(read_overload(aten::parse_head(schema).qualified, schema));
            known->second.back().is_torchs = false;
        }
    return known->second;
}

/// How well a value fits an element of a type; lower is better, nothing if it does not fit.
std::optional<int> interpreter::cost_of_element(aten::schema_type const& type, value const& v) {
    auto const symbol_is = [&](program::value_kind k) {
        return v.is == kind::symbol && out_.values[static_cast<std::size_t>(v.integer)].kind == k;
    };
    bool const is_number = v.is_number() || v.is == kind::symbol;
    bool const is_one_element =
        (v.is == kind::weight && heap_.weights[static_cast<std::size_t>(v.integer)].data.element_count() == 1) ||
        (v.is == kind::tensor && type_of(static_cast<program::value_index>(v.integer)).sizes.empty());
    switch (type.base) {
    case base_type::tensor:
        if (v.acts_as_tensor()) return 0;
        return is_number ? std::optional(implicit_tensor) : std::nullopt;
    case base_type::scalar:
        if (is_number) return v.is_tensor ? implicit_number : 1;
        return is_one_element ? std::optional(implicit_number) : std::nullopt;
    case base_type::int_:
    case base_type::sym_int:
        if (v.is == kind::integer || symbol_is(program::value_kind::sym_int)) return v.is_tensor ? implicit_number : 0;
        return is_one_element ? std::optional(implicit_number) : std::nullopt;
    case base_type::float_:
    case base_type::sym_float:
        if (v.is == kind::real || symbol_is(program::value_kind::sym_float)) return v.is_tensor ? implicit_number : 0;
        if (v.is == kind::integer || symbol_is(program::value_kind::sym_int)) return 3;
        return is_one_element ? std::optional(implicit_number) : std::nullopt;
    case base_type::bool_:
    case base_type::sym_bool:
        return v.is == kind::boolean || symbol_is(program::value_kind::sym_bool) ? std::optional(0) : std::nullopt;
    case base_type::str: return v.is == kind::text ? std::optional(0) : std::nullopt;
    case base_type::scalar_type:
    case base_type::layout:
    case base_type::memory_format: return v.is == kind::integer && !v.is_tensor ? std::optional(1) : std::nullopt;
    case base_type::device: return v.is == kind::device || v.is == kind::text ? std::optional(0) : std::nullopt;
    default: return {};
    }
}

std::optional<int> interpreter::cost_of(aten::schema_type const& type, value const& v) {
    if (v.is == kind::none) return type.optional ? std::optional(0) : std::nullopt;
    if (!type.list) return cost_of_element(type, v);
    if (v.is != kind::list && v.is != kind::tuple) {
        std::optional<int> const one = type.list_size > 0 ? cost_of_element(type, v) : std::nullopt;
        return one ? std::optional(*one + 2) : std::nullopt;
    }
    int worst = 0;
    for (value const& each : v.list->items) {
        if (each.is == kind::none && type.element_optional) continue;
        std::optional<int> const cost = cost_of_element(type, each);
        if (!cost || (type.base == base_type::tensor && *cost >= implicit_tensor)) return {};
        worst = std::max(worst, *cost);
    }
    return worst;
}

/// The cost of a call, and the value of each argument of the schema (null: its default); nothing if the arguments do not fit.
std::optional<int> interpreter::match(overload const& o, call_arguments const& given,
                                      std::vector<value const*>& bound) {
    bound.assign(o.arguments.size(), nullptr);
    if (given.size() > o.arguments.size()) return {};
    for (std::size_t i = 0; i != given.positional.size(); ++i) {
        // The serializer writes all arguments of operators with `out` by position.
        if (o.arguments[i].keyword_only && o.arguments[i].type.mutates) return {};
        bound[i] = &given.positional[i];
    }
    for (auto const& [name, each] : given.named) {
        auto const found =
            std::find_if(o.arguments.begin(), o.arguments.end(), [&](auto const& a) { return a.name == name; });
        if (found == o.arguments.end()) return {};
        value const*& place = bound[static_cast<std::size_t>(found - o.arguments.begin())];
        if (place != nullptr) return {};
        place = &each;
    }
    int cost = aten::parse_head(o.schema).overload.starts_with("prim") ? only_in_torchscript : 0;
    for (std::size_t i = 0; i != bound.size(); ++i) {
        if (bound[i] == nullptr) {
            if (!o.arguments[i].has_default) return {};
            continue;
        }
        std::optional<int> const each = cost_of(o.arguments[i].type, *bound[i]);
        if (!each) return {};
        cost += *each;
    }
    return cost;
}

program::number interpreter::number_of(value const& v) {
    if (v.is == kind::symbol) return program::number::of_value(static_cast<program::value_index>(v.integer));
    if (std::optional<value> const constant = constant_of(v)) return constant->number();
    if (v.is == kind::tensor || v.is == kind::weight) return number_of(convert_number("item", v));
    fail("uses " + std::string(describe(v)) + " as a number");
}

program::argument interpreter::argument_of(aten::schema_type const& type, value const& v) {
    using made = program::argument;
    if (v.is == kind::none) return made::none();
    std::vector<value> items;
    if (v.is == kind::list || v.is == kind::tuple) items = v.list->items;
    else if (type.list) items.assign(static_cast<std::size_t>(std::max(type.list_size, 1)), v);
    if (type.list) {
        if (type.base == base_type::tensor) {
            std::vector<program::value_ref> all;
            for (value const& each : items)
                all.push_back(each.is == kind::none ? program::value_ref() : program::value_ref(tensor_of(each)));
            return made::of_tensors(std::move(all));
        }
        if (type.base == base_type::str) {
            std::vector<std::string> all;
            for (value const& each : items) all.push_back(each.text);
            return made::of_texts(std::move(all));
        }
        std::vector<program::number> all;
        for (value const& each : items) all.push_back(number_of(each));
        return made::of_numbers(std::move(all));
    }
    switch (type.base) {
    case base_type::tensor: return made::of_tensor(tensor_of(v));
    case base_type::str: return made::of_text(v.text);
    case base_type::scalar_type: {
        dtype const t = aten::scalar_type(v.integer);
        if (t == dtype::undefined) fail("uses the unknown dtype " + std::to_string(v.integer));
        return made::of_type(t);
    }
    case base_type::layout:
        if (v.integer != 0) fail("uses a layout that is not strided");
        return made::of_tag("strided");
    case base_type::memory_format:
        if (v.integer < 0 || v.integer >= static_cast<std::int64_t>(std::size(memory_formats)))
            fail("uses the unknown memory format " + std::to_string(v.integer));
        return made::of_tag(std::string(memory_formats[v.integer]));
    case base_type::device: return made::of_tag(v.text);
    default: return made::of_number(number_of(v));
    }
}

/// torch.tensor() of a number, or of nested lists of numbers.
value interpreter::make_tensor(call_arguments const& given) {
    std::optional<std::int64_t> type;
    if (given.positional.size() > 1 && given.positional[1].is == kind::integer) type = given.positional[1].integer;
    for (auto const& [name, each] : given.named)
        if (name == "dtype" && each.is == kind::integer) type = each.integer;
    value const& from = given.positional[0];
    if (from.is == kind::list || from.is == kind::tuple) {
        if (from.list->items.empty()) {
            call_arguments zeros{{heap_.list({value::of(std::int64_t{0})})}, {}};
            if (type) zeros.named.emplace_back("dtype", value::of(*type));
            return call_operator("aten::zeros", zeros);
        }
        std::vector<value> rows;
        for (value const& each : from.list->items) {
            call_arguments row{{each}, {}};
            if (type) row.named.emplace_back("dtype", value::of(*type));
            rows.push_back(each.acts_as_tensor() ? each : make_tensor(row));
        }
        return call_operator("aten::stack", {{heap_.list(std::move(rows))}, {}});
    }
    value number = from;
    number.is_tensor = true;
    value const made = value::of(kind::tensor, tensor_of(number));
    if (!type) return made;
    if (aten::scalar_type(*type) == type_of(static_cast<program::value_index>(made.integer)).type) return made;
    return call_operator("aten::to", {{made, value::of(*type)}, {}});
}

/// The value of the program that a tensor is. A number becomes a 0-d tensor.
program::value_index interpreter::tensor_of(value const& v) {
    if (v.is == kind::tensor) return static_cast<program::value_index>(v.integer);
    if (v.is == kind::weight) return use_weight(static_cast<std::size_t>(v.integer));
    if (!v.is_number() && v.is != kind::symbol) fail("uses " + std::string(describe(v)) + " as a tensor");
    value number = v;
    number.is_tensor = false;
    dtype type = v.is == kind::boolean ? dtype::bool_ : v.is == kind::real ? dtype::float32 : dtype::int64;
    if (v.is == kind::symbol) {
        program::value_kind const k = out_.values[static_cast<std::size_t>(v.integer)].kind;
        type = k == program::value_kind::sym_float  ? dtype::float32
               : k == program::value_kind::sym_bool ? dtype::bool_
                                                    : dtype::int64;
    }
    program::node n;
    n.op = "aten::scalar_tensor";
    n.schema = aten::find_schema(n.op);
    n.arguments.push_back(program::argument::of_number(number_of(number)).named("s"));
    n.arguments.push_back(program::argument::of_type(type).named("dtype"));
    n.origin = origin_here();
    program::value_index const made = add_tensor("scalar_tensor", {type, true, {}});
    n.name = out_.values[made].name;
    n.results.push_back({{made}, false});
    out_.main.nodes.push_back(std::move(n));
    return made;
}

program::value_index interpreter::use_weight(std::size_t index) {
    weight& w = heap_.weights[index];
    if (w.value != program::no_value) return w.value;
    inferred_type type{w.data.type, true, {}};
    for (std::int64_t const s : w.data.sizes) type.sizes.emplace_back(program::extent{s, program::extent::none});
    std::string name = w.name.empty() ? "constant_" + std::to_string(index) : w.name;
    std::string plain = name;
    std::replace(plain.begin(), plain.end(), '.', '_');
    w.value = add_tensor((w.role == program::input_kind::parameter ? "p_"
                          : w.role == program::input_kind::buffer  ? "b_"
                                                                   : "c_") +
                             plain,
                         type);
    if (w.data.parts.size() == 1)
        for (std::int64_t const s : w.data.parts[0].strides)
            out_.values[w.value].strides.push_back({s, program::extent::none});
    program::input in;
    in.kind = w.role;
    in.value = w.value;
    in.target = std::move(name);
    in.data = w.data;
    out_.inputs.push_back(std::move(in));
    out_.main.inputs.push_back(w.value);
    return w.value;
}

value interpreter::call_operator(std::string const& op, call_arguments const& given) {
    if (op == "aten::to" && given.positional.size() >= 2 && given.positional[0].acts_as_tensor() &&
        given.positional[1].is == kind::device) {
        // The device has no meaning in a graph; only the dtype is left.
        bool const has_type = given.positional.size() > 2 && given.positional[2].is == kind::integer;
        call_arguments rest{{given.positional[0]}, {}};
        bool const copies =
            given.positional.size() > 4 && given.positional[4].is == kind::boolean && given.positional[4].integer != 0;
        if (copies) rest.positional[0] = call_operator("aten::clone", rest);
        bool const is_same_type =
            has_type && type_of(tensor_of(rest.positional[0])).type == aten::scalar_type(given.positional[2].integer);
        if (!has_type || is_same_type) return copies ? rest.positional[0] : call_operator("aten::alias", rest);
        rest.positional.push_back(given.positional[2]);
        return call_operator(op, rest);
    }
    if ((op == "aten::tensor" || op == "aten::as_tensor") && !given.positional.empty() &&
        !given.positional[0].acts_as_tensor())
        return make_tensor(given);
    if (op == "aten::cpu" || op == "aten::cuda") return call_operator("aten::alias", {{given.positional.at(0)}, {}});
    if (op == "aten::as_strided" || op == "aten::as_strided_" || op == "aten::set_" || op == "aten::resize_" ||
        op == "aten::resize_as_")
        fail("calls " + in_quotes(op) + ", which depends on the memory layout of tensors; archives do not record it");
    bool const writes = op.ends_with('_') && !op.ends_with("__");
    if (writes && !given.positional.empty() && given.positional[0].is != kind::tensor &&
        given.positional[0].is != kind::weight)
        fail("calls " + in_quotes(op) + ", which would write to " + std::string(describe(given.positional[0])));
    std::vector<overload> const& all = overloads_of(op);
    if (all.empty()) fail("calls " + in_quotes(op) + ", which neither torch nor a table declares");
    struct candidate {
        int cost;
        overload const* chosen;
        std::vector<value const*> bound;
    };
    std::vector<candidate> candidates;
    std::vector<value const*> bound;
    for (overload const& each : all)
        if (std::optional<int> const cost = match(each, given, bound)) candidates.push_back({*cost, &each, bound});
    std::stable_sort(
        candidates.begin(), candidates.end(), [](candidate const& a, candidate const& b) { return a.cost < b.cost; });
    if (candidates.empty()) {
        std::string kinds;
        for (value const& each : given.positional) (kinds += kinds.empty() ? "" : ", ") += describe(each);
        fail("no overload of " + in_quotes(op) + " accepts (" + kinds + ")");
    }
    std::string refusal;
    for (candidate const& each : candidates) {
        program::node n;
        n.op = each.chosen->op;
        n.schema = each.chosen->schema;
        for (std::size_t i = 0; i != each.bound.size(); ++i)
            if (each.bound[i] != nullptr)
                n.arguments.push_back(argument_of(each.chosen->arguments[i].type, *each.bound[i])
                                          .named(std::string(each.chosen->arguments[i].name)));
        if (!each.chosen->is_torchs) n.schema = {};
        n.origin = origin_here();
        try {
            std::vector<inferred_result> const types = types_of(n, *each.chosen);
            return add_results(std::move(n), *each.chosen, types);
        } catch (error const& e) {
            if (refusal.empty()) refusal = e.what();
        }
    }
    fail(refusal);
}

} // namespace ATON_NAMESPACE::torchscript
