// SPDX-License-Identifier: MIT
// The equations of einsum.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <aton/mappings/common.hpp>

namespace aton::mappings::detail {

/// Whether a letter of a one-operand equation is summed: then integers are summed in int64.
inline bool sums_a_letter(std::string_view equation) {
    std::size_t const arrow = equation.find("->");
    std::string_view const left = equation.substr(0, arrow);
    for (char c : left) {
        bool const repeated = left.find(c) != left.rfind(c);
        if (c != '.' &&
            (arrow == std::string_view::npos ? repeated : equation.find(c, arrow) == std::string_view::npos))
            return true;
    }
    return false;
}

/// ONNX keeps the dimensions of an ellipsis, ATen sums them where the result has none: then they get letters, from the right.
inline std::string name_ellipsis(std::string_view equation, safe_span<value const> tensors) {
    std::size_t const arrow = equation.find("->");
    if (arrow == std::string_view::npos || equation.find("...", arrow) != std::string_view::npos ||
        equation.find("...") == std::string_view::npos)
        return std::string(equation);
    std::string unused;
    for (char c = 'a'; c <= 'z'; ++c)
        if (equation.find(c) == std::string_view::npos) unused += c;
    std::string out;
    std::size_t operand = 0;
    for (std::size_t i = 0; i < equation.size(); ++i) {
        if (equation[i] == ',') ++operand;
        if (equation.substr(i, 3) != "...") {
            out += equation[i];
            continue;
        }
        std::size_t const begin = operand == 0 ? 0 : equation.rfind(',', i) + 1;
        std::size_t const end = equation.find_first_of(",-", i);
        std::size_t const hidden = static_cast<std::size_t>(tensors[operand].rank()) - (end - begin - 3);
        if (hidden > unused.size()) throw unsupported_error("einsum with more letters than the alphabet has");
        out += unused.substr(unused.size() - hidden);
        i += 2;
    }
    return out;
}

inline value einsum(graph<13> g, std::string_view equation, safe_span<value const> tensors) {
    std::string compact;
    for (char c : equation)
        if (c != ' ') compact += c;
    dtype const t = tensors[0].dtype();
    bool const accumulates = tensors.size() == 1 && sums_a_letter(compact);
    // Einsum has no bfloat16.
    dtype const compute = t == dtype::bfloat16 ? dtype::float32 : accumulates ? to_accumulating(t) : t;
    safe_vector<value> operands;
    for (value const& v : tensors) operands.push_back(g.cast(v, compute));
    return g.cast(g.op<"Einsum">(operands, attr::equation_s(name_ellipsis(compact, tensors))),
                  accumulates ? to_accumulating(t) : t);
}

} // namespace aton::mappings::detail
