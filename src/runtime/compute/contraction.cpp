// SPDX-License-Identifier: MIT
// Sums of products over subscripts, as matrix products; determinants by elimination.
#include "runtime/compute/contraction.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime {

namespace {

using labels = std::vector<int>; ///< one per axis; the axes of "..." have negative labels, -1 for the last

struct labeled {
    tensor values;
    labels axes;
};

bool has(labels const& all, int label) { return std::find(all.begin(), all.end(), label) != all.end(); }
std::size_t axis_of(labels const& all, int label) {
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), label) - all.begin());
}

/// A term of an equation: its letters, and how many of them precede "...".
struct term {
    labels letters;
    std::size_t dots_at = 0;
    bool has_dots = false;

    [[nodiscard]] labels with_dots(std::size_t count) const {
        labels out(letters.begin(), letters.begin() + static_cast<std::ptrdiff_t>(dots_at));
        for (std::size_t i = count; i-- != 0;) out.push_back(-1 - static_cast<int>(i));
        out.insert(out.end(), letters.begin() + static_cast<std::ptrdiff_t>(dots_at), letters.end());
        return out;
    }
};

term parse_term(std::string_view text) {
    term t;
    for (std::size_t i = 0; i != text.size(); ++i) {
        char const c = text[i];
        if (c == ' ') continue;
        if (text.substr(i, 3) == "..." && !t.has_dots) {
            t.has_dots = true;
            t.dots_at = t.letters.size();
            i += 2;
        } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
            t.letters.push_back(c);
        } else {
            throw error("'" + std::string(text) + "' is not a valid term of an equation");
        }
    }
    if (!t.has_dots) t.dots_at = t.letters.size();
    return t;
}

/// Replaces repeated labels by diagonals.
labeled without_repeats(labeled x) {
    for (std::size_t i = 0; i < x.axes.size(); ++i)
        for (std::size_t j = x.axes.size(); j-- != i + 1;)
            if (x.axes[i] == x.axes[j]) {
                x.values = diagonal_view(x.values, i, j);
                x.axes.erase(x.axes.begin() + static_cast<std::ptrdiff_t>(j));
            }
    return x;
}

labeled summed(labeled const& x, labels const& kept) {
    axis_list axes;
    labels left;
    for (std::size_t i = 0; i != x.axes.size(); ++i) {
        if (has(kept, x.axes[i])) left.push_back(x.axes[i]);
        else axes.push_back(static_cast<std::int64_t>(i));
    }
    return axes.empty() ? x : labeled{sum(x.values, axes), left};
}

/// Orders the axes; all labels of `order` must exist.
tensor ordered(labeled const& x, labels const& order) {
    std::vector<std::size_t> axes;
    for (int const label : order) axes.push_back(axis_of(x.axes, label));
    return x.values.permuted(axes);
}

/// The sum of products over all labels that are not kept, which both operands must have.
labeled contracted(labeled const& x, labeled const& y, labels const& kept) {
    labels batch, inner, left, right;
    for (int const label : x.axes) {
        if (!has(y.axes, label)) left.push_back(label);
        else (has(kept, label) ? batch : inner).push_back(label);
    }
    for (int const label : y.axes)
        if (!has(x.axes, label)) right.push_back(label);
    sizes to;
    auto const count = [&](labels const& of, labeled const& in, bool stays) {
        sizes each;
        for (int const label : of) each.push_back(in.values.size(axis_of(in.axes, label)));
        if (stays) to.insert(to.end(), each.begin(), each.end());
        return count_of(each);
    };
    std::int64_t const b = count(batch, x, true);
    std::int64_t const m = count(left, x, true);
    std::int64_t const n = count(right, y, true);
    std::int64_t const k = count(inner, x, false);
    auto const joined = [](std::initializer_list<labels> parts) {
        labels all;
        for (labels const& part : parts) all.insert(all.end(), part.begin(), part.end());
        return all;
    };
    tensor const a = reshape(ordered(x, joined({batch, left, inner})), {b, m, k});
    tensor const c = reshape(ordered(y, joined({batch, inner, right})), {b, k, n});
    tensor const product = inner.empty() ? a * c : matmul(a, c);
    return {reshape(product, to), joined({batch, left, right})};
}

/// The terms before "->", and the one after it.
std::pair<std::vector<term>, term> parse(std::string_view equation, bool& explicit_result) {
    std::size_t const arrow = equation.find("->");
    explicit_result = arrow != std::string_view::npos;
    std::string_view left = equation.substr(0, arrow);
    std::vector<term> terms;
    for (;;) {
        std::size_t const comma = left.find(',');
        terms.push_back(parse_term(left.substr(0, comma)));
        if (comma == std::string_view::npos) break;
        left.remove_prefix(comma + 1);
    }
    if (explicit_result) return {terms, parse_term(equation.substr(arrow + 2))};
    std::map<int, int> times;
    term result;
    result.has_dots = true;
    for (term const& t : terms)
        for (int const letter : t.letters) ++times[letter];
    for (auto const& [letter, n] : times)
        if (n == 1) result.letters.push_back(letter);
    return {terms, result};
}

} // namespace

tensor diagonal_view(tensor const& x, std::size_t first, std::size_t second) {
    if (x.size(first) != x.size(second))
        throw error("a repeated subscript requires equal sizes, not " + to_string(x.sizes()));
    sizes to = x.sizes();
    std::vector<std::int64_t> strides = x.strides();
    strides[first] += strides[second];
    to.erase(to.begin() + static_cast<std::ptrdiff_t>(second));
    strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(second));
    return x.viewed(to, strides);
}

tensor einsum(std::string_view equation, std::span<tensor const> operands) {
    bool is_explicit = false;
    auto const [terms, result] = parse(equation, is_explicit);
    if (terms.size() != operands.size())
        throw error("equation '" + std::string(equation) + "' does not fit " + std::to_string(operands.size()) +
                    " operands");
    std::vector<labeled> all;
    std::map<int, std::int64_t> extent;
    std::size_t dots = 0;
    for (std::size_t i = 0; i != terms.size(); ++i) {
        std::size_t const letters = terms[i].letters.size();
        std::size_t const rank = operands[i].rank();
        if (rank < letters || (rank != letters && !terms[i].has_dots))
            throw error("operand " + std::to_string(i) + " of '" + std::string(equation) + "' has shape " +
                        to_string(operands[i].sizes()));
        dots = std::max(dots, rank - letters);
        all.push_back(without_repeats({operands[i], terms[i].with_dots(rank - letters)}));
        for (std::size_t k = 0; k != all.back().axes.size(); ++k) {
            std::int64_t const size = all.back().values.size(k);
            auto const [at, is_new] = extent.try_emplace(all.back().axes[k], size);
            if (!is_new && at->second != size && size != 1 && at->second != 1)
                throw error("a subscript of '" + std::string(equation) + "' has the sizes " + std::to_string(size) +
                            " and " + std::to_string(at->second));
            if (at->second == 1) at->second = size;
        }
    }
    labels const kept = result.with_dots(result.has_dots ? dots : 0);
    for (std::size_t i = 0; i != kept.size(); ++i)
        if (!extent.contains(kept[i]) || axis_of(kept, kept[i]) != i)
            throw error("the result term of '" + std::string(equation) + "' is invalid");
    for (labeled& x : all) { // broadcast
        sizes to;
        for (int const label : x.axes) to.push_back(extent[label]);
        x.values = x.values.expanded(to);
    }
    labeled total;
    for (std::size_t i = 0; i != all.size(); ++i) {
        labels needed = kept; // needed after this operand
        for (std::size_t k = i + 1; k != all.size(); ++k)
            needed.insert(needed.end(), all[k].axes.begin(), all[k].axes.end());
        if (i == 0) {
            total = summed(all[0], needed);
            continue;
        }
        labels of_total = needed;
        of_total.insert(of_total.end(), total.axes.begin(), total.axes.end());
        labeled const other = summed(all[i], of_total);
        labels of_other = needed;
        of_other.insert(of_other.end(), other.axes.begin(), other.axes.end());
        total = contracted(summed(total, of_other), other, needed);
    }
    return contiguous(ordered(total, kept));
}

tensor determinant(tensor const& x) {
    if (x.rank() < 2 || x.size(x.rank() - 1) != x.size(x.rank() - 2))
        throw error("square matrices are expected, not " + to_string(x.sizes()));
    std::int64_t const n = x.size(x.rank() - 1);
    sizes const to(x.sizes().begin(), x.sizes().end() - 2);
    std::int64_t const batch = count_of(to);
    tensor left = reshape(x, {batch, n, n}); // the remaining submatrix
    tensor out = full(1, x.dtype(), {batch}, x.where());
    for (std::int64_t size = n; size != 0 && batch != 0; --size) {
        tensor const pivot_at = arg_max(abs(left.sliced(2, 0, 1).squeezed(2)), 1, true); // [batch, 1]
        tensor const pivot_row = take_along(left, pivot_at.unsqueezed(2).expanded({batch, 1, size}), 1);
        tensor const pivot = pivot_row.sliced(2, 0, 1);
        tensor const swapped =
            where(equal(range(size, 0, 1, x.where()), pivot_at).unsqueezed(2), left.sliced(1, 0, 1), left);
        tensor const signed_pivot = where(equal(pivot_at, 0), pivot.squeezed(2), -pivot.squeezed(2));
        out = out * signed_pivot.squeezed(1);
        tensor const rest = swapped.sliced(1, 1, size - 1);
        tensor const factor = where(equal(pivot, 0), scalar(0), rest.sliced(2, 0, 1) / pivot);
        left = rest.sliced(2, 1, size - 1) - factor * pivot_row.sliced(2, 1, size - 1);
    }
    return reshape(out, to);
}

} // namespace ATON_NAMESPACE::runtime
