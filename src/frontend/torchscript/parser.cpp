// SPDX-License-Identifier: MIT
#include "parser.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expression_parser.hpp"
#include "outline.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;

/// Parses one block of a file: an attribute, the first line of a class, or a function.
class parser : expression_parser {
public:
    parser(code_block const& block, std::string const& where)
        : expression_parser(tokenize(block.text, where, block.place), where) {}

    /// `class Conv2d(Module):`
    void read_class(class_code& made) {
        next();
        made.name = expect_name();
        if (take_symbol("(")) {
            if (!is_symbol(")")) made.base = expect_name();
            while (take_symbol(".")) made.base = expect_name();
            expect(")");
        }
        expect(":");
        expect_line();
    }

    /// `weight : Tensor`, `scale : Final[int] = 2`, `__parameters__ = []`, `__annotations__["0"] = T`.
    void read_attribute(class_code& to) {
        if (take_name("pass")) return expect_line();
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

    function_code::parts read_function() {
        next();
        function_code::parts out;
        (void)expect_name();
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
        if (now().is != token_kind::end) fail("expected the end of the function, found " + describe());
        return out;
    }

private:
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
        } else if (take_name("def")) { // what fork() runs
            out.is = stmt_kind::def_;
            expr& name = out.targets.emplace_back();
            name.is = expr_kind::name;
            name.text = expect_name();
            expect("(");
            expect(")");
            expect(":");
            out.body = read_block();
        } else if (take_name("with")) {
            out.is = stmt_kind::with_;
            out.value = read_expression();
            if (take_name("as")) out.targets.push_back(read_expression());
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
};

/// A function whose source is not parsed yet.
function_code outline_of(code_block const& block) {
    function_code out;
    std::string_view rest = block.text.substr(4);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    out.name = rest.substr(0, rest.find_first_of(" (:\r\n"));
    out.line = block.place.line;
    out.source = block.text;
    out.offset = block.place.offset;
    out.indentation = block.place.indentation;
    return out;
}

class_code read_class(code_file const& file, code_block const& block) {
    class_code out;
    parser({block.text.substr(0, block.text.find('\n')), block.place}, file.where).read_class(out);
    block_cursor members(file.text, block);
    for (code_block each; members.next(each);) {
        if (each.starts_with("def")) out.methods.push_back(outline_of(each));
        else parser(each, file.where).read_attribute(out);
    }
    if (out.methods.empty() && out.attributes.empty() && block.text.find("pass") == std::string_view::npos)
        files::fail(file.where + ':' + std::to_string(block.place.line),
                    "expected the body of class " + in_quotes(out.name));
    return out;
}

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

function_code::parts const& function_code::parsed() const {
    if (!parsed_) parsed_ = parser({source, {line, offset, indentation}}, file->where).read_function();
    return *parsed_;
}

std::unique_ptr<code_file> parse(std::string_view code, std::string name, std::string_view archive) {
    auto out = std::make_unique<code_file>();
    out->name = std::move(name);
    out->where = std::string(archive) + ": " + out->name;
    out->text = code;
    block_cursor blocks(out->text);
    for (code_block each; blocks.next(each);) {
        if (each.starts_with("class")) out->classes.push_back(read_class(*out, each));
        else if (each.starts_with("def")) out->functions.push_back(outline_of(each));
        else if (!each.starts_with("import") && !each.starts_with("from") && !each.starts_with("op_version_set"))
            files::fail(out->where + ':' + std::to_string(each.place.line), "expected a class or a function");
    }
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
