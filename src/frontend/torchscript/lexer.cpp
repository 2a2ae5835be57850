// SPDX-License-Identifier: MIT
#include "lexer.hpp"

#include <cstddef>
#include <utility>

#include "frontend/files/text.hpp"
#include "frontend/pt2/lexemes.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;
using pt2::is_digit;
using pt2::is_name_start;

constexpr std::size_t max_tokens = std::size_t{1} << 22U;
constexpr std::size_t max_indentation = 100; ///< levels

class lexer {
public:
    lexer(std::string_view code, std::string_view where, code_place const& place)
        : code_(code),
          where_(where),
          offset_(place.offset),
          line_(place.line),
          at_line_start_(place.indentation == 0),
          levels_{place.indentation} {}

    std::vector<token> run() {
        while (at_ != code_.size()) {
            if (at_line_start_ && depth_ == 0) {
                indent();
                continue;
            }
            step();
        }
        if (!at_line_start_) push(token_kind::line, {});
        for (; levels_.size() != 1; levels_.pop_back()) push(token_kind::dedent, {});
        push(token_kind::end, {});
        return std::move(out_);
    }

private:
    void indent() {
        std::size_t const start = at_;
        while (at_ != code_.size() && code_[at_] == ' ') ++at_;
        std::size_t const width = at_ - start;
        if (at_ == code_.size()) return;
        if (code_[at_] == '\n' || code_[at_] == '#' || code_[at_] == '\r') return skip_line();
        at_line_start_ = false;
        if (width > levels_.back()) {
            if (levels_.size() == max_indentation) fail("blocks are nested more than 100 levels deep");
            levels_.push_back(width);
            push(token_kind::indent, {});
        }
        for (; width < levels_.back(); levels_.pop_back()) push(token_kind::dedent, {});
        if (width != levels_.back()) fail("the indentation does not match an outer block");
    }

    void skip_line() {
        while (at_ != code_.size() && code_[at_] != '\n') ++at_;
        if (at_ == code_.size()) return;
        ++at_;
        ++line_;
    }

    void step() {
        start_ = at_;
        char const c = code_[at_];
        if (c == ' ' || c == '\r' || c == '\t') {
            ++at_;
        } else if (c == '\n') {
            if (depth_ == 0) {
                push(token_kind::line, {});
                at_line_start_ = true;
            }
            ++at_;
            ++line_;
        } else if (c == '#') {
            while (at_ != code_.size() && code_[at_] != '\n') ++at_;
        } else if (is_name_start(c)) {
            std::size_t const start = at_;
            while (at_ != code_.size() && (is_name_start(code_[at_]) || is_digit(code_[at_]))) ++at_;
            push(token_kind::name, std::string(code_.substr(start, at_ - start)));
        } else if (is_digit(c) || (c == '.' && at_ + 1 != code_.size() && is_digit(code_[at_ + 1]))) {
            pt2::number_text const number = pt2::number_at(code_, at_);
            at_ += number.digits.size();
            bool const is_imaginary = at_ != code_.size() && code_[at_] == 'j';
            if (is_imaginary) ++at_;
            push(is_imaginary     ? token_kind::imaginary
                 : number.is_real ? token_kind::real
                                  : token_kind::integer,
                 std::string(number.digits));
        } else if (c == '"' || c == '\'') {
            text(c);
        } else {
            symbol();
        }
    }

    void text(char quote) {
        std::string out;
        for (++at_;; ++at_) {
            if (at_ == code_.size() || code_[at_] == '\n') fail("a string is not closed");
            char const c = code_[at_];
            if (c == quote) break;
            if (c != '\\') out += c;
            else out += escaped();
        }
        ++at_;
        push(token_kind::text, std::move(out));
    }

    /// The character of an escape sequence; at its last character afterwards.
    char escaped() {
        if (++at_ == code_.size()) fail("a string is not closed");
        char const c = code_[at_];
        switch (c) {
        case 'n': return '\n';
        case 't': return '\t';
        case 'r': return '\r';
        case 'a': return '\a';
        case 'b': return '\b';
        case 'f': return '\f';
        case 'v': return '\v';
        case '\\':
        case '\'':
        case '"': return c;
        default: break;
        }
        int code = 0;
        int digits = 0;
        for (; digits != 3 && at_ != code_.size() && code_[at_] >= '0' && code_[at_] <= '7'; ++digits)
            code = code * 8 + (code_[at_++] - '0');
        if (digits == 0) fail("unknown escape sequence " + in_quotes(std::string("\\") + c) + " in a string");
        --at_;
        return static_cast<char>(code & 255);
    }

    void symbol() {
        constexpr std::string_view pairs[] = {"->", "==", "!=", "<=", ">=", "//", "**", "+=", "-=", "*=", "/="};
        constexpr std::string_view singles = "()[]{},:.=-+*/%<>~@&|^;";
        for (std::string_view const pair : pairs)
            if (code_.substr(at_, 2) == pair) {
                at_ += 2;
                return push(token_kind::symbol, std::string(pair));
            }
        char const c = code_[at_];
        if (singles.find(c) == std::string_view::npos) fail("unexpected character " + in_quotes(code_.substr(at_, 1)));
        if (c == '(' || c == '[' || c == '{') ++depth_;
        if (c == ')' || c == ']' || c == '}') {
            if (depth_ == 0) fail("a closing bracket without an opening one");
            --depth_;
        }
        ++at_;
        push(token_kind::symbol, std::string(1, c));
    }

    void push(token_kind kind, std::string text) {
        if (out_.size() == max_tokens) fail("the file has more than 4194304 tokens");
        out_.push_back({kind, line_, offset_ + static_cast<std::uint32_t>(start_), std::move(text)});
    }

    [[noreturn]] void fail(std::string_view what) const {
        files::fail(std::string(where_) + ':' + std::to_string(line_), what);
    }

    std::string_view code_;
    std::string_view where_;
    std::size_t at_ = 0;
    std::size_t start_ = 0; ///< of the token
    std::uint32_t offset_;  ///< of the code in its file
    std::uint32_t line_;
    std::size_t depth_ = 0; ///< of brackets
    bool at_line_start_;
    std::vector<std::size_t> levels_;
    std::vector<token> out_;
};

} // namespace

std::vector<token> tokenize(std::string_view code, std::string_view where, code_place const& place) {
    return lexer(code, where, place).run();
}

} // namespace ATON_NAMESPACE::torchscript
