// SPDX-License-Identifier: MIT
// Einsum of one or two operands as a matrix product, for opsets before 12, which added the operator.
// Internal header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <aton/mappings/detail/elements.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// The letters with a name for each dimension of the ellipsis: 1 for the last one, 2 for the one before it ...
inline std::string expanded_ellipsis(std::string_view letters, std::size_t hidden) {
    std::size_t const at = letters.find("...");
    if (at == std::string_view::npos) return std::string(letters);
    std::string out(letters.substr(0, at));
    for (std::size_t i = hidden; i != 0; --i) out += static_cast<char>(i);
    return out += letters.substr(at + 3);
}

/// A tensor with one letter for each dimension.
struct lettered {
    value x;
    std::string letters;

    [[nodiscard]] bool has(char c) const { return letters.find(c) != std::string::npos; }
    [[nodiscard]] dim const& size(char c) const { return x.size(static_cast<std::int64_t>(letters.find(c))); }
};

inline lettered lettered_operand(value x, std::string_view letters) {
    std::size_t const named = letters.size() - (letters.find("...") == std::string_view::npos ? 0 : 3);
    auto const rank = static_cast<std::size_t>(x.rank());
    if (named > rank || rank - named > 26) throw unsupported_error("einsum with letters that do not match its tensors");
    lettered out{x, expanded_ellipsis(letters, rank - named)};
    if (out.letters.size() != rank) throw unsupported_error("einsum with letters that do not match its tensors");
    std::string sorted = out.letters;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
        refuse_below(12, "einsum with a letter twice in one operand");
    return out;
}

/// x summed over the letters for which `keep` is false.
template <class Keep>
lettered summed_letters(graph<7> g, lettered const& from, Keep keep) {
    safe_vector<std::int64_t> axes;
    lettered out{from.x, {}};
    for (std::size_t i = 0; i != from.letters.size(); ++i) {
        if (keep(from.letters[i])) out.letters += from.letters[i];
        else axes.push_back(static_cast<std::int64_t>(i));
    }
    out.x = reduce_sum(g, from.x, axes, false);
    return out;
}

/// The dimensions in the order of `letters`, which are those of x.
inline value in_letter_order(graph<7> g, lettered const& from, std::string_view letters) {
    safe_vector<std::int64_t> perm;
    for (char const c : letters) perm.push_back(static_cast<std::int64_t>(from.letters.find(c)));
    return permute(g, from.x, perm);
}

inline sym_int size_of_letters(graph<7> g, lettered const& from, std::string_view letters) {
    sym_int size = 1;
    for (char const c : letters) size = size * g.size(from.x, static_cast<std::int64_t>(from.letters.find(c)));
    return size;
}

/// As a stack of matrices: the dimensions of `batch`, then `rows` and `columns`, each as one dimension.
inline value as_matrices(graph<7> g, lettered const& from, std::string const& batch, std::string const& rows,
                         std::string const& columns) {
    safe_vector<sym_int> sizes;
    for (char const c : batch) sizes.push_back(g.size(from.x, static_cast<std::int64_t>(from.letters.find(c))));
    sizes.push_back(size_of_letters(g, from, rows));
    sizes.push_back(size_of_letters(g, from, columns));
    return reshape(g, in_letter_order(g, from, batch + rows + columns), sizes);
}

/// The sum of products over the letters that the result does not have.
inline lettered einsum_product(graph<7> g, lettered a, lettered b, std::string const& result) {
    auto const in_result = [&](char c) { return result.find(c) != std::string::npos; };
    a = summed_letters(g, a, [&](char c) { return in_result(c) || b.has(c); });
    b = summed_letters(g, b, [&](char c) { return in_result(c) || a.has(c); });
    // A dimension of size 1 is summed at once: the other operand may have another size.
    auto const is_one = [](lettered const& x, char c) { return x.size(c).is_static() && x.size(c).size() == 1; };
    auto const common = [&](char c) { return a.has(c) && b.has(c) && !in_result(c) && is_one(a, c) != is_one(b, c); };
    std::string single;
    for (char const c : a.letters)
        if (common(c)) single += c;
    auto const stays = [&](char c) { return single.find(c) == std::string::npos; };
    a = summed_letters(g, a, stays);
    b = summed_letters(g, b, stays);
    std::string batch, rows, columns, sums;
    for (char const c : a.letters) (!b.has(c) ? rows : in_result(c) ? batch : sums) += c;
    for (char const c : b.letters)
        if (!a.has(c)) columns += c;
    value const y = g.op<"MatMul">(as_matrices(g, a, batch, rows, sums), as_matrices(g, b, batch, sums, columns));
    safe_vector<sym_int> sizes;
    for (char const c : batch)
        sizes.push_back(is_one(a, c) ? g.size(b.x, static_cast<std::int64_t>(b.letters.find(c)))
                                     : g.size(a.x, static_cast<std::int64_t>(a.letters.find(c))));
    for (char const c : rows) sizes.push_back(g.size(a.x, static_cast<std::int64_t>(a.letters.find(c))));
    for (char const c : columns) sizes.push_back(g.size(b.x, static_cast<std::int64_t>(b.letters.find(c))));
    return {reshape(g, y, sizes), batch + rows + columns};
}

/// Einsum of operands of one dtype, which MatMul and ReduceSum take.
inline value einsum_without_operator(graph<7> g, safe_span<value const> operands, std::string_view equation,
                                     std::string_view result) {
    std::string_view const given = equation.substr(0, equation.find("->"));
    std::size_t const comma = given.find(',');
    lettered const a = lettered_operand(operands[0], given.substr(0, comma));
    std::size_t hidden = 0;
    auto const count_hidden = [&](lettered const& x) {
        for (char const c : x.letters) hidden = std::max(hidden, c <= 26 ? static_cast<std::size_t>(c) : 0);
    };
    count_hidden(a);
    if (operands.size() == 1) {
        std::string const to = expanded_ellipsis(result, hidden);
        lettered const y = summed_letters(g, a, [&](char c) { return to.find(c) != std::string::npos; });
        if (y.letters.size() != to.size())
            throw unsupported_error("einsum with a result that its tensor does not have");
        return in_letter_order(g, y, to);
    }
    if (!is_floating(a.x.dtype()) && g.opset() < 9) refuse_below(9, "einsum of integers");
    lettered const b = lettered_operand(operands[1], given.substr(comma + 1));
    count_hidden(b);
    std::string const to = expanded_ellipsis(result, hidden);
    lettered const y = einsum_product(g, a, b, to);
    if (y.letters.size() != to.size()) throw unsupported_error("einsum with a result that its tensors do not have");
    return in_letter_order(g, y, to);
}

} // namespace ATON_NAMESPACE::mappings::detail
