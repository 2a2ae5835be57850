// SPDX-License-Identifier: MIT
// The equation of an Einsum with a letter for every axis of every operand.
// Internal header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/shape.hpp>

namespace ATON_NAMESPACE {

/// The letters of the axes of the operands and of the result. An axis of an ellipsis has a letter that the equation does not use.
struct einsum_equation {
    std::vector<std::string> operands;
    std::string result;

    /// "ab,bc->ac".
    template <class = void>
    [[nodiscard]] std::string text() const {
        std::string out;
        for (std::size_t i = 0; i != operands.size(); ++i) out += (i == 0 ? "" : ",") + operands[i];
        return out + "->" + result;
    }

    /// Whether the operands that have this index, with a size that is not known to be 1, are fewer than two and the result does not have it:
    /// its sum is a reduction of one operand, and not a part of a product.
    template <class = void>
    [[nodiscard]] bool is_summed_alone(char index, std::span<shape const> shapes) const {
        if (result.find(index) != std::string::npos) return false;
        std::size_t count = 0;
        for (std::size_t i = 0; i != operands.size(); ++i) {
            std::size_t const axis = operands[i].find(index);
            if (axis != std::string::npos && !shapes[i][axis].same_as(dim(1))) ++count;
        }
        return count < 2;
    }
};

/// Reads an equation, with or without an arrow. Nothing if it does not fit the operands, or if the rank of one with an ellipsis is unknown.
template <class = void>
std::optional<einsum_equation> read_einsum(std::string_view equation, std::span<shape const> shapes) {
    std::string text;
    for (char const c : equation)
        if (c != ' ') text += c;
    std::size_t const arrow = text.find("->");
    std::string const given = text.substr(0, arrow);
    einsum_equation out;
    out.operands.emplace_back();
    for (char const c : given) {
        if (c == ',') out.operands.emplace_back();
        else out.operands.back() += c;
    }
    if (out.operands.size() != shapes.size()) return {};
    if (arrow != std::string::npos) {
        out.result = text.substr(arrow + 2);
    } else { // the ellipsis and the letters that occur once, sorted
        for (char const c : given)
            if (c != '.' && c != ',' && given.find(c) == given.rfind(c)) out.result += c;
        std::sort(out.result.begin(), out.result.end());
        if (given.find('.') != std::string::npos) out.result = "..." + out.result;
    }
    std::string free;
    for (char const c : std::string_view("zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA"))
        if (text.find(c) == std::string::npos) free += c;
    std::size_t most = 0;
    auto const expand = [&](std::string& letters, std::size_t hidden) {
        std::size_t const at = letters.find("...");
        if (at == std::string::npos || hidden > free.size()) return at == std::string::npos;
        std::string axes = free.substr(0, hidden); // of the last axis first
        std::reverse(axes.begin(), axes.end());
        letters.replace(at, 3, axes);
        return true;
    };
    for (std::size_t i = 0; i != shapes.size(); ++i) {
        std::string& letters = out.operands[i];
        bool const has_ellipsis = letters.find("...") != std::string::npos;
        std::size_t const named = letters.size() - (has_ellipsis ? 3 : 0);
        if (has_ellipsis && (!shapes[i].has_rank() || shapes[i].rank() < named)) return {};
        std::size_t const hidden = has_ellipsis ? shapes[i].rank() - named : 0;
        most = std::max(most, hidden);
        if (!expand(letters, hidden) || (shapes[i].has_rank() && letters.size() != shapes[i].rank())) return {};
    }
    if (!expand(out.result, most)) return {};
    return out;
}

} // namespace ATON_NAMESPACE
