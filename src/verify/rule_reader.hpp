// SPDX-License-Identifier: MIT
// Reads the tokens of a sampling rule: words, numbers, expressions of sizes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <aton/aten/schema_type.hpp>
#include <aton/core/dtype.hpp>
#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::verify {

/// The part of a rule for one argument, without its reason; empty if there is none, or if the argument is drawn by its type.
[[nodiscard]] std::string_view part_of_rule(std::string_view rule, std::string_view argument);
/// Why the rule restricts the values of the argument: what follows `because`; empty if it gives no reason.
[[nodiscard]] std::string_view reason_of_rule(std::string_view rule, std::string_view argument);

/// One of the alternatives of a rule, which the part `or` separates; `chosen` is any number.
[[nodiscard]] std::string_view alternative_of_rule(std::string_view rule, std::uint64_t chosen);

/// Whether an argument of this type says where or how a tensor is stored; without a rule of its own, it is not passed.
[[nodiscard]] constexpr bool is_placement(aten::base_type t) {
    return t == aten::base_type::layout || t == aten::base_type::device || t == aten::base_type::memory_format ||
           t == aten::base_type::generator;
}

class rule_reader {
public:
    /// `size_of` gives the value of a word.
    rule_reader(std::string_view text, std::function<std::int64_t(std::string_view)> size_of)
        : text_(text),
          size_of_(std::move(size_of)) {}

    [[nodiscard]] bool at_end() {
        skip();
        return at_ == text_.size();
    }
    /// Consumes this token if it comes next. A word matches as a whole.
    bool take(std::string_view what);
    [[nodiscard]] bool next_is(std::string_view what);
    /// Consumes a word; empty if none comes next.
    std::string_view word();
    void expect(std::string_view what);
    /// A number, a word, or an expression in parentheses.
    std::int64_t size() { return factor(); }
    /// A sum of products of sizes.
    std::int64_t expression();
    /// An expression or a number with a decimal point, which sets `is_real`.
    double bound(bool& is_real);
    std::string quoted();
    /// The dtype with this name; "own" is `own`.
    [[nodiscard]] dtype type_named(std::string_view name, dtype own) const;

    [[noreturn]] void refuse(std::string const& what) const {
        throw error("sampling rule '" + std::string(text_) + "', at " + std::to_string(at_) + ": " + what);
    }

private:
    void skip();
    std::int64_t product();
    std::int64_t factor();

    std::string_view text_;
    std::size_t at_ = 0;
    std::function<std::int64_t(std::string_view)> size_of_;
};

} // namespace ATON_NAMESPACE::verify
