// SPDX-License-Identifier: MIT
#include "module_inputs.hpp"

#include <algorithm>

#include "declared_types.hpp"
#include "frontend/files/text.hpp"
#include "module_state.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;

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

value module_inputs::add(input_type const& type) {
    inferred_type made{type.type, true, {}};
    for (dim const& d : type.sizes) {
        if (d.is_static()) {
            made.sizes.emplace_back(program::extent{d.size(), program::extent::none});
            continue;
        }
        std::string const name(d.symbol());
        dimensions_.insert(name);
        made.sizes.emplace_back(build_.named_extent(name));
    }
    return add(type.name, made);
}

value module_inputs::add(std::string const& name, inferred_type const& type) {
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

value module_inputs::argument(input_type const& given, expr const* type) {
    if (given.constant) return constant_argument(given, type);
    type = without_optional(type);
    bool const makes_number = is_number(type);
    if (makes_number && !given.sizes.empty())
        at_.fail("input " + in_quotes(given.name) + " is " + text_of(*type) +
                 ": it has no dimensions: " + example_options(given.name, type));
    value const made = add(given);
    if (makes_number) numbers_.push_back(given.name);
    return makes_number ? values_.convert_number(type->text == "number" ? "item" : type->text,
                                                 values_.convert_number("item", made))
                        : made;
}

value module_inputs::group(std::string const& name, expr const* type) {
    type = without_optional(type);
    bool const is_dict = is_group_of(type, "Dict");
    bool const is_tuple = is_group_of(type, "Tuple");
    std::vector<value> items;
    value dict = heap_.dict();
    std::set<std::string> made;
    for (input_type const& each : given_) {
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
        value const v = is_nested ? group(name + '.' + key, element) : argument(each, element);
        if (is_dict) dict.dict()->items.emplace_back(constant(kind::text, key), v);
        else items.push_back(v);
    }
    if (is_dict) return dict;
    if (is_tuple && type_of_element(type, items.size()) != nullptr)
        at_.fail("an element of " + in_quotes(name) + ", " + text_of(*type) + ", is missing: give its type with " +
                 example_options(name + '.' + std::to_string(items.size()), type_of_element(type, items.size())));
    return is_tuple ? heap_.tuple(std::move(items)) : heap_.list(std::move(items));
}

call_arguments module_inputs::make(function_code const& forward, value const& module) {
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
        for (input_type const& each : given_) {
            if (each.name == p.name) {
                if (!used.insert(each.name).second) at_.fail("input " + in_quotes(each.name) + " is given twice");
                expr const* const bare = without_optional(type);
                if (is_group(bare) && !each.constant)
                    at_.fail("the argument " + in_quotes(p.name) + " of forward is " + text_of(*type) +
                             ": give its elements: " + example_options(p.name, type));
                if (bare != nullptr && text_of(*bare) != "Tensor" && !is_number(bare) && !each.constant)
                    at_.fail("the argument " + in_quotes(p.name) + " of forward is " + text_of(*type) +
                             ", not a tensor: give its value, --input " + p.name + "=VALUE");
                out.named.emplace_back(p.name, argument(each, type));
                is_given = true;
            } else if (each.name.starts_with(p.name + '.')) {
                if (!used.insert(each.name).second) at_.fail("input " + in_quotes(each.name) + " is given twice");
                is_given_in_parts = true;
            }
        }
        if (is_given_in_parts && !is_given) out.named.emplace_back(p.name, group(p.name, type));
        else if (!is_given && !p.fallback)
            at_.fail("the argument " + in_quotes(p.name) + " of forward" +
                     (type == nullptr ? "" : ", " + text_of(*type) + ",") + " is missing: give its type with " +
                     example_options(p.name, type));
    }
    for (input_type const& each : given_)
        if (!used.contains(each.name))
            at_.fail("forward has no argument " + in_quotes(each.name) + "; it has " +
                     (known.empty() ? "none" : known));
    return out;
}

} // namespace ATON_NAMESPACE::torchscript
