// SPDX-License-Identifier: MIT
#include "stub_rows.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <aton/aten/mutation.hpp>
#include <aton/aten/schema_text.hpp>
#include <aton/dsl/parameter.hpp>

#include "commands.hpp"

namespace aton::tool {

namespace {

/// Names that a parameter cannot have: keywords of C++, and names of the language that it would hide.
constexpr std::array reserved = {"alignas",       "alignof",
                                 "and",           "and_eq",
                                 "asm",           "auto",
                                 "bitand",        "bitor",
                                 "bool",          "break",
                                 "case",          "catch",
                                 "char",          "char16_t",
                                 "char32_t",      "char8_t",
                                 "class",         "co_await",
                                 "co_return",     "co_yield",
                                 "compl",         "concept",
                                 "const",         "const_cast",
                                 "consteval",     "constexpr",
                                 "constinit",     "continue",
                                 "decltype",      "default",
                                 "delete",        "do",
                                 "double",        "else",
                                 "enum",          "explicit",
                                 "export",        "extern",
                                 "false",         "float",
                                 "for",           "friend",
                                 "goto",          "if",
                                 "inline",        "int",
                                 "long",          "mutable",
                                 "namespace",     "new",
                                 "noexcept",      "not",
                                 "not_eq",        "nullptr",
                                 "operator",      "or",
                                 "or_eq",         "private",
                                 "protected",     "public",
                                 "register",      "reinterpret_cast",
                                 "requires",      "return",
                                 "short",         "signed",
                                 "sizeof",        "static",
                                 "static_assert", "static_cast",
                                 "struct",        "switch",
                                 "template",      "this",
                                 "thread_local",  "throw",
                                 "true",          "try",
                                 "typedef",       "typeid",
                                 "typename",      "union",
                                 "unsigned",      "using",
                                 "virtual",       "void",
                                 "volatile",      "wchar_t",
                                 "while",         "xor",
                                 "xor_eq",        "g",
                                 "value",         "optional_value",
                                 "size",          "number",
                                 "scalar",        "dtype",
                                 "device",        "layout",
                                 "graph",         "generator",
                                 "memory_format", "absent",
                                 "attr",          "table",
                                 "body",          "domain",
                                 "outputs",       "complex_value"};

std::string parameter_name(std::string_view name) {
    bool const is_reserved = std::find(reserved.begin(), reserved.end(), name) != reserved.end();
    return std::string(name) + (is_reserved ? "_" : "");
}

/// Text between the quotes of a string literal.
std::string in_literal(std::string_view text) {
    std::string out;
    for (char const c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

/// The C++ type of a parameter; empty: none can hold the argument.
std::string parameter_type(aten::schema_type const& t) {
    std::string out(dsl::detail::suggested_parameter(t));
    if (std::size_t const tensors = aten::tensors_of_tuple(t); tensors != 0)
        out = "std::array<value, " + std::to_string(tensors) + ">";
    return out.empty() || !t.list || !t.optional ? out : "std::optional<" + out + ">";
}

std::string result_type(aten::schema_type const& t) {
    return t.list ? "std::vector<value>" : t.optional ? "optional_value" : "value";
}

/// "// Returns std::tuple<value, value>: the result, and the new value of key." Empty if there are none.
std::string returned(std::string_view schema) {
    std::vector<std::string> types;
    std::string what;
    std::size_t results = 0;
    aten::functional_result r;
    for (aten::functional_cursor cursor(schema); cursor.next(r);) {
        types.push_back(result_type(r.type));
        if (r.written.empty()) ++results;
        else what += (what.empty() ? "the new value of " : ", of ") + std::string(r.written);
    }
    if (types.empty()) return {};
    std::string out = types.size() == 1 ? types.front() : "std::tuple<";
    for (std::size_t i = 0; types.size() > 1 && i != types.size(); ++i) out += (i == 0 ? "" : ", ") + types[i];
    if (types.size() > 1) out += '>';
    if (what.empty()) return out;
    std::string const first = results == 0 ? "" : results == 1 ? "the result, then " : "the results, then ";
    return out + ": " + first + what;
}

/// Whether a row names this argument. Those of torch's operators may be left out.
bool is_named(aten::schema_argument const& a, bool declared) {
    return !declared || (!parameter_type(a.type).empty() && a.type.base != aten::base_type::generator);
}

/// Why no row can map the operator; empty: it can.
std::string obstacle(std::string_view schema, bool declared) {
    aten::schema_argument a;
    aten::argument_cursor arguments(schema);
    while (arguments.next(a)) {
        if (declared || !parameter_type(a.type).empty()) continue;
        std::string const instead = a.type.base_text.starts_with("__torch__.")
                                        ? "its tensors and numbers as arguments"
                                        : std::string(dsl::detail::writable_instead(a.type));
        return "its argument " + std::string(a.name) + " is " + std::string(a.type.text) +
               ", which no C++ parameter type can hold; declare " + instead + " instead";
    }
    aten::return_cursor returns(schema);
    aten::schema_return r;
    for (int i = 1; returns.next(r); ++i)
        if (r.type.base == aten::base_type::other || r.type.base == aten::base_type::str ||
            r.type.base == aten::base_type::any)
            return "its result " + std::to_string(i) + " is " + std::string(r.type.text) + ", which no graph can have";
    if (arguments.is_vararg() || returns.is_vararg()) return "its schema has '...', for which there are no parameters";
    return {};
}

void add_comment(std::string& out, std::string const& text) { out += "    // " + plain(text) + '\n'; }

void add_places(std::string& out, stub const& op) {
    constexpr std::size_t shown = 3;
    std::string text;
    for (std::size_t i = 0; i != std::min(shown, op.places.size()); ++i) text += (i == 0 ? "" : ", ") + op.places[i];
    if (op.places.size() > shown) text += " and " + std::to_string(op.places.size() - shown) + " more";
    if (!text.empty()) add_comment(out, "Called at " + text + '.');
}

/// A row; or comments, if no row can map the operator. Returns whether it is a row.
bool add_row(std::string& out, stub const& op) {
    std::string_view const known = aten::find_schema(op.overload);
    bool const declared = !known.empty();
    if (std::string_view const fault = declared ? std::string_view() : aten::syntax_error(op.schema); !fault.empty()) {
        add_comment(out, op.overload + ": its schema is " + op.schema + ": " + std::string(fault) + '.');
        return false;
    }
    std::string const spelled = declared ? std::string(known) : aten::to_string(aten::parse_schema(op.schema).value());
    if (std::string const why = obstacle(spelled, declared); !why.empty()) {
        add_comment(out, op.overload + ": " + why + '.');
        return false;
    }
    std::string names;
    std::string parameters;
    aten::schema_argument a;
    for (aten::argument_cursor cursor(spelled); cursor.next(a);) {
        if (!is_named(a, declared)) continue;
        names += (names.empty() ? "" : ", ") + std::string(a.name);
        parameters += ", " + parameter_type(a.type) + " /*" + parameter_name(a.name) + "*/";
    }
    add_places(out, op);
    for (std::string const& note : op.notes) add_comment(out, note);
    if (std::string const text = returned(spelled); !text.empty()) add_comment(out, "Returns " + text + '.');
    out += "    symbolic<\"" + in_literal(declared ? op.overload + '(' + names + ')' : spelled) + "\">(\n";
    out += "        [](graph<13> g" + parameters + ") {\n";
    out += "            return g.unsupported(\"the row of " + in_literal(op.overload) + " is a stub\");\n        })";
    return true;
}

} // namespace

std::string stub_file(std::vector<stub> const& all, std::string_view origin) {
    std::string rows;
    std::string comments;
    for (stub const& op : all) {
        std::string text;
        if (!add_row(text, op)) comments += text;
        else rows += (rows.empty() ? "" : ",\n") + text;
    }
    std::string out =
        "// Rows for the operators of " + plain(std::string(origin)) +
        " without a mapping, made by `aton stub`. Each refuses its calls until its body is written:\n"
        "// docs/tutorial.md describes how, and how the file is built.\n"
        "#include <array>\n#include <cstdint>\n#include <optional>\n#include <span>\n#include <string>\n"
        "#include <string_view>\n#include <vector>\n\n#include <aton/aton.hpp>\n#include <aton/plugin.hpp>\n\n";
    if (!comments.empty()) out += "// No row can map these:\n" + comments + '\n';
    if (rows.empty()) return out;
    return out + "namespace stubs {\n\nusing namespace aton::dsl;\n\ninline constexpr auto rows = table(\n" + rows +
           ");\n\n} // namespace stubs\n\nATON_PLUGIN(stubs::rows)\n";
}

} // namespace aton::tool
