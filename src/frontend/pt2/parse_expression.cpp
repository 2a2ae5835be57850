// SPDX-License-Identifier: MIT
// Parses both spellings: sympy's srepr since torch 2.6, "Add(Symbol('s0', integer=True), Integer(1))", and str before, "s0 + 1".
// Names: sympy, and torch/utils/_sympy/functions.py.
#include <aton/frontend/pt2/read_program.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include <aton/core/error.hpp>

#include "make_expression.hpp"
#include "sympy_functions.hpp"
#include "token_cursor.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

using program::expression;
using program::expression_kind;

constexpr std::size_t max_expression_length = 1U << 16;
constexpr int max_expression_nesting = 250; ///< brackets and signs
constexpr int max_divisions = 1000;         ///< a // b // c nests without brackets

/// Names that srepr writes without Symbol(...).
constexpr std::string_view infinities[] = {"oo", "zoo", "nan", "int_oo"};

class expression_parser final : token_cursor {
public:
    explicit expression_parser(std::string_view text) : token_cursor(text, " ", max_expression_nesting) {}

    expression whole() {
        if (text_.size() > max_expression_length)
            fail("expected at most " + std::to_string(max_expression_length) + " characters");
        expression out = disjunction();
        peek();
        if (at_ != text_.size()) fail("expected an operator or the end");
        return out;
    }

private:
    [[noreturn]] void fail(std::string const& what) const override {
        constexpr std::size_t shown = 60;
        std::size_t const start = at_ > shown / 2 ? at_ - shown / 2 : 0;
        std::string near;
        for (char c : text_.substr(start, shown)) near += c >= ' ' && c != '\x7f' ? c : '?';
        throw error("cannot parse the size expression '" + near + "': " + what + " at offset " + std::to_string(at_) +
                    "; torch.export.save writes, for example, Add(Symbol('s0', integer=True), Integer(1)) or s0 + 1");
    }

    expression disjunction() {
        std::vector<expression> parts;
        do parts.push_back(conjunction());
        while (take("|"));
        return parts.size() == 1 ? std::move(parts[0]) : make_lattice(expression_kind::any_of, std::move(parts));
    }

    expression conjunction() {
        std::vector<expression> parts;
        do parts.push_back(relation());
        while (take("&"));
        return parts.size() == 1 ? std::move(parts[0]) : make_lattice(expression_kind::all_of, std::move(parts));
    }

    expression relation() {
        expression left = sum();
        if (auto const kind = take_relation()) {
            std::vector<expression> operands;
            operands.push_back(std::move(left));
            operands.push_back(sum());
            return make_call(*kind, std::move(operands));
        }
        return left;
    }

    expression sum() {
        std::vector<expression> terms;
        terms.push_back(product());
        for (;;) {
            if (take("+")) terms.push_back(product());
            else if (take("-")) terms.push_back(negated(product()));
            else break;
        }
        return terms.size() == 1 ? std::move(terms[0]) : make_sum(std::move(terms));
    }

    static expression negated(expression e) {
        std::vector<expression> factors;
        factors.push_back(make_integer(-1));
        factors.push_back(std::move(e));
        return make_product(std::move(factors));
    }

    expression product() {
        std::vector<expression> factors;
        factors.push_back(signed_power());
        for (;;) {
            char const c = peek();
            bool const division = c == '/' || c == '%';
            if (division && ++divisions_ > max_divisions)
                fail("expected at most " + std::to_string(max_divisions) + " divisions");
            if (take("//")) nest(factors, expression_kind::floor_div);
            else if (take("%")) nest(factors, expression_kind::mod);
            else if (take("/")) factors.push_back(inverse(signed_power()));
            else if (take_but_not("*", "**")) factors.push_back(signed_power());
            else break;
        }
        return factors.size() == 1 ? std::move(factors[0]) : make_product(std::move(factors));
    }

    /// The product to the left of "//" or "%" becomes its first operand.
    void nest(std::vector<expression>& factors, expression_kind kind) {
        std::vector<expression> operands;
        operands.push_back(make_product(std::move(factors)));
        operands.push_back(signed_power());
        factors.clear();
        factors.push_back(make_call(kind, std::move(operands)));
    }

    static expression inverse(expression e) {
        if (e.kind == expression_kind::integer) return make_ratio(1, e.number);
        std::vector<expression> operands;
        operands.push_back(std::move(e));
        operands.push_back(make_integer(-1));
        return make_call(expression_kind::power, std::move(operands));
    }

    expression signed_power() {
        nesting const inside(*this);
        if (take("-")) return negated(signed_power());
        if (take("+")) return signed_power();
        if (take("~")) {
            std::vector<expression> operands;
            operands.push_back(signed_power());
            return make_call(expression_kind::negation, std::move(operands));
        }
        expression base = primary();
        if (!take("**")) return base;
        std::vector<expression> operands;
        operands.push_back(std::move(base));
        operands.push_back(signed_power());
        return make_call(expression_kind::power, std::move(operands));
    }

    expression primary() {
        char const c = peek();
        if (c == '(') {
            take("(");
            std::vector<expression> parts = list();
            if (parts.size() != 1) fail("expected one expression in brackets");
            return std::move(parts[0]);
        }
        if (is_digit(c) || c == '.') return number();
        if (is_name_start(c)) return named();
        fail("expected a number, a name or '('");
    }

    /// Up to the closing bracket. Keyword arguments are assumptions about symbols, which are ignored.
    std::vector<expression> list() {
        std::vector<expression> out;
        if (take(")")) return out;
        do {
            if (take(")")) return out; // (a, )
            if (skip_keyword()) continue;
            out.push_back(disjunction());
        } while (take(","));
        expect(")");
        return out;
    }

    bool skip_keyword() {
        std::size_t const start = at_;
        if (is_name_start(peek())) {
            name();
            if (take_but_not("=", "==")) {
                disjunction();
                return true;
            }
        }
        at_ = start;
        return false;
    }

    std::string_view name() {
        std::size_t const start = at_;
        while (at_ != text_.size() && (is_name_start(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
        return text_.substr(start, at_ - start);
    }

    std::string_view quoted() {
        char const quote = peek();
        if (quote != '\'' && quote != '"') fail("expected a quoted string");
        std::size_t const stop = text_.find(quote, at_ + 1);
        if (stop == std::string_view::npos) fail("expected a closing quote");
        std::string_view const out = text_.substr(at_ + 1, stop - at_ - 1);
        for (char c : out)
            if (static_cast<unsigned char>(c) < ' ') fail("expected no control character in a name");
        at_ = stop + 1;
        return out;
    }

    expression number() {
        auto const [digits, is_real] = number_at(text_, at_);
        expression out = is_real ? make_real(real_of(digits)) : make_integer(integer_of(digits));
        at_ += digits.size();
        return out;
    }

    [[nodiscard]] std::int64_t integer_of(std::string_view digits) const {
        std::int64_t out = 0;
        auto const [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
        if (status != std::errc{} || end != digits.data() + digits.size()) fail("expected a 64-bit integer");
        return out;
    }

    [[nodiscard]] double real_of(std::string_view digits) const {
        double out = 0;
        auto const [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
        if (status != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(out))
            fail("expected a finite number");
        return out;
    }

    expression named() {
        std::string_view word = name();
        if (word.ends_with('.')) fail("expected a name after '.'");
        if (peek() != '(') {
            if (word == "true" || word == "True") return make_boolean(true);
            if (word == "false" || word == "False") return make_boolean(false);
            for (std::string_view each : infinities)
                if (word == each) return make_other(word, {});
            return make_symbol(word);
        }
        if (std::size_t const dot = word.rfind('.'); dot != std::string_view::npos) word.remove_prefix(dot + 1);
        nesting const inside(*this);
        take("(");
        if (word == "Symbol" || word == "Dummy") {
            std::string_view const text = quoted();
            if (text.empty()) fail("expected the name of a symbol");
            if (take(",")) list();
            else expect(")");
            return make_symbol(text);
        }
        if (word == "Float") {
            if (char const c = peek(); c == '\'' || c == '"') {
                expression out = make_real(real_of(quoted()));
                if (take(",")) list();
                else expect(")");
                return out;
            }
        }
        if (word == "Piecewise") return piecewise();
        return call_sympy_function(*this, word, list());
    }

    /// Piecewise((a, c), ...) or Piecewise(ExprCondPair(a, c), ...), after the opening bracket.
    expression piecewise() {
        std::vector<expression> operands;
        do {
            if (!take("ExprCondPair")) take("Tuple");
            nesting const inside(*this);
            expect("(");
            operands.push_back(disjunction());
            expect(",");
            operands.push_back(disjunction());
            expect(")");
        } while (take(","));
        expect(")");
        return make_call(expression_kind::piecewise, std::move(operands));
    }

    int divisions_ = 0;
};

} // namespace

program::expression parse_expression(std::string_view text) { return expression_parser(text).whole(); }

} // namespace ATON_NAMESPACE::pt2
