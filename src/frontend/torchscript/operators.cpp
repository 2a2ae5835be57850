// SPDX-License-Identifier: MIT
// Calls of operators: finds the overload that the arguments fit best, and makes a node of it.
#include "interpreter.hpp"

#include <algorithm>

#include <aton/aten/scalar_type.hpp>
#include <aton/aten/schema_table.hpp>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using aten::base_type;
using files::in_quotes;

/// Overloads that only TorchScript's interpreter has, such as aten::to.prim_dtype.
constexpr int only_in_torchscript = 50;
/// A tensor of one number where a number is expected, and a number where a tensor is.
constexpr int implicit_number = 6;
constexpr int implicit_tensor = 8;
/// A constant that is as weak as a number, where a tensor is expected.
constexpr int weak_tensor = 4;
/// An argument by position that the schema allows only by name: the serializer writes those of operators with `out` so.
constexpr int positional_keyword = 20;

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
    auto const symbol_is = [&](program::value_kind k) { return v.is() == kind::symbol && build_.kind_of(v) == k; };
    bool const is_number = v.is_any_number();
    bool const is_held = v.is_number_as_tensor();
    bool const is_one_element = (v.is() == kind::weight && heap_.weights[v.weight()].data.element_count() == 1) ||
                                (v.is() == kind::tensor && types_.type_of(v.computed()).sizes.empty());
    switch (type.base) {
    case base_type::tensor:
        if (v.is_weak()) return weak_tensor;
        if (v.acts_as_tensor()) return 0;
        return is_number ? std::optional(implicit_tensor) : std::nullopt;
    case base_type::scalar:
        if (is_number) return is_held ? implicit_number : 1;
        if (v.is_weak()) return 1;
        return is_one_element ? std::optional(implicit_number) : std::nullopt;
    case base_type::int_:
    case base_type::sym_int:
        if (v.is() == kind::integer || symbol_is(program::value_kind::sym_int)) return is_held ? implicit_number : 0;
        return is_one_element ? std::optional(implicit_number) : std::nullopt;
    case base_type::float_:
    case base_type::sym_float:
        if (v.is() == kind::real || symbol_is(program::value_kind::sym_float)) return is_held ? implicit_number : 0;
        if (v.is() == kind::integer || symbol_is(program::value_kind::sym_int)) return 3;
        return is_one_element ? std::optional(implicit_number) : std::nullopt;
    case base_type::bool_:
    case base_type::sym_bool:
        return v.is() == kind::boolean || symbol_is(program::value_kind::sym_bool) ? std::optional(0) : std::nullopt;
    case base_type::str: return v.text() != nullptr ? std::optional(0) : std::nullopt;
    case base_type::scalar_type:
    case base_type::layout:
    case base_type::memory_format: return v.is() == kind::integer && !is_held ? std::optional(1) : std::nullopt;
    case base_type::device: return v.is() == kind::device || v.is() == kind::text ? std::optional(0) : std::nullopt;
    default: return {};
    }
}

std::optional<int> interpreter::cost_of(aten::schema_type const& type, value const& v) {
    if (v.is() == kind::none) return type.optional ? std::optional(0) : std::nullopt;
    if (!type.list) return cost_of_element(type, v);
    if (v.is() != kind::list && v.is() != kind::tuple) {
        std::optional<int> const one = type.list_size > 0 ? cost_of_element(type, v) : std::nullopt;
        return one ? std::optional(*one + 2) : std::nullopt;
    }
    int worst = 0;
    for (value const& each : v.list()->items) {
        if (each.is() == kind::none && type.element_optional) continue;
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
    int cost = aten::parse_head(o.schema).overload.starts_with("prim") ? only_in_torchscript : 0;
    for (std::size_t i = 0; i != given.positional.size(); ++i) {
        if (o.arguments[i].keyword_only && o.arguments[i].type.mutates) return {};
        if (o.arguments[i].keyword_only) cost += positional_keyword;
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

program::argument interpreter::argument_of(aten::schema_type const& type, value const& v) {
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
                                                      : program::value_ref(values_.tensor_of(each)));
            return made::of_tensors(std::move(all));
        }
        if (type.base == base_type::str) {
            std::vector<std::string> all;
            for (value const& each : items) all.push_back(text_of(constant_in(at_, each, "a string of a list")));
            return made::of_texts(std::move(all));
        }
        std::vector<program::number> all;
        for (value const& each : items) all.push_back(values_.number_of(each));
        return made::of_numbers(std::move(all));
    }
    switch (type.base) {
    case base_type::tensor: return made::of_tensor(values_.tensor_of(v));
    case base_type::str: return made::of_text(text_of(constant_in(at_, v, "a string")));
    case base_type::scalar_type: {
        std::int64_t const code = constant_in(at_, v, "a dtype").number().to<std::int64_t>();
        dtype const t = aten::scalar_type(code);
        std::string_view const name = aten::scalar_type_name(code);
        if (t == dtype::undefined && !name.empty())
            at_.fail("uses the dtype " + std::string(name) + ", which ONNX does not have");
        if (t == dtype::undefined) at_.fail("uses the unknown dtype " + std::to_string(code));
        return made::of_type(t);
    }
    case base_type::layout:
        if (v.integer() != 0) at_.fail("uses a layout that is not strided");
        return made::of_tag("strided");
    case base_type::memory_format:
        for (std::size_t i = 0; i != std::size(memory_formats); ++i)
            if (v.integer() == static_cast<std::int64_t>(i)) return made::of_tag(std::string(memory_formats[i]));
        at_.fail("uses the unknown memory format " + text_of(constant_in(at_, v, "a memory format")));
    case base_type::device: return made::of_tag(text_of(constant_in(at_, v, "a device")));
    default: return made::of_number(values_.number_of(v));
    }
}

value interpreter::call_operator(std::string const& op, call_arguments const& operands) {
    if (std::optional<value> out = quantized_.call(op, operands)) return *std::move(out);
    call_arguments const given = autocast_ == dtype::undefined ? operands : autocast(op, operands);
    if (op.ends_with('_') && !op.ends_with("__") && !given.positional.empty() &&
        given.positional[0].is_number_as_tensor() && !given.positional[0].is_weak()) {
        // Traced code has a variable for each result, so that the old one is not read again.
        std::string const functional = op.substr(0, op.size() - 1);
        return call_path("torch." + functional.substr(functional.find("::") + 2), given);
    }
    if (op == "aten::to" && given.positional.size() >= 2 && given.positional[0].acts_as_tensor() &&
        given.positional[1].is() == kind::device) {
        // The device has no meaning in a graph; only the dtype is left.
        bool const has_type = given.positional.size() > 2 && given.positional[2].is() == kind::integer;
        call_arguments rest{{given.positional[0]}, {}};
        bool const copies = given.positional.size() > 4 && given.positional[4].is_true();
        if (copies) rest.positional[0] = call_operator("aten::clone", rest);
        bool const is_same_type = has_type && types_.type_of(values_.tensor_of(rest.positional[0])).type ==
                                                  aten::scalar_type(*given.positional[2].integer());
        if (!has_type || is_same_type) return rest.positional[0]; // torch returns the tensor itself
        rest.positional.push_back(given.positional[2]);
        return call_operator(op, rest);
    }
    if (op == "aten::to" && given.named.empty() && has_type_already(given.positional)) return given.positional[0];
    if ((op == "aten::tensor" || op == "aten::as_tensor") && !given.positional.empty() &&
        !given.positional[0].acts_as_tensor())
        return make_tensor(given);
    if (op == "aten::as_tensor") return convert_type(given);
    if (op == "aten::unbind")
        if (std::optional<value> rows = unbind(given)) return *std::move(rows);
    if (std::optional<value> parts = open_parts(op, given)) return *std::move(parts);
    if (op == "aten::_pad_packed_sequence" && given.positional.size() == 5 &&
        given.positional[4].is() == kind::symbol && given.positional[1].is() == kind::tensor) {
        // pad_packed_sequence() without total_length gives the number of batch_sizes, which is what 0 stands for.
        inferred_type const steps = types_.type_of(given.positional[1].computed());
        if (steps.sizes.size() == 1 && steps.sizes[0] == build_.extent_of(given.positional[4])) {
            call_arguments longest = given;
            longest.positional[4] = value::of(std::int64_t{0});
            return call_operator(op, longest);
        }
    }
    if (op == "aten::cpu" || op == "aten::cuda") return call_operator("aten::alias", {{given.positional.at(0)}, {}});
    if (op == "aten::as_strided_" || op == "aten::set_" || op == "aten::resize_" || op == "aten::resize_as_")
        at_.fail("calls " + in_quotes(op) +
                 ", which depends on the memory layout of tensors; archives do not record it");
    bool const writes = op.ends_with('_') && !op.ends_with("__");
    if (writes && !given.positional.empty() && given.positional[0].is() != kind::tensor &&
        given.positional[0].is() != kind::weight)
        at_.fail("calls " + in_quotes(op) + ", which would write to " + std::string(describe(given.positional[0])));
    std::vector<overload> const& all = overloads_of(op);
    if (all.empty()) {
        bool const is_torchs = op.starts_with("aten::") || op.starts_with("prim");
        at_.fail("calls " + in_quotes(op) + ", which neither torch nor a table declares" +
                 (is_torchs ? "" : "; write a row for it: aton stub begins one"));
    }
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
        at_.fail("no overload of " + in_quotes(op) + " accepts (" + kinds + ")");
    }
    std::string refusal;
    auto const is_weak = [](value const& v) { return v.is_weak(); };
    if (std::any_of(given.positional.begin(), given.positional.end(), is_weak)) {
        candidate const& best = candidates.front();
        for (std::size_t i = 0; i != best.bound.size(); ++i)
            if (best.bound[i] != nullptr && best.bound[i]->is_weak() &&
                best.chosen->arguments[i].type.base == base_type::tensor) {
                call_arguments const strong = without_weak_types(given);
                bool const changed = std::count_if(strong.positional.begin(), strong.positional.end(), is_weak) !=
                                     std::count_if(given.positional.begin(), given.positional.end(), is_weak);
                if (changed) return call_operator(op, strong);
                break;
            }
    }
    for (candidate const& each : candidates) {
        program::node n;
        n.op = each.chosen->op;
        n.schema = each.chosen->schema;
        for (std::size_t i = 0; i != each.bound.size(); ++i)
            if (each.bound[i] != nullptr)
                n.arguments.push_back(argument_of(each.chosen->arguments[i].type, *each.bound[i])
                                          .named(std::string(each.chosen->arguments[i].name)));
        if (!each.chosen->is_torchs) n.schema = {};
        n.origin = build_.origin_here();
        try {
            std::vector<inferred_result> const types = types_.types_of(n, *each.chosen);
            return add_results(std::move(n), *each.chosen, types);
        } catch (error const& e) {
            if (refusal.empty()) refusal = e.what();
        }
    }
    if (refusal.starts_with(code_.path() + ": ")) throw error(refusal); // it has the line already
    at_.fail(refusal);
}

value interpreter::add_results(program::node n, overload const& o, std::vector<inferred_result> const& types) {
    std::string const name(operator_name(n.op));
    if (!o.returns.empty() && types.size() < o.returns.size())
        at_.fail("'" + n.op + "' has " + std::to_string(o.returns.size()) + " results, but its mapping returns " +
                 std::to_string(types.size()));
    std::vector<value> results;
    for (std::size_t i = 0; i != o.returns.size(); ++i) {
        program::result& made = n.results.emplace_back();
        made.is_list = o.returns[i].type.list;
        if (made.is_list != types[i].is_list)
            at_.fail("the results of the mapping of '" + n.op + "' do not match its schema");
        std::vector<value> all;
        for (inferred_type const& each : types[i].types) {
            if (o.returns[i].type.base != aten::base_type::tensor)
                at_.fail("'" + n.op + "' returns " + std::string(o.returns[i].type.text) + ", which is not supported");
            if (each.type == dtype::undefined || !each.has_rank)
                at_.fail("the type of a result of '" + n.op + "' is not known");
            made.values.push_back(build_.add_tensor(name, each));
            elements_.note(made.values.back(), each.elements);
            all.push_back(value::of(kind::tensor, made.values.back()));
        }
        if (all.empty() && !made.is_list && o.returns[i].type.base == aten::base_type::tensor) {
            // The mapping does not compute it. A value without a type: what uses it is refused.
            made.values.push_back(build_.add_value(name, program::value_kind::tensor));
            all.push_back(value::of(kind::tensor, made.values.back()));
        }
        if (made.is_list) results.push_back(heap_.list(std::move(all)));
        else results.push_back(all.empty() ? value{} : all[0]);
    }
    gradients_.note(build_.made(), n);
    n.name = n.results.empty() || n.results[0].values.empty() ? build_.unique_name(name)
                                                              : build_.value_at(n.results[0].values[0]).name;
    if (!types_.note_resized(n, o)) note_aliases(n, o);
    types_.note_resized_outs(n, o);
    build_.nodes().push_back(std::move(n));
    at_.spend(1);
    if (results.empty()) return {};
    return results.size() == 1 ? results[0] : heap_.tuple(std::move(results));
}

} // namespace ATON_NAMESPACE::torchscript
