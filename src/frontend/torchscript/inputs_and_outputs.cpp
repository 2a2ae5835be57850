// SPDX-License-Identifier: MIT
// The inputs of a program: the tensors of the module, and the arguments of `forward` with the types that the user gives. Its outputs.
#include "interpreter.hpp"

#include <algorithm>
#include <set>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;

bool lists_name(class_code const& type, std::string_view list, std::string_view name) {
    for (class_attribute const& each : type.attributes)
        if (each.name == list && each.value)
            for (expr const& item : each.value->items)
                if (item.text == name) return true;
    return false;
}

/// Whether a type is List[...], Tuple[...] or Dict[...].
bool is_group_of(expr const* type, std::string_view container) {
    return type != nullptr && type->is == expr_kind::subscript && text_of(type->items[0]) == container;
}
bool is_group(expr const* type) {
    return is_group_of(type, "List") || is_group_of(type, "Tuple") || is_group_of(type, "Dict");
}
bool is_number(expr const* type) {
    return type != nullptr && type->is == expr_kind::name &&
           (type->text == "int" || type->text == "float" || type->text == "bool" || type->text == "number");
}
/// The type of an element of a list or dict, or of the element `i` of a tuple; null if it is not known.
expr const* type_of_element(expr const* type, std::size_t i) {
    if (!is_group(type)) return nullptr;
    expr const& inner = type->items[1];
    bool const is_several = inner.is == expr_kind::tuple;
    if (is_group_of(type, "Dict")) i = 1; // the type of its values, after that of its keys
    else if (!is_several) return i == 0 || is_group_of(type, "List") ? without_optional(&inner) : nullptr;
    return is_several && i < inner.items.size() ? without_optional(&inner.items[i]) : nullptr;
}
/// How to give an argument: "--input x:float32[1,3,224,224]", or an option for each tensor of a tuple, list or dict.
std::string example_options(std::string const& name, expr const* type) {
    type = without_optional(type);
    if (is_number(type)) return "--input " + name + ':' + (type->text == "number" ? "float" : type->text);
    if (!is_group(type)) return "--input " + name + ":float32[1,3,224,224]";
    if (is_group_of(type, "Dict")) return example_options(name + ".KEY", type_of_element(type, 1));
    bool const is_tuple = is_group_of(type, "Tuple");
    std::string out;
    for (std::size_t i = 0; out.size() < 200; ++i) {
        expr const* const element = type_of_element(type, i);
        if (is_tuple ? element == nullptr : i == 2) break;
        (out += out.empty() ? "" : " ") += example_options(name + '.' + std::to_string(i), element);
    }
    return out;
}

} // namespace

std::string text_of(expr const& type) {
    if (type.is == expr_kind::none) return "None";
    if (type.is == expr_kind::attribute) return text_of(type.items[0]) + '.' + type.text;
    if (type.is == expr_kind::subscript) return text_of(type.items[0]) + '[' + text_of(type.items[1]) + ']';
    if (type.is != expr_kind::tuple) return type.text;
    std::string out;
    for (expr const& each : type.items) (out += out.empty() ? "" : ", ") += text_of(each);
    return out;
}

expr const* without_optional(expr const* type) {
    while (type != nullptr && type->is == expr_kind::subscript && text_of(type->items[0]) == "Optional")
        type = &type->items[1];
    return type;
}

/// Names all objects and tensors by their first place in the module, and finds their classes.
void interpreter::name_weights(value const& module) {
    std::set<void const*> seen;
    struct place {
        value held;
        std::string path;
        program::input_kind role = program::input_kind::buffer;
    };
    std::vector<place> left{{module, {}}};
    while (!left.empty()) {
        place const now = std::move(left.back());
        left.pop_back();
        std::vector<place> inner;
        auto const below = [&](std::string const& name) { return now.path.empty() ? name : now.path + '.' + name; };
        if (now.path.size() > 4000) at_.fail("the modules are nested too deeply");
        switch (now.held.is()) {
        case kind::weight: {
            weight& w = heap_.weights[now.held.weight()];
            if (w.name.empty()) {
                w.name = now.path;
                w.role = now.role;
            }
            break;
        }
        case kind::object: {
            instance& object = *now.held.object();
            if (!seen.insert(&object).second) break;
            object.path = now.path;
            object.type = code_.find_class(object.class_name);
            for (auto const& [name, each] : object.attributes) {
                bool const is_parameter = object.type != nullptr && lists_name(*object.type, "__parameters__", name);
                inner.push_back(
                    {each, below(name), is_parameter ? program::input_kind::parameter : program::input_kind::buffer});
            }
            break;
        }
        case kind::list:
        case kind::tuple:
            if (!seen.insert(now.held.list()).second) break;
            for (std::size_t i = 0; i != now.held.list()->items.size(); ++i)
                inner.push_back({now.held.list()->items[i], below(std::to_string(i)), now.role});
            break;
        case kind::dict:
            if (!seen.insert(now.held.dict()).second) break;
            for (auto const& [key, each] : now.held.dict()->items)
                inner.push_back({each, below(text_of(key)), now.role});
            break;
        default: break;
        }
        std::move(inner.rbegin(), inner.rend(), std::back_inserter(left)); // in their order
    }
}

value interpreter::make_input(input_type const& type) {
    inferred_type made{type.type, true, {}};
    for (dim const& d : type.sizes) {
        if (d.is_static()) {
            made.sizes.emplace_back(program::extent{d.size(), program::extent::none});
            continue;
        }
        std::string const name(d.symbol());
        state_.dimensions.insert(name);
        made.sizes.emplace_back(build_.named_extent(name));
    }
    return make_input(type.name, made);
}

value interpreter::make_input(std::string const& name, inferred_type const& type) {
    std::string plain = plain_name(name);
    program::value_index const v = build_.add_tensor(plain, type);
    std::int64_t stride = 1; // inputs are contiguous
    std::vector<program::extent>& strides = build_.value_at(v).strides;
    bool const is_static =
        std::all_of(type.sizes.begin(), type.sizes.end(), [](auto const& each) { return each && each->is_number(); });
    if (is_static) {
        strides.resize(type.sizes.size());
        for (std::size_t i = type.sizes.size(); i-- > 0;) {
            strides[i] = {stride, program::extent::none};
            if (__builtin_mul_overflow(stride, std::max<std::int64_t>(type.sizes[i]->number, 1), &stride))
                at_.fail("input " + in_quotes(name) + " is too large");
        }
    }
    program::input in;
    in.value = v;
    in.target = std::move(plain);
    build_.add_input(std::move(in));
    return value::of(kind::tensor, v);
}

/// A tensor, or the number that an argument of type int, float or bool gets from a tensor.
value interpreter::make_input(input_type const& given, expr const* type) {
    if (given.constant) return constant_input(given, type);
    type = without_optional(type);
    bool const makes_number = is_number(type);
    if (makes_number && !given.sizes.empty())
        at_.fail("input " + in_quotes(given.name) + " is " + text_of(*type) +
                 ": it has no dimensions: " + example_options(given.name, type));
    value const made = make_input(given);
    if (makes_number) number_inputs_.push_back(given.name);
    return makes_number ? values_.convert_number(type->text == "number" ? "item" : type->text,
                                                 values_.convert_number("item", made))
                        : made;
}

/// The value of an argument whose elements are given one by one: "x.0", "x.1", or "x.key"; "x.1.0" of a tuple in a tuple.
value interpreter::group_inputs(std::string const& name, expr const* type) {
    type = without_optional(type);
    bool const is_dict = is_group_of(type, "Dict");
    bool const is_tuple = is_group_of(type, "Tuple");
    std::vector<value> items;
    value dict = heap_.dict();
    std::set<std::string> made;
    for (input_type const& each : options_.inputs) {
        if (!each.name.starts_with(name + '.')) continue;
        std::string const rest = each.name.substr(name.size() + 1);
        bool const is_nested =
            is_group(type_of_element(type, items.size())) || made.contains(rest.substr(0, rest.find('.')));
        std::string const key = is_nested ? rest.substr(0, rest.find('.')) : rest;
        if (is_nested && !made.insert(key).second) continue; // with the first one of its elements
        expr const* const element = type_of_element(type, items.size());
        if (!is_dict && key != std::to_string(items.size()))
            at_.fail("input " + in_quotes(each.name) + ": the elements of " + in_quotes(name) +
                     " are given in order: " + in_quotes(name + '.' + std::to_string(items.size())) + " is next");
        if (is_nested && key == rest)
            at_.fail("input " + in_quotes(each.name) + " is " + text_of(*element) +
                     ": give its elements: " + example_options(each.name, element));
        value const v = is_nested ? group_inputs(name + '.' + key, element) : make_input(each, element);
        if (is_dict) dict.dict()->items.emplace_back(constant(kind::text, key), v);
        else items.push_back(v);
    }
    if (is_dict) return dict;
    if (is_tuple && type_of_element(type, items.size()) != nullptr)
        at_.fail("an element of " + in_quotes(name) + ", " + text_of(*type) + ", is missing: give its type with " +
                 example_options(name + '.' + std::to_string(items.size()), type_of_element(type, items.size())));
    return is_tuple ? heap_.tuple(std::move(items)) : heap_.list(std::move(items));
}

call_arguments interpreter::make_inputs(function_code const& forward, value const& module) {
    call_arguments out;
    std::set<std::string> used;
    std::string known;
    for (std::size_t i = 1; i < forward.parameters().size(); ++i)
        (known += known.empty() ? "" : ", ") += in_quotes(forward.parameters()[i].name);
    out.positional.push_back(module);
    for (std::size_t i = 1; i < forward.parameters().size(); ++i) {
        parameter const& p = forward.parameters()[i];
        expr const* const type = p.type ? &*p.type : nullptr;
        bool is_given = false;
        bool is_given_in_parts = false;
        for (input_type const& each : options_.inputs) {
            if (each.name == p.name) {
                if (!used.insert(each.name).second) at_.fail("input " + in_quotes(each.name) + " is given twice");
                expr const* const bare = without_optional(type);
                if (is_group(bare) && !each.constant)
                    at_.fail("the argument " + in_quotes(p.name) + " of forward is " + text_of(*type) +
                             ": give its elements: " + example_options(p.name, type));
                if (bare != nullptr && text_of(*bare) != "Tensor" && !is_number(bare) && !each.constant)
                    at_.fail("the argument " + in_quotes(p.name) + " of forward is " + text_of(*type) +
                             ", not a tensor: give its value, --input " + p.name + "=VALUE");
                out.named.emplace_back(p.name, make_input(each, type));
                is_given = true;
            } else if (each.name.starts_with(p.name + '.')) {
                if (!used.insert(each.name).second) at_.fail("input " + in_quotes(each.name) + " is given twice");
                is_given_in_parts = true;
            }
        }
        if (is_given_in_parts && !is_given) out.named.emplace_back(p.name, group_inputs(p.name, type));
        else if (!is_given && !p.fallback)
            at_.fail("the argument " + in_quotes(p.name) + " of forward" +
                     (type == nullptr ? "" : ", " + text_of(*type) + ",") + " is missing: give its type with " +
                     example_options(p.name, type));
    }
    for (input_type const& each : options_.inputs)
        if (!used.contains(each.name))
            at_.fail("forward has no argument " + in_quotes(each.name) + "; it has " +
                     (known.empty() ? "none" : known));
    return out;
}

void interpreter::add_output(value const& v, std::string const& path, int depth) {
    at_.spend(1);
    if (depth > 100) at_.fail("the outputs are nested more than 100 levels deep");
    auto const below = [&](std::string const& name) { return path.empty() ? name : path + '.' + name; };
    auto const add = [&](program::argument a) { build_.add_output(std::move(a), {program::output_kind::user, path}); };
    switch (v.is()) {
    case kind::none: break;
    case kind::tensor:
    case kind::weight: add(program::argument::of_tensor(values_.tensor_of(v))); break;
    case kind::boolean:
    case kind::integer:
    case kind::real:
    case kind::symbol:
        if (v.is_number_as_tensor()) add(program::argument::of_tensor(values_.tensor_of(v)));
        else add(program::argument::of_number(values_.number_of(v)));
        break;
    case kind::list:
    case kind::tuple: {
        std::vector<std::string> names;
        if (v.list()->fields != nullptr)
            for (class_attribute const& each : v.list()->fields->attributes)
                if (each.type) names.push_back(each.name);
        for (std::size_t i = 0; i != v.list()->items.size(); ++i)
            add_output(v.list()->items[i],
                       i < names.size() ? below(names[i])
                       : path.empty()   ? path
                                        : below(std::to_string(i)),
                       depth + 1);
        break;
    }
    case kind::dict:
        for (auto const& [key, each] : v.dict()->items) add_output(each, below(text_of(key)), depth + 1);
        break;
    default: at_.fail("returns " + std::string(describe(v)) + ", which a graph cannot");
    }
}

} // namespace ATON_NAMESPACE::torchscript
