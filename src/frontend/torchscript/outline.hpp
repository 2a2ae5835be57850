// SPDX-License-Identifier: MIT
// The outline of a file of TorchScript's code: where its classes, their members, and its functions are. Lines and their indentation tell it,
// because no string of the code has a line break, and what belongs to a line is indented deeper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <aton/version.hpp>

#include "lexer.hpp"

namespace ATON_NAMESPACE::torchscript {

/// A line of code and the lines below it that are indented deeper.
struct code_block {
    std::string_view text; ///< without the blanks in front of its first line
    code_place place;

    /// Whether the block starts with a keyword.
    [[nodiscard]] bool starts_with(std::string_view keyword) const {
        return text.starts_with(keyword) && text.size() > keyword.size() && text[keyword.size()] == ' ';
    }
};

/// Splits code into blocks, one after the other. Empty lines and lines that are comments are no blocks.
class block_cursor {
public:
    /// The blocks of a file, or those inside of `block`, after its first line.
    explicit block_cursor(std::string_view file) : file_(file) {}
    block_cursor(std::string_view file, code_block const& block)
        : file_(file.substr(0, block.place.offset + block.text.size())) {
        line_ = block.place.line;
        at_ = block.place.offset;
        skip_line();
    }

    [[nodiscard]] bool next(code_block& out) {
        while (at_ != file_.size() && is_empty()) skip_line();
        if (at_ == file_.size()) return false;
        out.place.line = line_;
        out.place.indentation = static_cast<std::uint32_t>(indentation());
        std::size_t const start = at_ + out.place.indentation;
        out.place.offset = static_cast<std::uint32_t>(start);
        std::size_t stop = start;
        do {
            skip_line();
            stop = at_;
            while (at_ != file_.size() && is_empty()) skip_line();
        } while (at_ != file_.size() && indentation() > out.place.indentation);
        out.text = file_.substr(start, stop - start);
        return true;
    }

private:
    [[nodiscard]] std::size_t indentation() const {
        std::size_t at = at_;
        while (at != file_.size() && file_[at] == ' ') ++at;
        return at - at_;
    }
    [[nodiscard]] bool is_empty() const {
        std::size_t const at = at_ + indentation();
        return at == file_.size() || file_[at] == '\n' || file_[at] == '\r' || file_[at] == '#';
    }
    void skip_line() {
        while (at_ != file_.size() && file_[at_] != '\n') ++at_;
        if (at_ == file_.size()) return;
        ++at_;
        ++line_;
    }

    std::string_view file_;
    std::size_t at_ = 0;
    std::uint32_t line_ = 1;
};

} // namespace ATON_NAMESPACE::torchscript
