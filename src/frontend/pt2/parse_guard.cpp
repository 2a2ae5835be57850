// SPDX-License-Identifier: MIT
// Parses guards. Errors have no message: a guard that cannot be parsed is kept as a string.
#include "parse_guard.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

#include "make_expression.hpp"
#include "sympy_functions.hpp"
#include "token_cursor.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

using program::expression;
using program::expression_kind;
using maybe = std::optional<expression>;

constexpr std::size_t max_guard_length = 1U << 16;
constexpr int max_guard_nesting = 200;
constexpr int max_operations = 1000; ///< a // b // c nests without brackets

/// Functions of Python and torch, without their modules, beside those of sympy.
constexpr function_row guard_functions[] = {
    {"sym_float", expression_kind::to_float, 1},
    {"float", expression_kind::to_float, 1},
    {"trunc", expression_kind::truncate, 1},
    {"int", expression_kind::truncate, 1},
    {"sym_int", expression_kind::truncate, 1},
    {"ceil", expression_kind::ceiling, 1},
    {"round", expression_kind::round, 1},
    {"abs", expression_kind::absolute, 1},
    {"max", expression_kind::maximum, 0},
    {"sym_max", expression_kind::maximum, 0},
    {"min", expression_kind::minimum, 0},
    {"sym_min", expression_kind::minimum, 0},
    {"pow", expression_kind::power, 2},
    {"sym_not", expression_kind::negation, 1},
    {"bool", expression_kind::all_of, 1},
};

/// Functions of one real number, without the prefix of `_sym_sqrt`.
constexpr std::string_view real_functions[] = {
    "sqrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"};

bool is_name(char c) { return is_name_start(c) || is_digit(c); }

struct not_understood {};

class guard_parser final : token_cursor {
public:
    guard_parser(std::string_view text, guard_lookup const& lookup)
        : token_cursor(text, " \n\t", max_guard_nesting),
          lookup_(lookup) {}

    expression whole() {
        if (text_.size() > max_guard_length) fail();
        expression out = choice();
        peek();
        if (at_ != text_.size()) fail();
        return out;
    }

private:
    [[noreturn]] void fail(std::string const& what = {}) const override {
        (void)what;
        throw not_understood();
    }

    bool take_word(std::string_view word) {
        peek();
        std::string_view const left = rest();
        if (!left.starts_with(word) || (left.size() > word.size() && is_name(left[word.size()]))) return false;
        at_ += word.size();
        return true;
    }

    expression call(expression_kind kind, std::vector<expression> operands) {
        if (++operations_ > max_operations) fail();
        return make_call(kind, std::move(operands));
    }
    expression call(expression_kind kind, expression a, expression b) {
        std::vector<expression> operands;
        operands.push_back(std::move(a));
        operands.push_back(std::move(b));
        return call(kind, std::move(operands));
    }

    /// a if condition else b
    expression choice() {
        nesting const inside(*this);
        expression value = disjunction();
        if (!take_word("if")) return value;
        std::vector<expression> operands;
        operands.push_back(std::move(value));
        operands.push_back(disjunction());
        if (!take_word("else")) fail();
        operands.push_back(choice());
        operands.push_back(make_boolean(true));
        return call(expression_kind::piecewise, std::move(operands));
    }

    expression disjunction() {
        std::vector<expression> parts;
        do parts.push_back(conjunction());
        while (take_word("or"));
        return parts.size() == 1 ? std::move(parts[0]) : call(expression_kind::any_of, std::move(parts));
    }

    expression conjunction() {
        std::vector<expression> parts;
        do parts.push_back(negation());
        while (take_word("and"));
        return parts.size() == 1 ? std::move(parts[0]) : call(expression_kind::all_of, std::move(parts));
    }

    expression negation() {
        nesting const inside(*this);
        if (!take_word("not")) return comparison();
        std::vector<expression> operands;
        operands.push_back(negation());
        return call(expression_kind::negation, std::move(operands));
    }

    /// a < b < c is a < b and b < c.
    expression comparison() {
        expression left = sum();
        std::vector<expression> parts;
        while (auto const kind = take_relation()) {
            expression right = sum();
            parts.push_back(call(*kind, std::move(left), right));
            left = std::move(right);
            if (parts.size() > 8) fail();
        }
        if (parts.empty()) return left;
        return parts.size() == 1 ? std::move(parts[0]) : call(expression_kind::all_of, std::move(parts));
    }

    expression sum() {
        expression out = product();
        for (;;) {
            if (take("+")) out = joined(expression_kind::add, std::move(out), product());
            else if (take("-")) out = joined(expression_kind::add, std::move(out), negated(product()));
            else return out;
        }
    }

    /// Left-associative, as in Python: floats are rounded after every operation.
    expression joined(expression_kind kind, expression left, expression right) {
        if (left.kind == kind && !left.symbol.empty()) {
            if (++operations_ > max_operations) fail();
            left.operands.push_back(std::move(right));
            return left;
        }
        expression out = call(kind, std::move(left), std::move(right));
        out.symbol = "open"; // not in brackets: more operands may follow
        return out;
    }

    static expression closed(expression e) {
        if (e.kind == expression_kind::add || e.kind == expression_kind::mul) e.symbol.clear();
        return e;
    }

    expression negated(expression e) {
        if (e.kind == expression_kind::integer && e.number != std::numeric_limits<std::int64_t>::min())
            return make_integer(-e.number);
        if (e.kind == expression_kind::real) return make_real(-e.real);
        return call(expression_kind::mul, make_integer(-1), std::move(e));
    }

    expression product() {
        expression out = signed_power();
        for (;;) {
            if (take("//")) out = call(expression_kind::floor_div, std::move(out), signed_power());
            else if (take("/")) out = call(expression_kind::true_div, std::move(out), signed_power());
            else if (take("%")) out = call(expression_kind::mod, std::move(out), signed_power());
            else if (take_but_not("*", "**")) out = joined(expression_kind::mul, std::move(out), signed_power());
            else return out;
        }
    }

    expression signed_power() {
        nesting const inside(*this);
        if (take("-")) return negated(signed_power());
        if (take("+")) return signed_power();
        expression base = primary();
        if (!take("**")) return base;
        return call(expression_kind::power, std::move(base), signed_power());
    }

    expression primary() {
        char const c = peek();
        if (take("(")) {
            expression out = choice();
            expect(")");
            return closed(std::move(out));
        }
        if (is_digit(c) || c == '.') return number();
        if (is_name_start(c)) return named();
        fail();
    }

    std::string_view name() {
        peek();
        std::size_t const start = at_;
        while (at_ != text_.size() && is_name(text_[at_])) ++at_;
        if (at_ == start || is_digit(text_[start])) fail();
        return text_.substr(start, at_ - start);
    }

    expression number() {
        auto const [digits, is_real] = number_at(text_, at_);
        at_ += digits.size();
        char const* const first = digits.data();
        char const* const last = first + digits.size();
        double d = 0;
        std::int64_t n = 0;
        auto const [end, status] = is_real ? std::from_chars(first, last, d) : std::from_chars(first, last, n);
        if (status != std::errc{} || end != last) fail();
        return is_real ? make_real(d) : make_integer(n);
    }

    expression named() {
        std::string_view word = name();
        if (word == "L") return source();
        if (word == "True" || word == "False" || word == "true" || word == "false")
            return make_boolean(word == "True" || word == "true");
        while (take(".")) word = name(); // math.floor, torch.sym_float
        if (word == "inf" || word == "int_oo") return make_real(std::numeric_limits<double>::infinity());
        if (!take("(")) fail();
        nesting const inside(*this);
        std::vector<expression> operands;
        do operands.push_back(closed(choice()));
        while (take(","));
        expect(")");
        if (word.starts_with("_sym_")) word.remove_prefix(5);
        for (std::string_view each : real_functions)
            if (word == each && operands.size() == 1) {
                expression out = call(expression_kind::other, std::move(operands));
                out.symbol = word;
                return out;
            }
        function_row const* row = std::ranges::find(guard_functions, word, &function_row::name);
        if (row == std::end(guard_functions)) row = find_sympy_function(word);
        if (row == nullptr || (row->operands == 0 ? operands.size() < 2 : operands.size() != row->operands)) fail();
        return call(row->kind, std::move(operands));
    }

    std::string quoted() {
        char const quote = peek();
        if (quote != '\'' && quote != '"') fail();
        std::string out;
        for (++at_; at_ != text_.size() && text_[at_] != quote; ++at_) {
            if (text_[at_] == '\\' && ++at_ == text_.size()) fail();
            out += text_[at_];
        }
        expect({&quote, 1});
        return out;
    }

    std::int64_t index() {
        bool const negative = take("-");
        peek();
        expression const e = number();
        if (e.kind != expression_kind::integer || negative) fail();
        return e.number;
    }

    /// After L: ['d']['a'][1].size()[0]
    expression source() {
        guard_number out;
        for (;;) {
            if (take("[")) {
                bool const is_text = peek() == '\'' || peek() == '"';
                out.path.push_back(is_text ? quoted() : std::to_string(index()));
                expect("]");
            } else if (take(".")) {
                std::string_view const word = name();
                if (take("(")) {
                    expect(")");
                    if (word != "size") fail(); // ONNX has no strides and offsets
                    expect("[");
                    out.axis = index();
                    expect("]");
                    break;
                }
                if (word == "shape") {
                    expect("[");
                    out.axis = index();
                    expect("]");
                    break;
                }
                out.path.emplace_back(word);
            } else {
                break;
            }
        }
        std::string const symbol = out.path.empty() ? std::string() : lookup_(out);
        if (symbol.empty()) fail();
        return make_symbol(symbol);
    }

    guard_lookup const& lookup_;
    int operations_ = 0;
};

/// Removes the marks of joined(), which only the parser uses.
void clear_marks(expression& e) {
    if (e.kind == expression_kind::add || e.kind == expression_kind::mul) e.symbol.clear();
    for (expression& each : e.operands) clear_marks(each);
}

} // namespace

maybe parse_guard(std::string_view text, guard_lookup const& lookup) {
    try {
        expression out = guard_parser(text, lookup).whole();
        clear_marks(out);
        return out;
    } catch (not_understood const&) {
        return std::nullopt;
    }
}

} // namespace ATON_NAMESPACE::pt2
