// SPDX-License-Identifier: MIT
// Parses the types of function schemas: `Tensor(a!)?[]`, `int[2]?`, `Dict(str, t)`.
// Grammar: PyTorch, torch/csrc/jit/frontend/schema_type_parser.cpp and function_schema_parser.cpp.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <aton/aten/detail/scanner.hpp>

namespace ATON_NAMESPACE::aten {

enum class base_type : std::uint8_t {
    tensor,
    scalar, ///< Scalar
    int_,
    sym_int,
    float_,
    sym_float,
    bool_,
    sym_bool,
    str,
    complex,
    scalar_type,
    layout,
    device,
    memory_format,
    generator,
    qscheme,
    dimname,
    storage,
    stream,
    any,
    none,  ///< NoneType
    other, ///< Dict, Future, tuples, type variables, classes, lists of lists: see schema_type::base_text
};

/// The type of the number, whether or not it may be computed: int_ for SymInt.
constexpr base_type without_symbol(base_type b) {
    return b == base_type::sym_int     ? base_type::int_
           : b == base_type::sym_float ? base_type::float_
           : b == base_type::sym_bool  ? base_type::bool_
                                       : b;
}

/// The type of an argument or a return.
struct schema_type {
    base_type base = base_type::other; ///< of the innermost element; other for a list of lists
    bool list = false;                 ///< T[] or T[n]
    bool optional = false;             ///< the whole: T? or T[]?
    bool element_optional = false;     ///< Tensor?[]
    bool mutates = false;              ///< the alias annotation has a '!'
    std::int32_t list_size = 0;        ///< int[2] -> 2, otherwise 0
    std::string_view text;             ///< as written, without the argument's name: "Tensor(a!)?[]"
    std::string_view base_text; ///< the innermost element as written: "Tensor", "Dict(str, t)"; of int[][]: "int[]"
    std::string_view alias;     ///< "a!", "a", "a -> *", or "!"; of the element, or of the list if the element has none
    std::string_view list_alias; ///< "a!" in "t[](a!)"
};

namespace detail {

struct base_type_row {
    std::string_view name;
    base_type base;
};

/// In the order of base_type up to none; the names after it are alternative spellings.
inline constexpr base_type_row base_type_names[] = {
    {"Tensor", base_type::tensor},
    {"Scalar", base_type::scalar},
    {"int", base_type::int_},
    {"SymInt", base_type::sym_int},
    {"float", base_type::float_},
    {"SymFloat", base_type::sym_float},
    {"bool", base_type::bool_},
    {"SymBool", base_type::sym_bool},
    {"str", base_type::str},
    {"complex", base_type::complex},
    {"ScalarType", base_type::scalar_type},
    {"Layout", base_type::layout},
    {"Device", base_type::device},
    {"MemoryFormat", base_type::memory_format},
    {"Generator", base_type::generator},
    {"QScheme", base_type::qscheme},
    {"Dimname", base_type::dimname},
    {"Storage", base_type::storage},
    {"Stream", base_type::stream},
    {"Any", base_type::any},
    {"NoneType", base_type::none},
    {"number", base_type::scalar},
    {"DeviceIndex", base_type::int_},
};

constexpr base_type base_type_of(std::string_view name) {
    // The two most frequent types first, to save constexpr steps.
    if (name.size() == 6 && name[0] == 'T' && same(name, "Tensor")) return base_type::tensor;
    if (name.size() == 3 && name[0] == 'i' && same(name, "int")) return base_type::int_;
    for (base_type_row const& row : base_type_names)
        if (row.name.size() == name.size() && same(row.name, name)) return row.base;
    return base_type::other;
}

/// Whether parentheses after this name contain types, not an alias annotation.
constexpr bool is_type_constructor(std::string_view name) {
    constexpr std::string_view names[] = {
        "Dict", "Future", "Await", "RRef", "Tuple", "Union", "Optional", "List", "Callable"};
    for (std::string_view each : names)
        if (same(each, name)) return true;
    return false;
}

constexpr bool read_type(scanner& scan, schema_type& out, int depth = 0);

/// `(int, Tensor)`, after the opening parenthesis.
constexpr bool read_type_list(scanner& scan, int depth) {
    if (scan.take(')')) return true;
    do {
        schema_type ignored;
        if (!read_type(scan, ignored, depth + 1)) return false;
    } while (scan.take(','));
    return scan.take(')') || scan.fail("expected ',' or ')' in a list of types");
}

/// A tuple, or a function type `(int) -> Tensor`.
constexpr bool read_tuple_type(scanner& scan, int depth) {
    if (!scan.take('(') || !read_type_list(scan, depth)) return false;
    char const* const stop = scan.at();
    schema_type ignored;
    if (scan.take("->")) return read_type(scan, ignored, depth + 1);
    scan.back_to(stop);
    return true;
}

/// A name, or `Dict(...)`.
constexpr bool read_named_type(scanner& scan, schema_type& out, int depth) {
    std::string_view word;
    if (!scan.name(word, "expected a type")) return false;
    if (scan.peek() == '.') { // __torch__.torch.classes.quantized.LinearPackedParamsBase
        while (scan.peek() == '.') {
            scan.skip();
            std::string_view part;
            if (!is_name_start(scan.peek()) || !scan.name(part, {}))
                return scan.fail("expected a name after '.' in a type");
        }
        return true;
    }
    out.base = base_type_of(word);
    if (out.base != base_type::other || !is_type_constructor(word)) return true;
    char const* const stop = scan.at();
    if (scan.take('(')) return read_type_list(scan, depth);
    scan.back_to(stop);
    return true;
}

/// `a`, `a|b`, `*`.
constexpr bool read_alias_set(scanner& scan) {
    do {
        std::string_view word;
        if (scan.take('*')) continue;
        if (!scan.name(word, "expected an alias name such as 'a' in parentheses after a type")) return false;
    } while (scan.take('|'));
    return true;
}

/// `$0! -> )`, which torch prints for a fresh alias set, `!`.
constexpr bool read_printed_fresh_set(scanner& scan, std::string_view& out, bool& mutates) {
    for (scan.skip(); is_digit(scan.peek());) scan.skip();
    if (scan.next() != '!') return scan.fail("expected '!' after a numbered alias set");
    mutates = true;
    out = between(scan.at(), scan.at() + 1);
    scan.skip();
    scan.take("->");
    return scan.take(')') || scan.fail("expected ')' after an alias annotation");
}

/// `(a!)`, `(a -> *)`, `!` (a fresh alias set), or nothing.
constexpr bool read_alias(scanner& scan, std::string_view& out, bool& mutates) {
    char const c = scan.next();
    char const* start = scan.at();
    if (c == '!') {
        scan.skip();
        mutates = true;
        out = between(start, scan.at());
    }
    if (c != '(') return true;
    scan.skip();
    scan.next();
    start = scan.at();
    if (scan.peek() == '$') return read_printed_fresh_set(scan, out, mutates);
    if (!read_alias_set(scan)) return false;
    if (scan.take('!')) mutates = true;
    char const* stop = scan.at();
    if (scan.take("->")) {
        if (!read_alias_set(scan)) return false;
        stop = scan.at();
    }
    out = between(start, stop);
    while (is(out.back(), space)) out.remove_suffix(1);
    return scan.take(')') || scan.fail("expected ')' after an alias annotation");
}

/// `]` or `2]`.
constexpr bool read_list_size(scanner& scan, std::int32_t& out) {
    for (scan.next(); is_digit(scan.peek()); scan.skip()) {
        if (out > 99'999'999) return scan.fail("the size of a list is too large");
        out = out * 10 + (scan.peek() - '0');
    }
    return scan.take(']') || scan.fail("expected ']' or a size after '['");
}

/// The text after '[': `]`, `2]` or `](a!)`; `element` is the text before it.
constexpr bool read_list_suffix(scanner& scan, schema_type& out, std::string_view element) {
    if (out.list) {
        bool const mutates = out.mutates;
        out = schema_type{};
        out.base_text = element;
        out.mutates = mutates;
    }
    out.list = true;
    out.element_optional = out.optional;
    out.optional = false;
    if (!read_list_size(scan, out.list_size)) return false;
    char const* const stop = scan.at();
    if (!read_alias(scan, out.list_alias, out.mutates)) return false;
    if (out.list_alias.empty()) scan.back_to(stop);
    if (out.alias.empty()) out.alias = out.list_alias;
    return true;
}

constexpr bool read_type(scanner& scan, schema_type& out, int depth) {
    out = schema_type{};
    if (depth > scanner::max_nesting) return scan.fail("types are nested too deeply");
    bool const tuple = scan.next() == '(';
    char const* const start = scan.at();
    if (!(tuple ? read_tuple_type(scan, depth) : read_named_type(scan, out, depth))) return false;
    char const* stop = scan.at();
    out.base_text = between(start, stop);
    if (!read_alias(scan, out.alias, out.mutates)) return false;
    if (!out.alias.empty()) stop = scan.at();
    for (char c = scan.next(); c == '?' || c == '['; c = scan.next()) {
        scan.skip();
        if (c == '?') {
            out.optional = true;
        } else if (!read_list_suffix(scan, out, between(start, stop))) {
            return false;
        }
        stop = scan.at();
    }
    scan.back_to(stop);
    out.text = between(start, stop);
    return true;
}

} // namespace detail

/// Parses one type, "Tensor?[]". False if the text is not exactly one type.
constexpr bool parse_type(std::string_view text, schema_type& out) {
    detail::scanner scan{text};
    if (!detail::read_type(scan, out)) return false;
    scan.next();
    return scan.at_end();
}

/// The number of tensors of the tuple type `(Tensor, Tensor)`; 0 for other types, and for tuples with other elements.
constexpr std::size_t tensors_of_tuple(schema_type const& t) {
    if (t.base != base_type::other || t.list || t.optional || t.text.empty() || t.text.front() != '(') return 0;
    detail::scanner scan{t.text};
    std::size_t count = 0;
    if (!scan.take('(')) return 0;
    do {
        schema_type element;
        if (!detail::read_type(scan, element) || element.base != base_type::tensor || element.list || element.optional)
            return 0;
        ++count;
    } while (scan.take(','));
    if (!scan.take(')')) return 0;
    scan.next();
    return scan.at_end() ? count : 0;
}

/// The innermost type of `int[][]`; other for types that are not lists of lists, and if an element may be None.
constexpr base_type base_of_lists(schema_type const& t) {
    if (t.base != base_type::other || !t.list || t.element_optional) return base_type::other;
    schema_type element;
    bool const is_list = parse_type(t.base_text, element) && element.list && !element.optional;
    return is_list && !element.element_optional ? element.base : base_type::other;
}

} // namespace ATON_NAMESPACE::aten
