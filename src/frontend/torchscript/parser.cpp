// SPDX-License-Identifier: MIT
#include "parser.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "expression_parser.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;

class parser : expression_parser {
public:
    parser(std::vector<token> tokens, code_file& out, std::string where)
        : expression_parser(std::move(tokens), std::move(where)),
          out_(out) {}

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
        out.offset = now().offset;
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
        one.offset = out[0].offset;
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

    code_file& out_;
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
