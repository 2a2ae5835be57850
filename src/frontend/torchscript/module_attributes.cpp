// SPDX-License-Identifier: MIT
#include "module_attributes.hpp"

#include <algorithm>

#include <aton/aten/schema_table.hpp>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;

bool has_only(program::expression const& e, std::set<std::string> const& symbols) {
    if (e.kind == program::expression_kind::symbol && !symbols.contains(e.symbol)) return false;
    return std::all_of(
        e.operands.begin(), e.operands.end(), [&](program::expression const& each) { return has_only(each, symbols); });
}

/// Whether two values are the same, or lists of the same values.
bool is_same_state(value const& a, value const& b, int depth = 0) {
    if (a.is_same(b)) return true;
    if (a.is() != b.is() || (a.is() != kind::list && a.is() != kind::tuple) || depth > 20) return false;
    return std::equal(a.list()->items.begin(),
                      a.list()->items.end(),
                      b.list()->items.begin(),
                      b.list()->items.end(),
                      [&](value const& x, value const& y) { return is_same_state(x, y, depth + 1); });
}

} // namespace

std::optional<held_value> module_attributes::held_of(value const& v, int depth) {
    held_value out;
    if (depth > 20) return {};
    if (constant const* const known = v.known(); known != nullptr && !v.is_number_as_tensor()) {
        out.known = *known;
        return out;
    }
    if (v.acts_as_tensor()) {
        inferred_type const type = types_.type_of(values_.tensor_of(v));
        out.is = held_as::tensor;
        out.type = type.type;
        for (auto const& each : type.sizes) {
            if (!each) return {};
            out.sizes.push_back(program::substitute(build_.expression_of(*each), {}));
            if (!has_only(out.sizes.back(), inputs_.dimensions())) return {};
        }
        return out;
    }
    if (v.is() == kind::symbol) {
        out.number = build_.kind_of(v);
        out.is = held_as::number;
        if (out.number != program::value_kind::sym_int) return out;
        program::expression size = program::substitute(build_.expression_of(build_.extent_of(v)), {});
        if (!has_only(size, inputs_.dimensions())) return out;
        out.is = held_as::size;
        out.size = std::move(size);
        return out;
    }
    if (v.is() != kind::list && v.is() != kind::tuple) return {};
    out.is = held_as::group;
    out.container = v.is();
    for (value const& each : v.list()->items) {
        std::optional<held_value> item = held_of(each, depth + 1);
        if (!item) return {};
        out.items.push_back(*std::move(item));
    }
    return out;
}

value module_attributes::value_of(held_value const& held, value const& saved, std::string const& name) {
    switch (held.is) {
    case held_as::saved: return saved;
    case held_as::constant: return value(held.known);
    case held_as::size:
        for (program::input const& in : build_.made().inputs) {
            if (in.value == program::no_value) continue;
            inferred_type const type = types_.type_of(in.value);
            for (std::size_t axis = 0; axis != type.sizes.size(); ++axis)
                if (type.sizes[axis] && program::substitute(build_.expression_of(*type.sizes[axis]), {}) == held.size)
                    return values_.size_value(in.value, axis);
        }
        at_.fail("the attribute " + in_quotes(name) + " keeps a number that is not the size of an input");
    case held_as::number: {
        dtype const type = held.number == program::value_kind::sym_int     ? dtype::int64
                           : held.number == program::value_kind::sym_float ? dtype::float64
                                                                           : dtype::bool_;
        return values_.convert_number("item", inputs_.add(name, {type, true, {}}));
    }
    case held_as::tensor:
    case held_as::zeros: {
        inferred_type type{held.type, true, {}};
        for (program::expression const& each : held.sizes) type.sizes.emplace_back(build_.extent_of(each));
        if (held.is == held_as::tensor) return inputs_.add(name, type);
        program::node n;
        n.op = "aten::zeros";
        n.schema = aten::find_schema(n.op);
        program::value_index const made = build_.add_tensor("zeros", type);
        build_.add_node(std::move(n), made); // for a comparison only: its size is that of the result
        return value::of(kind::tensor, made);
    }
    case held_as::group: {
        std::vector<value> items;
        for (std::size_t i = 0; i != held.items.size(); ++i)
            items.push_back(
                value_of(held.items[i],
                         saved.list() != nullptr && i < saved.list()->items.size() ? saved.list()->items[i] : value{},
                         name + '.' + std::to_string(i)));
        return held.container == kind::list ? heap_.list(std::move(items)) : heap_.tuple(std::move(items));
    }
    }
    return {};
}

void module_attributes::set_initial() {
    for (instance& object : heap_.instances) {
        if (!object.is_loaded || object.type == nullptr) continue;
        for (auto& [name, held] : object.attributes) {
            auto const found = before_.held.find({object.path, name});
            if (found == before_.held.end()) continue;
            held = value_of(found->second, held, text_of(found->first));
            assigned_.try_emplace(found->first, assigned{&object, held, {}});
        }
    }
}

void module_attributes::add_kept(held_value const& held, value const& now, std::string const& name) {
    if (held.is == held_as::group) {
        for (std::size_t i = 0; i != held.items.size(); ++i)
            add_kept(held.items[i], now.list()->items[i], name + '.' + std::to_string(i));
        return;
    }
    if (held.is != held_as::number && held.is != held_as::tensor) return;
    build_.add_output(held.is == held_as::tensor ? program::argument::of_tensor(values_.tensor_of(now))
                                                 : program::argument::of_number(values_.number_of(now)),
                      {program::output_kind::input_mutation, plain_name(name)});
}

void module_attributes::add_outputs() {
    for (auto const& [index, place] : buffers_) {
        value const& now = place.first->attributes[place.second];
        bool const is_unchanged = now.is() == kind::weight && now.weight() == index;
        bool const keeps_type = now.acts_as_tensor() && types_.type_of(values_.tensor_of(now)).sizes ==
                                                            types_.type_of(values_.use_weight(index)).sizes;
        if (is_unchanged || keeps_type) assigned_.erase({place.first->path, place.second});
        if (is_unchanged || !keeps_type) continue;
        bool const is_parameter = heap_.weights[index].role == program::input_kind::parameter;
        build_.add_output(
            program::argument::of_tensor(values_.tensor_of(now)),
            {is_parameter ? program::output_kind::parameter_mutation : program::output_kind::buffer_mutation,
             heap_.weights[index].name});
    }
    for (auto const& [name, each] : assigned_) {
        left_.places.emplace(name, each.place);
        value const& now = each.object->attributes[name.second];
        if (!before_.held.contains(name) && is_same_state(now, each.before)) continue;
        std::optional<held_value> const after = held_of(now);
        std::optional<held_value> const before = held_of(each.before);
        if (!after || !before)
            files::fail(each.place.empty() ? path_ : path_ + ": " + each.place,
                        "assigns " +
                            (now.is() == kind::tensor ? "a tensor whose sizes the model computes"
                                                      : std::string(describe(now))) +
                            " to the attribute " + in_quotes(text_of(name)) +
                            " of the module, which cannot be kept until the next call; numbers, tensors, and lists of "
                            "them can");
        left_.after.emplace(name, *after);
        left_.saved.emplace(name, *before);
        if (auto const kept = before_.kept.find(name); kept != before_.kept.end())
            add_kept(kept->second, now, text_of(name));
    }
}

void module_attributes::set(instance& object, std::string const& name, value const& v) {
    value& held = object.attributes[name];
    if (object.is_loaded) {
        assigned_.try_emplace({object.path, name}, assigned{&object, held, at_.where()});
        // Buffers that are the same tensor are the same state.
        if (held.is() == kind::weight) buffers_.emplace(held.weight(), std::pair{&object, name});
    }
    if (object.serial < heap_.fence) changed_.try_emplace({object.serial, name}, outside_attribute{&object, held});
    held = v;
}

} // namespace ATON_NAMESPACE::torchscript
