// SPDX-License-Identifier: MIT
#include "declared_types.hpp"

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::torchscript {

using files::in_quotes;

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

dtype element_type(expr const& type) {
    if (type.is == expr_kind::subscript) return element_type(type.items[1]);
    return type.text == "int"     ? dtype::int64
           : type.text == "float" ? dtype::float32
           : type.text == "bool"  ? dtype::bool_
                                  : dtype::undefined;
}

bool is_instance(value const& v, expr const& type, program_builder const& build, code_position const& at) {
    if (v.is() == kind::either) return is_instance(v.list()->items[1], type, build, at); // both are tensors
    if (v.is() == kind::nothing || v.is() == kind::optional)
        at.fail("asks for the type of " + std::string(describe(v)));
    if (type.is == expr_kind::tuple || type.is == expr_kind::list) {
        for (expr const& each : type.items)
            if (is_instance(v, each, build, at)) return true;
        return false;
    }
    if (type.is == expr_kind::none) return v.is() == kind::none;
    std::string const& name = type.is == expr_kind::subscript ? type.items[0].text : type.text;
    auto const symbol_is = [&](program::value_kind k) { return v.is() == kind::symbol && build.kind_of(v) == k; };
    if (name == "Tensor") return v.acts_as_tensor();
    if (name == "int") return v.is() == kind::integer || symbol_is(program::value_kind::sym_int);
    if (name == "float") return v.is() == kind::real || symbol_is(program::value_kind::sym_float);
    if (name == "bool") return v.is() == kind::boolean || symbol_is(program::value_kind::sym_bool);
    if (name == "complex") return v.is() == kind::complex;
    if (name == "str") return v.is() == kind::text || v.is() == kind::open_text;
    if (name == "Device") return v.is() == kind::device;
    if (name == "NoneType") return v.is() == kind::none;
    if (type.is == expr_kind::subscript) {
        if (name == "Optional") return v.is() == kind::none || is_instance(v, type.items[1], build, at);
        if (name == "Tuple") return v.is() == kind::tuple;
        if (name == "Dict")
            return v.is() == kind::dict && (v.dict()->items.empty() || type.items[1].items.size() != 2 ||
                                            is_instance(v.dict()->items[0].second, type.items[1].items[1], build, at));
        if (name == "List")
            return v.is() == kind::list &&
                   (v.list()->items.empty() || is_instance(v.list()->items[0], type.items[1], build, at));
    }
    if (name == "list") return v.is() == kind::list;
    if (name == "tuple") return v.is() == kind::tuple;
    if (v.is() == kind::object) return v.object()->type != nullptr && v.object()->type->name == name;
    at.fail("isinstance() with the type " + in_quotes(name) + ", which is not supported");
}

} // namespace ATON_NAMESPACE::torchscript
