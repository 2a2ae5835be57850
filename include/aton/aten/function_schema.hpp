// SPDX-License-Identifier: MIT
// Parses function schemas, "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", in constant
// expressions and at run time, without storage: cursors iterate over the arguments and returns.
// Grammar: PyTorch, torch/csrc/jit/frontend/function_schema_parser.cpp. Malformed text is refused; nothing is read beyond its end.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <aton/aten/schema_table.hpp>
#include <aton/aten/schema_type.hpp>
#include <aton/core/nearest.hpp>

namespace ATON_NAMESPACE::aten {

struct schema_argument {
    schema_type type;
    std::string_view name;
    bool has_default = false;
    std::string_view default_text; ///< as written, see default_value.hpp
    bool keyword_only = false;
};

struct schema_return {
    schema_type type;
    std::string_view name; ///< often empty
};

struct schema_head {
    std::string_view qualified; ///< "aten::add.Tensor"
    std::string_view ns;        ///< "aten"
    std::string_view name;      ///< "add"
    std::string_view overload;  ///< "Tensor"; empty: the default overload
};

namespace detail {

/// `aten::add.Tensor`.
constexpr bool read_head(scanner& scan, schema_head& out) {
    out = schema_head{};
    scan.next();
    char const* const start = scan.at();
    if (!scan.name(out.name, "expected an operator name")) return false;
    if (scan.peek() == ':') {
        out.ns = out.name;
        if (!scan.take("::")) return scan.fail("expected '::' between namespace and operator");
        if (!is_name_start(scan.peek())) return scan.fail("expected an operator name after '::'");
        scan.name(out.name, {});
    }
    if (scan.peek() == '.') {
        scan.take('.');
        if (!is_name_start(scan.peek())) return scan.fail("expected an overload name after '.'");
        scan.name(out.overload, {});
    }
    out.qualified = between(start, scan.at());
    return true;
}

constexpr bool open_arguments(scanner& scan) {
    schema_head ignored;
    return read_head(scan, ignored) && (scan.take('(') || scan.fail("expected '(' after the operator name"));
}

/// `Scalar alpha=1`.
constexpr bool read_argument(scanner& scan, schema_argument& out) {
    out.default_text = {};
    if (!read_type(scan, out.type) || !scan.name(out.name, "expected an argument name after its type")) return false;
    out.has_default = scan.take('=');
    return !out.has_default || scan.literal(out.default_text);
}

/// Goes from comma to comma without parsing the arguments, which finds an argument or the returns in a fraction of the steps.
struct argument_walk {
    char const* start = nullptr;  ///< the argument's text is [start, stop)
    char const* stop = nullptr;   ///< the comma or the closing parenthesis
    char const* equals = nullptr; ///< the sign before the default, or stop
    char const* last = nullptr;
    bool well_formed =
        false; ///< so far; only names and brackets are checked. (A flag: GCC 12's sanitizers reject constexpr null tests.)
    bool keyword_only = false;

    constexpr explicit argument_walk(std::string_view schema) {
        scanner scan{schema};
        if (!open_arguments(scan)) return;
        well_formed = true;
        stop = scan.at() - 1;
        last = schema.data() + schema.size();
    }
    constexpr bool next() {
        while (well_formed && *stop != ')') {
            step();
            if (!well_formed || start == stop || *start == '.') continue;
            if (*start != '*') return true;
            keyword_only = true;
        }
        return false;
    }
    /// Whether this is the argument's name.
    [[nodiscard]] constexpr bool is_named(std::string_view name) const {
        char const* at = equals;
        while (at != start && is(at[-1], space)) --at;
        char const* key = name.data() + name.size();
        if (name.empty() || static_cast<std::size_t>(at - start) <= name.size()) return false;
        for (; key != name.data(); --key, --at)
            if (at[-1] != key[-1]) return false;
        return !is_name_char(at[-1]);
    }

private:
    constexpr void step() {
        char const* at = stop + 1;
        while (at != last && is(*at, space)) ++at;
        start = at;
        bool has_equals = false;
        int depth = 0;
        for (; at != last; ++at) {
            char const c = *at;
            if ((classes.of[static_cast<unsigned char>(c)] & structure) == 0) continue;
            if (depth == 0 && (c == ',' || c == ')')) {
                stop = at;
                if (!has_equals) equals = at;
                return;
            }
            if (c == '(' || c == '[') ++depth;
            else if (c == ')' || c == ']') --depth;
            else if (c == '=' && !has_equals) equals = at, has_equals = true;
            else if (c == '"' || c == '\'') {
                for (++at; at != last && *at != c; ++at) {
                    if (*at != '\\') continue;
                    if (++at == last) break;
                }
                if (at == last) break;
            }
        }
        well_formed = false;
    }
};

} // namespace detail

/// The names at the start of a schema or of a bare qualified name; all empty if there are none.
constexpr schema_head parse_head(std::string_view schema) {
    detail::scanner scan{schema};
    schema_head out;
    return detail::read_head(scan, out) ? out : schema_head{};
}

/// Iterates over the arguments. A malformed schema ends the iteration; see error().
class argument_cursor {
public:
    constexpr explicit argument_cursor(std::string_view schema)
        : scan_(schema),
          done_(!detail::open_arguments(scan_)) {}

    constexpr bool next(schema_argument& out) {
        while (!done_) {
            if (scan_.take(')')) break;
            if (!first_ && !scan_.take(',')) return stop("expected ',' or ')' after an argument");
            first_ = false;
            if (scan_.take("...")) {
                vararg_ = true;
                if (!scan_.take(')')) return stop("expected ')' after '...'");
                break;
            }
            if (scan_.take('*')) {
                if (keyword_only_) return stop("a second '*' among the arguments");
                keyword_only_ = true;
                continue;
            }
            out.keyword_only = keyword_only_;
            if (!detail::read_argument(scan_, out)) return stop({});
            return true;
        }
        done_ = true;
        return false;
    }
    /// Whether the arguments end in "..."; known after the last one.
    [[nodiscard]] constexpr bool is_vararg() const { return vararg_; }
    [[nodiscard]] constexpr std::string_view error() const { return scan_.error(); }
    [[nodiscard]] constexpr std::size_t offset() const { return scan_.offset(); }

private:
    constexpr bool stop(std::string_view what) {
        done_ = true;
        return scan_.fail(what);
    }

    detail::scanner scan_;
    bool done_;
    bool first_ = true;
    bool vararg_ = false;
    bool keyword_only_ = false;
};

/// Iterates over the returns. A malformed schema ends the iteration; see error().
class return_cursor {
public:
    constexpr explicit return_cursor(std::string_view schema) : scan_(schema) {
        detail::argument_walk arguments{schema};
        while (arguments.next()) {
        }
        done_ = !arguments.well_formed;
        if (!done_) scan_.back_to(arguments.stop + 1);
        if (done_ || !scan_.take("->")) {
            stop("expected '->' after the arguments");
            return;
        }
        tuple_ = scan_.take('(');
    }

    constexpr bool next(schema_return& out) {
        if (done_) return false;
        if (first_ ? tuple_ && scan_.take(')') : !tuple_ || scan_.take(')')) return end();
        if (!first_ && !scan_.take(',')) return stop("expected ',' or ')' after a return");
        first_ = false;
        if (scan_.take("...")) {
            vararg_ = true;
            if (tuple_ && !scan_.take(')')) return stop("expected ')' after '...'");
            return end();
        }
        out.name = {};
        if (!detail::read_type(scan_, out.type)) return stop({});
        if (detail::is_name_start(scan_.next())) scan_.name(out.name, {});
        return true;
    }
    /// Whether the returns end in "..."; known after the last one.
    [[nodiscard]] constexpr bool is_vararg() const { return vararg_; }
    [[nodiscard]] constexpr std::string_view error() const { return scan_.error(); }
    [[nodiscard]] constexpr std::size_t offset() const { return scan_.offset(); }

private:
    constexpr bool end() {
        done_ = true;
        scan_.next();
        return scan_.at_end() ? false : scan_.fail("unexpected text after the returns");
    }
    constexpr bool stop(std::string_view what) {
        done_ = true;
        return scan_.fail(what);
    }

    detail::scanner scan_;
    bool done_ = false;
    bool first_ = true;
    bool tuple_ = false;
    bool vararg_ = false;
};

/// The number of named arguments of a well-formed schema; "..." is not counted.
constexpr int argument_count(std::string_view schema) {
    int count = 0;
    for (detail::argument_walk each{schema}; each.next();) ++count;
    return count;
}

/// The number of returns; "..." is not counted.
constexpr int return_count(std::string_view schema) {
    int count = 0;
    schema_return ignored;
    for (return_cursor each{schema}; each.next(ignored);) ++count;
    return count;
}

/// Finds an argument by its name and parses only this one. If there is none, returns false and sets `position` to the number of arguments.
constexpr bool find_argument(std::string_view schema, std::string_view name, schema_argument& out, int& position) {
    position = 0;
    for (detail::argument_walk each{schema}; each.next(); ++position) {
        if (!each.is_named(name)) continue;
        detail::scanner scan{detail::between(each.start, each.stop)};
        out.keyword_only = each.keyword_only;
        return detail::read_argument(scan, out);
    }
    return false;
}

/// A syntax error in a schema.
struct parse_error_info {
    std::string_view what; ///< one short sentence; empty: no error
    std::size_t offset = 0;
};

/// Checks a whole schema: the grammar, no duplicate names, and no positional argument without a default after one with a default.
constexpr parse_error_info check_syntax(std::string_view schema) {
    argument_cursor arguments{schema};
    bool seen_default = false;
    int position = 0;
    for (schema_argument argument; arguments.next(argument); ++position) {
        schema_argument earlier;
        int first = 0;
        if (find_argument(schema, argument.name, earlier, first) && first != position)
            return {"two arguments have the same name; rename one of them where the operator is registered",
                    arguments.offset()};
        if (seen_default && !argument.has_default && !argument.keyword_only)
            return {"an argument without a default after one with a default", arguments.offset()};
        seen_default = seen_default || argument.has_default;
    }
    if (!arguments.error().empty()) return {arguments.error(), arguments.offset()};
    return_cursor returns{schema};
    for (schema_return ignored; returns.next(ignored);) {
    }
    if (!returns.error().empty()) return {returns.error(), returns.offset()};
    return {};
}

/// The syntax error of a schema, or empty; check_syntax() also returns its position.
constexpr std::string_view syntax_error(std::string_view schema) { return check_syntax(schema).what; }

/// The argument whose name is nearest to this one, for "did you mean"; empty if none is near.
constexpr std::string_view nearest_argument(std::string_view schema, std::string_view name) {
    std::string_view nearest;
    int best = 2 + static_cast<int>(name.size()) / 3;
    schema_argument argument;
    for (argument_cursor each{schema}; each.next(argument);) {
        int const distance = edit_distance(name, argument.name, best - 1);
        if (distance >= best) continue;
        best = distance;
        nearest = argument.name;
    }
    return nearest;
}

} // namespace ATON_NAMESPACE::aten
