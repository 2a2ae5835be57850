// SPDX-License-Identifier: MIT
// Arguments of `forward` that have the same value in every call of the model: `--input sr=16000`.
#include <string>
#include <string_view>
#include <utility>

#include "declared_types.hpp"
#include "expression_parser.hpp"
#include "frontend/files/text.hpp"
#include "module_inputs.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;

class literal_parser : expression_parser {
public:
    literal_parser(std::string_view text, std::string const& where) : expression_parser(tokenize(text, where), where) {}

    expr whole() {
        expr out = read_expression();
        if (now().is != token_kind::line && now().is != token_kind::end)
            fail("expected one value, found " + describe());
        return out;
    }
};

bool is_literal(expr const& e) {
    bool const is_value = e.is != expr_kind::name && e.is != expr_kind::attribute && e.is != expr_kind::subscript &&
                          e.is != expr_kind::call && e.is != expr_kind::conditional;
    for (expr const& each : e.items)
        if (!is_literal(each)) return false;
    return is_value;
}

bool is_named(expr const& type, std::string_view name) { return type.is == expr_kind::name && type.text == name; }

} // namespace

value module_inputs::constant_argument(input_type const& given, expr const* declared) {
    std::string const place = "input " + in_quotes(given.name);
    std::string const& text = *given.constant;
    expr const* type = without_optional(declared);
    if (type == nullptr || is_named(*type, "Tensor"))
        at_.fail(place + " is a tensor, which cannot be constant: give its type, for example --input " + given.name +
                 ":float32[1,3,224,224]");
    bool const is_text = is_named(*type, "str") || is_named(*type, "Device");
    bool const is_quoted = !text.empty() && (text.front() == '\'' || text.front() == '"');
    if (is_text && !is_quoted && (type == declared || text != "None"))
        return value::of(is_named(*type, "str") ? kind::text : kind::device, text);
    expr const literal = literal_parser(text, path_ + ": " + place).whole();
    if (!is_literal(literal))
        at_.fail(place + " is not a constant: " + in_quotes(text) +
                 "; write a number, a string in quotes, True, False, None, or a list");
    value out = code_.evaluate(literal);
    if (is_named(*type, "float") && out.integer()) out = values_.convert_number("float", out);
    bool const fits = is_named(*type, "number") ? out.is_number() : is_instance(out, *declared, build_, at_);
    if (!fits) at_.fail(place + " is " + text_of(*declared) + ", not " + in_quotes(text));
    return out;
}

} // namespace ATON_NAMESPACE::torchscript
