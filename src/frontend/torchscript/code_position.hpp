// SPDX-License-Identifier: MIT
// Where the interpreter is: in which call and at which place of the code. Messages and nodes name it, and it counts the steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include <aton/program/program.hpp>

#include "lexer.hpp"
#include "library.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

/// A call of a function of the code.
struct frame {
    std::unordered_map<std::string_view, value> variables;
    function_code const* function = nullptr;
    std::string module;
    std::string module_type;
    std::size_t made = 0; ///< containers and objects before the call
    value result;
    std::unordered_map<std::string_view, stmt const*> closures; ///< functions without arguments in the function
};

class code_position {
public:
    /// `made`: the program that the code becomes.
    code_position(library& code, program::program const& made) : code_(code), made_(made) {}

    /// The call that runs; null outside of any function, as default values of forward's arguments are.
    [[nodiscard]] frame* current() const { return frame_; }
    /// Lets another call run, and returns the one that ran.
    frame* enter(frame* other);
    /// Null if there is none.
    [[nodiscard]] value const* find_variable(std::string_view name) const;

    /// An expression, a statement or another place with a line.
    template <class Syntax>
    void go_to(Syntax const& s) {
        line_ = s.line;
        offset_ = s.offset;
    }
    [[nodiscard]] code_place place() const { return {line_, offset_}; }

    /// Counts the steps that a piece of the code costs: loops may not end.
    void spend(std::size_t steps);
    /// "net.py:12 in forward (code/net.py:34)"; empty outside of any function.
    [[nodiscard]] std::string where() const;
    [[noreturn]] void fail(std::string_view what) const;
    [[noreturn]] void fail_undecidable(std::string_view what, value const& condition) const;

private:
    library& code_;
    program::program const& made_;
    frame* frame_ = nullptr;
    std::uint32_t line_ = 0;
    std::uint32_t offset_ = 0;
    std::size_t steps_ = 0;
};

/// The constant that a value is, where nothing else will do: `as` is "a key of a dict".
[[nodiscard]] constant const& constant_in(code_position const& at, value const& v, std::string_view as);
/// The index of an item, counted from the end if it is negative.
[[nodiscard]] std::int64_t position_in(code_position const& at, value const& index, std::size_t size);

} // namespace ATON_NAMESPACE::torchscript
