// SPDX-License-Identifier: MIT
// Splits TorchScript's code into tokens, with Python's rules for lines and indentation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::torchscript {

enum class token_kind : std::uint8_t {
    name,
    integer,
    real,
    imaginary, ///< a number in front of `j`
    text,      ///< with its escape sequences decoded
    symbol,    ///< an operator or a bracket: "->", "(", "="
    line,      ///< the end of a statement
    indent,
    dedent,
    end,
};

struct token {
    token_kind is = token_kind::end;
    std::uint32_t line = 0;
    std::uint32_t offset = 0; ///< of its first byte
    std::string text;
};

/// Where a piece of code starts in its file.
struct code_place {
    std::uint32_t line = 1;
    std::uint32_t offset = 0;
    std::uint32_t indentation = 0; ///< of its first line, whose blanks are not part of it
};

/// The tokens, the last of which is `end`. Throws aton::error, "where:LINE: ..."; `where` names the file.
[[nodiscard]] std::vector<token> tokenize(std::string_view code, std::string_view where, code_place const& place = {});

} // namespace ATON_NAMESPACE::torchscript
