// SPDX-License-Identifier: MIT
// The default of an argument as a value: to fill it in where a call omits it, and to compare a call's value with it.
// Its meaning depends on the type: `0` is 0.0 for a float, and two zeros for an `int[2]`.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include <aton/aten/function_schema.hpp>
#include <aton/aten/number_text.hpp>

namespace ATON_NAMESPACE::aten {

enum class default_kind : std::uint8_t {
    invalid, ///< no default, or not a literal
    none,
    boolean,
    integer,
    floating,
    complex,
    string,
    int_list,
    float_list,
    bool_list,
    string_list,
    identifier, ///< contiguous_format, long, cpu: a name whose meaning depends on the argument's type
};

/// A default. An accessor for another kind returns 0, false or an empty string.
class default_value {
public:
    constexpr default_value() = default;
    constexpr default_value(default_kind kind, std::string_view text, std::size_t size = 1, bool broadcast = false)
        : kind_(kind),
          text_(text),
          size_(size),
          broadcast_(broadcast) {}

    [[nodiscard]] constexpr default_kind kind() const { return kind_; }
    /// As written.
    [[nodiscard]] constexpr std::string_view text() const { return text_; }
    /// The length of a list; 1 for other kinds.
    [[nodiscard]] constexpr std::size_t size() const { return size_; }

    [[nodiscard]] constexpr bool as_bool() const { return detail::same(text_, "True"); }
    [[nodiscard]] constexpr std::int64_t as_int() const { return int_of(text_); }
    [[nodiscard]] constexpr double as_double() const { return double_of(text_); }
    /// The parts of a complex number: 0.+1.j is {0, 1}.
    [[nodiscard]] constexpr double real() const { return split() == 0 ? 0.0 : double_of(text_.substr(0, split())); }
    [[nodiscard]] constexpr double imaginary() const;

    [[nodiscard]] constexpr bool bool_at(std::size_t i) const { return detail::same(element(i), "True"); }
    [[nodiscard]] constexpr std::int64_t int_at(std::size_t i) const { return int_of(element(i)); }
    [[nodiscard]] constexpr double double_at(std::size_t i) const { return double_of(element(i)); }
    /// The text of an element of a list, a string with its quotes.
    [[nodiscard]] constexpr std::string_view element(std::size_t i) const;

private:
    static constexpr std::int64_t int_of(std::string_view text) {
        std::int64_t value = 0;
        return detail::parse_int(text, value) ? value : 0;
    }
    static constexpr double double_of(std::string_view text) {
        double value = 0;
        return detail::parse_double(text, value) ? value : 0;
    }
    /// Where the imaginary part of a complex number starts.
    [[nodiscard]] constexpr std::size_t split() const {
        for (std::size_t i = text_.size(); i-- > 1;)
            if ((text_[i] == '+' || text_[i] == '-') && text_[i - 1] != 'e' && text_[i - 1] != 'E') return i;
        return 0;
    }

    default_kind kind_ = default_kind::invalid;
    std::string_view text_{};
    std::size_t size_ = 0;
    bool broadcast_ = false;
};

constexpr double default_value::imaginary() const {
    std::string_view part = text_.substr(split());
    if (!part.empty() && part.back() == 'j') part.remove_suffix(1);
    if (!part.empty() && part.front() == '+') part.remove_prefix(1);
    return double_of(part);
}

constexpr std::string_view default_value::element(std::size_t i) const {
    if (i >= size_) return {};
    if (broadcast_) return text_;
    detail::scanner scan{text_};
    std::string_view found;
    scan.take('[');
    for (std::size_t k = 0; k <= i; ++k) {
        if (!scan.literal(found)) return {};
        scan.take(',');
    }
    return found;
}

namespace detail {

/// The kind of one literal that is not a list.
constexpr default_kind literal_kind(std::string_view text) {
    if (text.empty()) return default_kind::invalid;
    if (same(text, "None")) return default_kind::none;
    if (same(text, "True") || same(text, "False")) return default_kind::boolean;
    if (text.front() == '"' || text.front() == '\'') return default_kind::string;
    std::int64_t integer = 0;
    if (parse_int(text, integer)) return default_kind::integer;
    if (same(text, "inf") || same(text, "nan")) return default_kind::floating;
    if (is_name_start(text.front())) return default_kind::identifier;
    if (text.back() == 'j') return default_kind::complex;
    double real = 0;
    return parse_double(text, real) ? default_kind::floating : default_kind::invalid;
}

constexpr default_kind list_of(default_kind element) {
    switch (element) {
    case default_kind::integer: return default_kind::int_list;
    case default_kind::floating: return default_kind::float_list;
    case default_kind::boolean: return default_kind::bool_list;
    case default_kind::string: return default_kind::string_list;
    default: return default_kind::invalid;
    }
}

/// The kind of a literal for this type: `0` may be a float, `1` of a Scalar remains an integer.
constexpr default_kind kind_for(base_type base, default_kind written) {
    if (written != default_kind::integer) return written;
    return base == base_type::float_ || base == base_type::sym_float ? default_kind::floating : written;
}

constexpr default_value parse_list(std::string_view text, base_type base) {
    scanner scan{text};
    std::string_view element;
    std::size_t size = 0;
    default_kind kind = base == base_type::float_  ? default_kind::floating
                        : base == base_type::bool_ ? default_kind::boolean
                        : base == base_type::str   ? default_kind::string
                                                   : default_kind::integer;
    scan.take('[');
    if (scan.next() != ']') {
        do {
            if (!scan.literal(element)) return {};
            default_kind const each = kind_for(base, literal_kind(element));
            bool const mixed = each != kind && size != 0;
            if (mixed && !(each == default_kind::integer && kind == default_kind::floating) &&
                !(each == default_kind::floating && kind == default_kind::integer))
                return {};
            kind = mixed ? default_kind::floating : each;
            ++size;
        } while (scan.take(','));
    }
    return {list_of(kind), text, size};
}

} // namespace detail

/// Parses a default of this type; `int[2] x=0` is a list of two zeros.
constexpr default_value parse_default(std::string_view text, schema_type const& type) {
    detail::scanner scan{text};
    std::string_view literal;
    if (!scan.literal(literal)) return {};
    scan.next();
    if (!scan.at_end()) return {};
    if (literal.front() == '[') return detail::parse_list(literal, type.base);
    default_kind const kind = detail::kind_for(type.base, detail::literal_kind(literal));
    default_kind const list = detail::list_of(kind);
    if (!type.list || type.list_size == 0 || list == default_kind::invalid) return {kind, literal};
    return {list, literal, static_cast<std::size_t>(type.list_size), true};
}

/// Parses a default without a type: `0` is an integer.
constexpr default_value parse_default(std::string_view text) { return parse_default(text, schema_type{}); }

/// The default of an argument; invalid if it does not have one.
constexpr default_value parse_default(schema_argument const& argument) {
    return argument.has_default ? parse_default(argument.default_text, argument.type) : default_value{};
}

/// Whether a default matches its type: a fraction is not an int, `true` is not a bool, and a list is empty or of the length of its type.
constexpr bool has_its_type(default_value const& d, schema_type const& t) {
    using kind = default_kind;
    auto const is = [k = d.kind()](auto... kinds) { return (false || ... || (k == kinds)); };
    if (is(kind::none)) return t.optional || t.base > base_type::memory_format;
    if (t.base > base_type::memory_format) return true; // generators, classes, lists of lists
    bool const any_list = is(kind::int_list, kind::float_list, kind::bool_list, kind::string_list);
    if (t.list != any_list) return false;
    if (t.list && d.size() == 0) return true;
    if (t.list_size > 1 && d.size() != static_cast<std::size_t>(t.list_size))
        return false; // int[1] only says that 1 is [1]
    switch (t.base) {
    case base_type::int_:
    case base_type::sym_int: return is(kind::integer, kind::int_list);
    case base_type::float_:
    case base_type::sym_float:
        if (is(kind::floating) && detail::is_digit(d.text().back()) && // 1e999 is not inf
            (d.as_double() > std::numeric_limits<double>::max() ||
             d.as_double() < std::numeric_limits<double>::lowest()))
            return false;
        return is(kind::integer, kind::floating, kind::int_list, kind::float_list);
    case base_type::scalar:
        return is(kind::integer, kind::floating, kind::boolean, kind::complex, kind::int_list, kind::float_list);
    case base_type::bool_:
    case base_type::sym_bool: return is(kind::boolean, kind::bool_list);
    case base_type::str: return is(kind::string, kind::string_list);
    case base_type::scalar_type:
    case base_type::layout:
    case base_type::memory_format: return is(kind::identifier, kind::integer);
    case base_type::device: return is(kind::identifier, kind::string);
    case base_type::complex: return is(kind::integer, kind::floating, kind::complex);
    default: return false; // a tensor
    }
}

namespace detail {

constexpr char unescaped(char c) {
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case 'f': return '\f';
    case 'v': return '\v';
    case 'a': return '\a';
    case 'b': return '\b';
    default: return c;
    }
}

constexpr bool is_octal(char c) { return c >= '0' && c <= '7'; }
constexpr int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

} // namespace detail

/// Calls `sink` with each character of a quoted string literal, escapes resolved. For default_value::text() and element().
template <class Sink>
constexpr void unescape(std::string_view quoted, Sink&& sink) {
    if (quoted.size() < 2) return;
    std::string_view const body = quoted.substr(1, quoted.size() - 2);
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (body[i] != '\\' || i + 1 == body.size()) {
            sink(body[i]);
            continue;
        }
        ++i;
        int code = -1;
        if (body[i] == 'x') {
            for (int n = 0; n != 2 && i + 1 < body.size() && detail::hex_digit(body[i + 1]) >= 0; ++n)
                code = (code < 0 ? 0 : code * 16) + detail::hex_digit(body[++i]);
        } else if (detail::is_octal(body[i])) {
            code = body[i] - '0';
            for (int n = 1; n != 3 && i + 1 < body.size() && detail::is_octal(body[i + 1]); ++n)
                code = code * 8 + (body[++i] - '0');
        }
        sink(code < 0 ? detail::unescaped(body[i]) : static_cast<char>(code));
    }
}

} // namespace ATON_NAMESPACE::aten
