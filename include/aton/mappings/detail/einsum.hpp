// SPDX-License-Identifier: MIT
// einsum: parses equations and computes each product in the dtype that ATen uses.
// Internal header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/common.hpp>
#include <aton/mappings/detail/einsum_product.hpp>
#include <aton/mappings/detail/elements.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// Replaces an ellipsis that the result does not have by letters, aligned at the right: ATen sums these dimensions,
/// ONNX keeps them.
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
        if (operand == tensors.size())
            throw unsupported_error("einsum with fewer tensors than its equation has operands");
        std::size_t const begin = operand == 0 ? 0 : equation.rfind(',', i) + 1;
        std::size_t const end = equation.find_first_of(",-", i);
        std::size_t const hidden = static_cast<std::size_t>(tensors[operand].rank()) - (end - begin - 3);
        if (hidden > unused.size()) throw unsupported_error("einsum with more dimensions than unused letters");
        out += unused.substr(unused.size() - hidden);
        i += 2;
    }
    return out;
}

/// Gives all operands with an ellipsis as many dimensions there, with new leading ones of size 1: ATen broadcasts them,
/// ONNX requires equal ranks.
inline safe_vector<value> align_ellipses(graph<7> g, std::string_view equation, safe_span<value const> tensors) {
    struct ellipsis {
        std::size_t at; ///< the first dimension
        std::int64_t dims;
    };
    safe_vector<std::optional<ellipsis>> found;
    std::int64_t max = 0;
    std::size_t begin = 0;
    for (value const& v : tensors) {
        std::string_view const letters =
            begin > equation.size() ? "" : equation.substr(begin, equation.find_first_of(",-", begin) - begin);
        begin += letters.size() + 1;
        std::size_t const dots = letters.find('.');
        found.emplace_back();
        if (dots == std::string_view::npos || !v.has_rank()) continue;
        found.back() = {dots, v.rank() - static_cast<std::int64_t>(letters.size()) + 3};
        max = std::max(max, found.back()->dims);
    }
    safe_vector<value> out;
    for (std::size_t i = 0; i != tensors.size(); ++i) {
        safe_vector<std::int64_t> axes;
        if (found[i] && found[i]->dims >= 0)
            for (std::int64_t k = found[i]->dims; k != max; ++k)
                axes.push_back(static_cast<std::int64_t>(found[i]->at + axes.size()));
        out.push_back(axes.empty() ? tensors[i] : unsqueeze(g, tensors[i], axes));
    }
    return out;
}

/// An operand of an equation, or a product of operands.
struct einsum_operand {
    std::string letters;
    std::string longs; ///< letters of dimensions whose size is not 1; ATen considers only these
    dtype type = dtype::undefined;
};

inline bool has_letter(std::string_view letters, char c) { return letters.find(c) != std::string_view::npos; }

inline einsum_operand einsum_operand_of(value v, std::string letters) {
    einsum_operand out{std::move(letters), {}, v.dtype()};
    if (!v.has_rank()) {
        out.longs = out.letters;
        return out;
    }
    std::size_t const dots = std::min(out.letters.find('.'), out.letters.size());
    auto const rank = static_cast<std::size_t>(v.rank());
    for (std::size_t i = 0; i != out.letters.size(); ++i) {
        std::size_t const axis = i < dots ? i : rank - (out.letters.size() - i);
        if (out.letters[i] == '.' || axis >= rank) continue;
        dim const& size = v.shape()[axis];
        if (!size.is_static() || size.size() != 1) out.longs += out.letters[i];
    }
    return out;
}

/// The part after the arrow; without an arrow, the ellipsis and the letters that occur once, sorted.
inline std::string einsum_result(std::string_view equation) {
    std::size_t const arrow = equation.find("->");
    if (arrow != std::string_view::npos) return std::string(equation.substr(arrow + 2));
    std::string once;
    for (char const c : equation)
        if (c != '.' && c != ',' && equation.find(c) == equation.rfind(c)) once += c;
    std::sort(once.begin(), once.end());
    return (has_letter(equation, '.') ? "..." : "") + once;
}

/// One of the two factors of a product, before and after the sum over letters that only it has.
struct einsum_factor {
    std::size_t at = 0; ///< index among the remaining operands
    einsum_operand given;
    einsum_operand summed;

    [[nodiscard]] bool is_summed_first() const { return given.type != summed.type; }
};
struct einsum_step {
    einsum_factor a;
    einsum_factor b;
    einsum_operand product;
};

/// The ellipsis and the letters for which `keep` is true, without duplicates.
template <class Keep>
std::string kept_letters(std::string_view letters, Keep keep) {
    std::string out = has_letter(letters, '.') ? "..." : "";
    for (char const c : letters)
        if (c != '.' && !has_letter(out, c) && keep(c)) out += c;
    return out;
}

/// Letters that only one factor has are summed first, for integers and bools in int64. Sums that keep the dtype are
/// left to the product.
template <class Needed>
einsum_operand summed_alone(einsum_operand const& x, einsum_operand const& other, Needed is_needed) {
    auto const stays = [&](char c) { return has_letter(other.longs, c) || is_needed(c) || !has_letter(x.longs, c); };
    dtype const type = to_accumulating(x.type);
    if (type == x.type || std::all_of(x.longs.begin(), x.longs.end(), stays)) return x;
    return {kept_letters(x.letters, stays), kept_letters(x.longs, stays), type};
}

/// The indices of the two operands of the next product, the smaller one first.
inline std::pair<std::size_t, std::size_t> next_factors(std::optional<safe_span<std::int64_t const>> path,
                                                        std::size_t step, std::size_t left) {
    if (!path) return {0, 1};
    if (2 * step + 1 >= path->size()) throw unsupported_error("einsum with a path that is too short");
    auto const [first, second] = std::minmax({(*path)[2 * step], (*path)[2 * step + 1]});
    if (first < 0 || first == second || second >= static_cast<std::int64_t>(left))
        throw unsupported_error("einsum with a path that does not name two of the remaining operands");
    return {static_cast<std::size_t>(first), static_cast<std::size_t>(second)};
}

/// The products in ATen's order: by the path, or from the left. ATen promotes factors only if nothing is summed over both.
inline safe_vector<einsum_step> einsum_steps(safe_vector<einsum_operand> left, std::string const& result,
                                             std::optional<safe_span<std::int64_t const>> path) {
    safe_vector<einsum_step> out;
    while (left.size() > 1) {
        auto const [i, j] = next_factors(path, out.size(), left.size());
        einsum_step step{{i, left[i], {}}, {j, left[j], {}}, {}};
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(j));
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
        auto const is_needed = [&](char c) {
            auto const has = [c](einsum_operand const& each) { return has_letter(each.longs, c); };
            return has_letter(result, c) || std::any_of(left.begin(), left.end(), has);
        };
        einsum_operand const& a = step.a.summed = summed_alone(step.a.given, step.b.given, is_needed);
        einsum_operand const& b = step.b.summed = summed_alone(step.b.given, step.a.given, is_needed);
        auto const is_summed = [&](char c) { return has_letter(b.longs, c) && !is_needed(c); };
        if (a.type != b.type && std::any_of(a.longs.begin(), a.longs.end(), is_summed))
            throw unsupported_error("einsum that sums products of " + std::string(name(a.type)) + " and " +
                                    std::string(name(b.type)) + ", which ATen does not promote");
        step.product = {kept_letters(a.letters + b.letters, is_needed),
                        kept_letters(a.longs + b.longs, is_needed),
                        aten::promote_types(a.type, b.type)};
        // With a path, a product is appended; otherwise it is the first factor of the next product.
        left.insert(path ? left.end() : left.begin(), step.product);
        out.push_back(std::move(step));
    }
    if (!out.empty()) out.back().product.letters = result;
    return out;
}

/// Einsum in a dtype that it supports: not bfloat16 or bool, and few runtimes have kernels for integers of 8 and 16 bits.
inline value einsum_in(graph<7> g, dtype t, safe_span<value const> of, std::string const& equation) {
    bool const narrow = t == dtype::bool_ || (is_integral(t) && bits(t) < 32);
    dtype const in = t == dtype::bfloat16 ? dtype::float32 : narrow ? dtype::int32 : t;
    safe_vector<value> operands;
    for (value const& v : of) operands.push_back(g.cast(g.cast(v, t), in));
    if (g.opset() >= 12) return g.cast(g.within<12>().op<"Einsum">(operands, attr::equation_s(equation)), t);
    return g.cast(einsum_without_operator(g, operands, equation, einsum_result(equation)), t);
}

/// One Einsum per product, each in its dtype.
inline value einsum_by_steps(graph<7> g, safe_vector<einsum_step> const& steps, safe_span<value const> tensors,
                             bool has_path) {
    safe_vector<value> left(tensors.begin(), tensors.end());
    auto const factor = [&](einsum_factor const& f) {
        value const v = left[f.at];
        if (!f.is_summed_first()) return v;
        return einsum_in(g, f.summed.type, {&v, 1}, f.given.letters + "->" + f.summed.letters);
    };
    for (einsum_step const& s : steps) {
        value const factors[] = {factor(s.a), factor(s.b)};
        value const product = einsum_in(
            g, s.product.type, factors, s.a.summed.letters + "," + s.b.summed.letters + "->" + s.product.letters);
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(s.b.at));
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(s.a.at));
        left.insert(has_path ? left.end() : left.begin(), product);
    }
    return left.front();
}

inline value einsum_of(graph<7> g, std::string_view written, safe_span<value const> given,
                       std::optional<safe_span<std::int64_t const>> path = {}) {
    std::string compact;
    for (char const c : written)
        if (c != ' ') compact += c;
    std::string const equation = name_ellipsis(compact, given);
    safe_vector<value> const tensors = align_ellipses(g, equation, given);
    std::string const result = einsum_result(equation);
    safe_vector<einsum_operand> operands;
    std::size_t begin = 0;
    for (value const& v : tensors) {
        if (begin > equation.size()) throw unsupported_error("einsum with more tensors than its equation has operands");
        std::size_t const end = std::min(equation.find_first_of(",-", begin), equation.size());
        operands.push_back(einsum_operand_of(v, equation.substr(begin, end - begin)));
        begin = end + 1;
    }
    if (operands.empty()) throw unsupported_error("einsum without tensors");
    if (begin <= equation.size() && equation[begin - 1] == ',')
        throw unsupported_error("einsum with fewer tensors than its equation has operands");
    dtype const first = operands[0].type;
    if (operands.size() == 1) {
        auto const is_summed = [&](char c) { return c != '.' && !has_letter(result, c); };
        bool const sums = std::any_of(operands[0].letters.begin(), operands[0].letters.end(), is_summed);
        return einsum_in(g, sums ? to_accumulating(first) : first, tensors, equation);
    }
    safe_vector<einsum_step> const steps = einsum_steps(std::move(operands), result, path);
    dtype const type = steps.back().product.type;
    bool const is_one = std::all_of(steps.begin(), steps.end(), [type](einsum_step const& s) {
        return s.product.type == type && !s.a.is_summed_first() && !s.b.is_summed_first();
    });
    bool const rounds_between = opmath_type(type) != type && steps.size() > 1; // to half precision
    bool const is_operator = g.opset() >= 12 || steps.size() == 1;
    return is_one && is_operator && !rounds_between ? einsum_in(g, type, tensors, equation)
                                                    : einsum_by_steps(g, steps, tensors, path.has_value());
}

} // namespace ATON_NAMESPACE::mappings::detail
