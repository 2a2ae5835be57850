// SPDX-License-Identifier: MIT
#include "parser.hpp"

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "../pt2/text.hpp"
#include "lexer.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using pt2::in_quotes;

constexpr int max_depth = 200; ///< of expressions and statements

class parser {
public:
    parser(std::vector<token> tokens, code_file& out, std::string where)
        : tokens_(std::move(tokens)),
          out_(out),
          where_(std::move(where)) {}

    void run() {
        while (now().is != token_kind::end) {
            if (is_name("class")) read_class();
            else if (is_name("def")) out_.functions.push_back(read_function());
            else if (is_name("import") || is_name("from") || is_name("op_version_set")) skip_line();
            else if (now().is == token_kind::line) next();
            else fail("expected a class or a function, found " + describe());
        }
    }

private:
    /// Bounds the recursion.
    class level {
    public:
        explicit level(parser& owner) : owner_(owner) {
            if (++owner_.depth_ > max_depth) owner_.fail("the code is nested more than 200 levels deep");
        }
        level(level const&) = delete;
        level& operator=(level const&) = delete;
        ~level() { --owner_.depth_; }

    private:
        parser& owner_;
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
        if (!take_symbol(symbol)) fail("expected " + in_quotes(symbol) + ", found " + describe());
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
        default: return in_quotes(now().text);
        }
    }
    [[noreturn]] void fail(std::string_view what) const { pt2::fail(where_ + ':' + std::to_string(now().line), what); }

    void read_class() {
        next();
        class_code& made = out_.classes.emplace_back();
        made.name = expect_name();
        if (take_symbol("(")) {
            if (!is_symbol(")")) made.base = expect_name();
            while (take_symbol(".")) made.base = expect_name();
            expect(")");
        }
        expect(":");
        expect_line();
        if (now().is != token_kind::indent) fail("expected the body of class " + in_quotes(made.name));
        next();
        while (now().is != token_kind::dedent && now().is != token_kind::end) {
            if (is_name("def")) made.methods.push_back(read_function());
            else if (take_name("pass")) expect_line();
            else read_attribute(made);
        }
        next();
    }

    /// `weight : Tensor`, `scale : Final[int] = 2`, `__parameters__ = []`, `__annotations__["0"] = T`.
    void read_attribute(class_code& to) {
        expr const target = read_expression();
        class_attribute made;
        if (target.is == expr_kind::name) made.name = target.text;
        if (take_symbol(":")) made.type = read_expression();
        if (take_symbol("=")) made.value = read_expression();
        expect_line();
        if (target.is == expr_kind::subscript && target.items[1].is == expr_kind::text) {
            made.name = target.items[1].text;
            made.type = std::exchange(made.value, std::nullopt);
        }
        if (made.name.empty()) fail("expected an attribute of class " + in_quotes(to.name));
        to.attributes.push_back(std::move(made));
    }

    function_code read_function() {
        next();
        function_code out;
        out.line = now().line;
        out.name = expect_name();
        expect("(");
        while (!is_symbol(")")) {
            parameter& each = out.parameters.emplace_back();
            if (take_symbol("*")) {
                out.parameters.pop_back();
            } else {
                each.name = expect_name();
                if (take_symbol(":")) each.type = read_expression();
                if (take_symbol("=")) each.fallback = read_expression();
            }
            if (!take_symbol(",")) break;
        }
        expect(")");
        if (take_symbol("->")) (void)read_expression();
        expect(":");
        out.body = read_block();
        return out;
    }

    std::vector<stmt> read_block() {
        level const bound(*this);
        expect_line();
        if (now().is != token_kind::indent) fail("expected an indented block, found " + describe());
        next();
        std::vector<stmt> out;
        while (now().is != token_kind::dedent && now().is != token_kind::end) out.push_back(read_statement());
        next();
        return out;
    }

    stmt read_statement() {
        stmt out;
        out.line = now().line;
        if (take_name("pass")) {
            expect_line();
        } else if (take_name("if")) {
            out.is = stmt_kind::if_;
            out.value = read_expression();
            expect(":");
            out.body = read_block();
            if (is_name("elif")) fail("elif is not part of TorchScript's code");
            if (take_name("else")) {
                expect(":");
                out.other = read_block();
            }
        } else if (take_name("while")) {
            out.is = stmt_kind::while_;
            out.value = read_expression();
            expect(":");
            out.body = read_block();
        } else if (take_name("for")) {
            out.is = stmt_kind::for_;
            out.targets = read_targets();
            if (!take_name("in")) fail("expected 'in', found " + describe());
            out.value = read_expression();
            expect(":");
            out.body = read_block();
        } else if (take_name("return")) {
            out.is = stmt_kind::return_;
            if (now().is != token_kind::line) out.value = read_list_of_expressions();
            expect_line();
        } else {
            read_assignment(out);
        }
        return out;
    }

    std::vector<expr> read_targets() {
        std::vector<expr> out{read_expression()};
        bool is_tuple = false;
        while (take_symbol(",")) {
            is_tuple = true;
            if (is_symbol("=") || is_name("in")) break; // a trailing comma
            out.push_back(read_expression());
        }
        if (out.size() != 1 || !is_tuple) return out;
        expr one; // `x, = t`
        one.is = expr_kind::tuple;
        one.line = out[0].line;
        one.items = std::move(out);
        out.clear();
        out.push_back(std::move(one));
        return out;
    }

    void read_assignment(stmt& out) {
        out.targets = read_targets();
        if (take_symbol(":")) (void)read_expression(); // an annotation
        if (is_symbol("=")) {
            next();
            out.is = stmt_kind::assign;
            out.value = read_list_of_expressions();
        } else {
            if (out.targets.size() != 1) fail("expected '=', found " + describe());
            out.is = stmt_kind::expression;
            out.value = std::move(out.targets[0]);
            out.targets.clear();
        }
        expect_line();
    }

    /// `a`, or a tuple without parentheses: `a, b`.
    expr read_list_of_expressions() {
        expr first = read_expression();
        if (!is_symbol(",")) return first;
        expr out;
        out.is = expr_kind::tuple;
        out.line = first.line;
        out.items.push_back(std::move(first));
        while (take_symbol(","))
            if (now().is != token_kind::line) out.items.push_back(read_expression());
        return out;
    }

    expr read_expression() {
        level const bound(*this);
        expr value = read_unary();
        if (!is_name("if")) return value;
        expr out;
        out.is = expr_kind::conditional;
        out.line = now().line;
        next();
        out.items.push_back(std::move(value));
        out.items.push_back(read_unary());
        if (!take_name("else")) fail("expected 'else', found " + describe());
        out.items.push_back(read_expression());
        return out;
    }

    expr read_unary() {
        level const bound(*this);
        if (!is_symbol("-")) return read_postfix();
        expr out;
        out.is = expr_kind::negative;
        out.line = now().line;
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
        expr out = read_primary();
        for (int length = 0;; ++length) {
            if (length > max_depth) fail("the code is nested more than 200 levels deep");
            std::uint32_t const line = now().line;
            expr made;
            made.line = line;
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
        switch (now().is) {
        case token_kind::integer: {
            out.is = expr_kind::integer;
            std::string const& digits = now().text;
            auto const [stop, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), out.integer);
            if (fault != std::errc() || stop != digits.data() + digits.size())
                fail("the integer " + in_quotes(digits) + " does not fit in 64 bits");
            next();
            return out;
        }
        case token_kind::real: {
            out.is = expr_kind::real;
            char* stop = nullptr;
            out.real = std::strtod(now().text.c_str(), &stop);
            if (stop != now().text.c_str() + now().text.size()) fail("malformed number " + in_quotes(now().text));
            next();
            if (is_name("j")) fail("complex numbers in the code are not supported");
            return out;
        }
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

    expr read_name(expr out) {
        std::string name = expect_name();
        if (name == "None") return out;
        if (name == "True" || name == "False") {
            out.is = expr_kind::boolean;
            out.integer = name == "True" ? 1 : 0;
        } else if (name == "inf" || name == "nan") {
            out.is = expr_kind::real;
            out.real =
                name == "inf" ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
        } else if (name == "lambda" || name == "with" || name == "def" || name == "class") {
            fail(in_quotes(name) + " is not supported");
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

    std::vector<token> tokens_;
    code_file& out_;
    std::string where_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

/// "code/__torch__/a/b.py" -> "__torch__.a.b"
std::string module_of(std::string_view member) {
    if (member.starts_with("code/")) member.remove_prefix(5);
    if (member.ends_with(".py")) member.remove_suffix(3);
    std::string out(member);
    for (char& c : out)
        if (c == '/') c = '.';
    return out;
}

} // namespace

std::unique_ptr<code_file> parse(std::string_view code, std::string name, std::string_view archive) {
    auto out = std::make_unique<code_file>();
    out->name = std::move(name);
    std::string const where = std::string(archive) + ": " + out->name;
    parser(tokenize(code, where), *out, where).run();
    std::string const module = module_of(out->name);
    for (function_code& f : out->functions) f.file = out.get();
    for (class_code& c : out->classes) {
        c.qualified = module + '.' + c.name;
        c.file = out.get();
        for (function_code& f : c.methods) f.file = out.get();
    }
    return out;
}

} // namespace ATON_NAMESPACE::torchscript
