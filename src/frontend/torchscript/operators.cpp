// SPDX-License-Identifier: MIT
// Calls of operators: makes a node of the overload that the arguments fit best.
#include "interpreter.hpp"

#include <algorithm>

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

} // namespace

value interpreter::call_operator(std::string const& op, call_arguments const& operands) {
    if (std::optional<value> out = quantized_.call(op, operands)) return *std::move(out);
    call_arguments const given = autocast_.cast(op, operands);
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
    if (op == "aten::to" && given.named.empty() && conversions_.has_type_already(given.positional))
        return given.positional[0];
    if ((op == "aten::tensor" || op == "aten::as_tensor") && !given.positional.empty() &&
        !given.positional[0].acts_as_tensor())
        return conversions_.make_tensor(given);
    if (op == "aten::as_tensor") return conversions_.convert_type(given);
    if (op == "aten::unbind")
        if (std::optional<value> rows = open_lists_.unbind(given)) return *std::move(rows);
    if (std::optional<value> parts = open_lists_.split(op, given)) return *std::move(parts);
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
    std::string refusal;
    auto const is_weak = [](value const& v) { return v.is_weak(); };
    if (std::any_of(given.positional.begin(), given.positional.end(), is_weak)) {
        fitting_overload const& best = candidates.front();
        for (std::size_t i = 0; i != best.bound.size(); ++i)
            if (best.bound[i] != nullptr && best.bound[i]->is_weak() &&
                best.chosen->arguments[i].type.base == base_type::tensor) {
                call_arguments const strong = conversions_.without_weak_types(given);
                bool const changed = std::count_if(strong.positional.begin(), strong.positional.end(), is_weak) !=
                                     std::count_if(given.positional.begin(), given.positional.end(), is_weak);
                if (changed) return call_operator(op, strong);
                break;
            }
    }
    for (fitting_overload const& each : candidates) {
        program::node n;
        n.op = each.chosen->op;
        n.schema = each.chosen->schema;
        for (std::size_t i = 0; i != each.bound.size(); ++i)
            if (each.bound[i] != nullptr)
                n.arguments.push_back(argument_of(each.chosen->arguments[i].type, *each.bound[i], values_, at_)
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
