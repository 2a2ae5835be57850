// SPDX-License-Identifier: MIT
// The tokens that size expressions and guards have in common: a position in the text, and how deep it is nested.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <aton/program/expression.hpp>

#include "lexemes.hpp"

namespace ATON_NAMESPACE::pt2 {

/// A parser derives from it and says how it fails.
class token_cursor {
public:
    /// Throws. `what` is what the grammar expects at the current position.
    [[noreturn]] virtual void fail(std::string const& what) const = 0;

    token_cursor(token_cursor const&) = delete;
    token_cursor& operator=(token_cursor const&) = delete;

protected:
    token_cursor(std::string_view text, std::string_view blanks, int max_nesting)
        : text_(text),
          blanks_(blanks),
          max_nesting_(max_nesting) {}
    ~token_cursor() = default;

    /// The next character that is not a blank, without consuming it; 0 at the end.
    char peek() {
        while (at_ != text_.size() && blanks_.find(text_[at_]) != std::string_view::npos) ++at_;
        return at_ == text_.size() ? '\0' : text_[at_];
    }
    bool take(std::string_view token) {
        peek();
        if (!rest().starts_with(token)) return false;
        at_ += token.size();
        return true;
    }
    /// Takes `token` unless `longer`, which starts with it, is next.
    bool take_but_not(std::string_view token, std::string_view longer) {
        peek();
        return !rest().starts_with(longer) && take(token);
    }
    void expect(std::string_view token) {
        if (!take(token)) fail("expected '" + std::string(token) + "'");
    }

    /// Takes the sign of a comparison, such as ">=".
    std::optional<program::expression_kind> take_relation() {
        struct relation {
            std::string_view sign;
            program::expression_kind kind;
        };
        using enum program::expression_kind;
        static constexpr relation relations[] = {
            {"==", equal}, {"!=", unequal}, {">=", greater_equal}, {"<=", less_equal}, {">", greater}, {"<", less}};
        for (relation const& row : relations)
            if (take(row.sign)) return row.kind;
        return std::nullopt;
    }

    [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }

    /// Counts a level of nesting while it exists, and fails if there are too many.
    class nesting {
    public:
        explicit nesting(token_cursor& c) : c_(c) {
            if (++c_.depth_ > c_.max_nesting_)
                c_.fail("expected at most " + std::to_string(c_.max_nesting_) + " levels of nesting");
        }
        nesting(nesting const&) = delete;
        nesting& operator=(nesting const&) = delete;
        ~nesting() { --c_.depth_; }

    private:
        token_cursor& c_;
    };

    std::string_view text_;
    std::size_t at_ = 0;

private:
    std::string_view blanks_;
    int max_nesting_;
    int depth_ = 0;
};

} // namespace ATON_NAMESPACE::pt2
