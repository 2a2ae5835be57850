// SPDX-License-Identifier: MIT
// Parses expressions of TorchScript's code. Their nesting is bounded, so that later steps may recurse.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "frontend/files/text.hpp"
#include "lexer.hpp"
#include "syntax.hpp"

namespace ATON_NAMESPACE::torchscript {

class expression_parser {
public:
    /// `where` is the start of messages: "archive: file".
    expression_parser(std::vector<token> tokens, std::string where)
        : tokens_(std::move(tokens)),
          where_(std::move(where)) {}

protected:
    static constexpr int max_depth = 200; ///< of expressions and statements

    /// Bounds the recursion.
    class level {
    public:
        explicit level(expression_parser& owner) : owner_(owner) {
            if (++owner_.depth_ > max_depth) owner_.fail("the code is nested more than 200 levels deep");
        }
        level(level const&) = delete;
        level& operator=(level const&) = delete;
        ~level() { --owner_.depth_; }

    private:
        expression_parser& owner_;
    };

    [[nodiscard]] token const& now() const { return tokens_[at_]; }
    void next() {
        if (at_ + 1 < tokens_.size()) ++at_;
    }
    [[nodiscard]] bool is_symbol(std::string_view text) const {
        return now().is == token_kind::symbol && now().text == text;
    }
    [[nodiscard]] bool is_name(std::string_view text) const {
        return now().is == token_kind::name && now().text == text;
    }
    bool take_symbol(std::string_view text) {
        if (!is_symbol(text)) return false;
        next();
        return true;
    }
    bool take_name(std::string_view text) {
        if (!is_name(text)) return false;
        next();
        return true;
    }
    void expect(std::string_view symbol) {
        if (!take_symbol(symbol)) fail("expected " + files::in_quotes(symbol) + ", found " + describe());
    }
    std::string expect_name() {
        if (now().is != token_kind::name) fail("expected a name, found " + describe());
        std::string out = now().text;
        next();
        return out;
    }
    void expect_line() {
        if (now().is != token_kind::line) fail("expected the end of the line, found " + describe());
        next();
    }
    void skip_line() {
        while (now().is != token_kind::line && now().is != token_kind::end) next();
        next();
    }
    [[nodiscard]] std::string describe() const {
        switch (now().is) {
        case token_kind::line: return "the end of the line";
        case token_kind::indent: return "an indented line";
        case token_kind::dedent: return "the end of the block";
        case token_kind::end: return "the end of the file";
        default: return files::in_quotes(now().text);
        }
    }
    [[noreturn]] void fail(std::string_view what) const {
        files::fail(where_ + ':' + std::to_string(now().line), what);
    }

    /// `a`, or a tuple without parentheses: `a, b`.
    expr read_list_of_expressions() {
        expr first = read_expression();
        if (!is_symbol(",")) return first;
        expr out;
        out.is = expr_kind::tuple;
        out.line = first.line;
        out.offset = first.offset;
        out.items.push_back(std::move(first));
        while (take_symbol(","))
            if (now().is != token_kind::line) out.items.push_back(read_expression());
        return out;
    }

    expr read_expression() {
        level const bound(*this);
        expr value = read_unary();
        if (is_symbol("+") || is_symbol("-")) value = read_imaginary(value);
        if (!is_name("if")) return value;
        expr out;
        out.is = expr_kind::conditional;
        out.line = now().line;
        out.offset = now().offset;
        next();
        out.items.push_back(std::move(value));
        out.items.push_back(read_unary());
        if (!take_name("else")) fail("expected 'else', found " + describe());
        out.items.push_back(read_expression());
        return out;
    }

    /// The second part of `1.5-2.j`.
    expr read_imaginary(expr const& real) {
        bool const is_minus = is_symbol("-");
        next();
        expr const second = read_unary();
        bool const is_negative = real.is == expr_kind::negative;
        expr const& size = is_negative ? real.items[0] : real;
        if (second.is != expr_kind::complex || (size.is != expr_kind::real && size.is != expr_kind::integer))
            fail("operators between values are not part of TorchScript's code, except in complex numbers");
        expr out = second;
        out.line = real.line;
        out.offset = real.offset;
        out.real = size.is == expr_kind::real ? size.real : static_cast<double>(size.integer);
        if (is_negative) out.real = -out.real;
        if (is_minus) out.imaginary = -out.imaginary;
        return out;
    }

    expr read_unary() {
        level const bound(*this);
        if (!is_symbol("-")) return read_postfix();
        expr out;
        out.is = expr_kind::negative;
        out.line = now().line;
        out.offset = now().offset;
        next();
        if (now().is == token_kind::integer && now().text == "9223372036854775808") {
            next();
            out.is = expr_kind::integer;
            out.integer = std::numeric_limits<std::int64_t>::min();
            return out;
        }
        out.items.push_back(read_unary());
        return out;
    }

    expr read_postfix() {
        std::uint32_t const start = now().offset;
        expr out = read_primary();
        for (int length = 0;; ++length) {
            if (length > max_depth) fail("the code is nested more than 200 levels deep");
            std::uint32_t const line = now().line;
            expr made;
            made.line = line;
            made.offset = start;
            if (take_symbol(".")) {
                made.is = expr_kind::attribute;
                made.text = expect_name();
                made.items.push_back(std::move(out));
            } else if (take_symbol("[")) {
                made.is = expr_kind::subscript;
                made.items.push_back(std::move(out));
                expr index = read_expression();
                if (is_symbol(",")) { // a type: Dict[str, int]
                    expr all;
                    all.is = expr_kind::tuple;
                    all.line = line;
                    all.items.push_back(std::move(index));
                    while (take_symbol(","))
                        if (!is_symbol("]")) all.items.push_back(read_expression());
                    index = std::move(all);
                }
                expect("]");
                made.items.push_back(std::move(index));
            } else if (take_symbol("(")) {
                made.is = expr_kind::call;
                made.items.push_back(std::move(out));
                read_arguments(made);
            } else {
                return out;
            }
            out = std::move(made);
        }
    }

    void read_arguments(expr& call) {
        while (!is_symbol(")")) {
            expr value = read_expression();
            if (is_symbol("=")) {
                if (value.is != expr_kind::name) fail("expected the name of an argument in front of '='");
                next();
                call.keywords.push_back(value.text);
                call.items.push_back(read_expression());
            } else {
                if (!call.keywords.empty()) fail("a positional argument follows a keyword argument");
                call.items.push_back(std::move(value));
            }
            if (!take_symbol(",")) break;
        }
        expect(")");
    }

    expr read_primary() {
        expr out;
        out.line = now().line;
        out.offset = now().offset;
        switch (now().is) {
        case token_kind::integer: {
            out.is = expr_kind::integer;
            std::string const& digits = now().text;
            auto const [stop, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), out.integer);
            if (fault != std::errc() || stop != digits.data() + digits.size())
                fail("the integer " + files::in_quotes(digits) + " does not fit in 64 bits");
            next();
            return out;
        }
        case token_kind::real:
            out.is = expr_kind::real;
            out.real = read_real();
            return out;
        case token_kind::imaginary:
            out.is = expr_kind::complex;
            out.imaginary = read_real();
            return out;
        case token_kind::text:
            out.is = expr_kind::text;
            for (; now().is == token_kind::text; next()) out.text += now().text;
            return out;
        case token_kind::name: return read_name(std::move(out));
        case token_kind::symbol: break;
        default: fail("expected an expression, found " + describe());
        }
        if (take_symbol("(")) return read_items(std::move(out), ")");
        if (take_symbol("[")) return read_items(std::move(out), "]");
        if (take_symbol("{")) return read_items(std::move(out), "}");
        fail("expected an expression, found " + describe());
    }

    double read_real() {
        char* stop = nullptr;
        double const out = std::strtod(now().text.c_str(), &stop);
        if (stop != now().text.c_str() + now().text.size()) fail("malformed number " + files::in_quotes(now().text));
        next();
        return out;
    }

    expr read_name(expr out) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
        std::string name = expect_name();
        if (name == "None") return out;
        if (name == "True" || name == "False") {
            out.is = expr_kind::boolean;
            out.integer = name == "True" ? 1 : 0;
        } else if (name == "inf" || name == "nan") {
            out.is = expr_kind::real;
            out.real = name == "inf" ? infinity : not_a_number;
        } else if (name == "infj" || name == "nanj") {
            out.is = expr_kind::complex;
            out.imaginary = name == "infj" ? infinity : not_a_number;
        } else if (name == "lambda" || name == "def" || name == "class") {
            fail(files::in_quotes(name) + " is not supported");
        } else {
            out.is = expr_kind::name;
            out.text = std::move(name);
        }
        return out;
    }

    /// The items of a list, tuple or dict; `(x)` is x.
    expr read_items(expr out, std::string_view close) {
        bool const is_dict = close == "}";
        out.is = is_dict ? expr_kind::dict : close == "]" ? expr_kind::list : expr_kind::tuple;
        bool has_comma = false;
        while (!is_symbol(close)) {
            out.items.push_back(read_expression());
            if (is_dict) {
                expect(":");
                out.items.push_back(read_expression());
            }
            if (!take_symbol(",")) break;
            has_comma = true;
        }
        expect(close);
        if (out.is != expr_kind::tuple || has_comma || out.items.size() != 1) return out;
        expr only = std::move(out.items[0]);
        return only;
    }

private:
    std::vector<token> tokens_;
    std::string where_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

} // namespace ATON_NAMESPACE::torchscript
