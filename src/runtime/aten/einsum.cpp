// SPDX-License-Identifier: MIT
// Sums of products over labeled axes: einsum, tensordot, bilinear.
#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include <aton/core/error.hpp>

#include "runtime/compute/complex.hpp"

#include "products.hpp"
#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

using labels = std::vector<int>;

/// A tensor and distinct labels of its axes.
struct labeled {
    tensor t;
    labels axes;
};

bool has(labels const& all, int label) { return std::find(all.begin(), all.end(), label) != all.end(); }
std::size_t place(labels const& all, int label) {
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), label) - all.begin());
}

/// Replaces axes with the same label by their diagonal.
labeled without_repeats(tensor const& x, labels const& axes) {
    sizes to;
    std::vector<std::int64_t> strides;
    labels once;
    for (std::size_t i = 0; i != axes.size(); ++i) {
        if (std::size_t const at = place(once, axes[i]); at != once.size()) {
            if (to[at] != x.size(i))
                throw error("a subscript is repeated for the sizes " + std::to_string(to[at]) + " and " +
                            std::to_string(x.size(i)));
            strides[at] += x.strides()[i];
            continue;
        }
        once.push_back(axes[i]);
        to.push_back(x.size(i));
        strides.push_back(x.strides()[i]);
    }
    return {x.viewed(to, strides), once};
}

/// Sums over axes that are no longer needed. An axis of size 1 is only removed, so that integers keep their dtype.
labeled summed(labeled const& x, auto const& is_needed) {
    labeled out{x.t, {}};
    axis_list over;
    for (std::size_t i = 0; i != x.axes.size(); ++i) {
        if (is_needed(x.axes[i])) out.axes.push_back(x.axes[i]);
        else if (x.t.size(i) != 1) over.push_back(static_cast<std::int64_t>(i));
    }
    if (!over.empty()) out.t = total(x.t, over, true);
    for (std::size_t i = x.axes.size(); i-- != 0;)
        if (!is_needed(x.axes[i])) out.t = out.t.squeezed(i);
    return out;
}

bool is_long(labeled const& x, int label) {
    std::size_t const at = place(x.axes, label);
    return at != x.axes.size() && x.t.size(at) != 1;
}

/// Orders the axes; missing ones get size 1.
tensor arranged(labeled const& x, labels const& order) {
    std::vector<std::size_t> axes;
    for (int const label : order)
        if (has(x.axes, label)) axes.push_back(place(x.axes, label));
    tensor out = x.t.permuted(axes);
    for (std::size_t i = 0; i != order.size(); ++i)
        if (!has(x.axes, order[i])) out = out.unsqueezed(i);
    return out;
}

std::int64_t product_of(sizes const& of, std::size_t from, std::size_t to) {
    return count_of(std::span(of).subspan(from, to - from));
}

/// The product, summed over labels that both have and that are not kept, as batches of matrix products.
labeled multiplied(labeled const& given_x, labeled const& given_y, auto const& is_kept) {
    // Axes of only one operand are summed before promotion.
    auto const stays = [&](int label) {
        return is_kept(label) || (is_long(given_x, label) && is_long(given_y, label));
    };
    labeled const x = summed(given_x, stays);
    labeled const y = summed(given_y, stays);
    labels batch;
    labels summed_over;
    labels left;
    labels right;
    for (int const label : x.axes) (!has(y.axes, label) ? left : is_kept(label) ? batch : summed_over).push_back(label);
    for (int const label : y.axes)
        if (!has(x.axes, label)) right.push_back(label);
    labels whole = batch;
    for (labels const* each : {&left, &right}) whole.insert(whole.end(), each->begin(), each->end());
    if (summed_over.empty()) return {*(term(arranged(x, whole)) * term(arranged(y, whole))), whole};

    auto const join = [](labels a, labels const& b, labels const& c) {
        a.insert(a.end(), b.begin(), b.end());
        a.insert(a.end(), c.begin(), c.end());
        return a;
    };
    tensor a = arranged(x, join(batch, left, summed_over));
    tensor b = arranged(y, join(batch, summed_over, right));
    // An axis of size 1 is repeated if the other is larger.
    sizes a_sizes = a.sizes();
    sizes b_sizes = b.sizes();
    auto const meet = [&](std::size_t i, std::size_t j) {
        sizes const both = broadcast(std::span(&a_sizes[i], 1), std::span(&b_sizes[j], 1));
        a_sizes[i] = b_sizes[j] = both[0];
    };
    std::size_t const n = batch.size();
    std::size_t const l = left.size();
    std::size_t const s = summed_over.size();
    for (std::size_t i = 0; i != n; ++i) meet(i, i);
    for (std::size_t i = 0; i != s; ++i) meet(n + l + i, n + i);
    std::int64_t const batches = product_of(a_sizes, 0, n);
    std::int64_t const sums = product_of(a_sizes, n + l, n + l + s);
    a = reshape(a.expanded(a_sizes), {batches, product_of(a_sizes, n, n + l), sums});
    b = reshape(b.expanded(b_sizes), {batches, sums, product_of(b_sizes, n + s, b_sizes.size())});
    sizes to(a_sizes.begin(), a_sizes.begin() + static_cast<std::ptrdiff_t>(n + l));
    to.insert(to.end(), b_sizes.begin() + static_cast<std::ptrdiff_t>(n + s), b_sizes.end());
    return {reshape(product(a, b), to), whole};
}

/// The sum of all products, in the order of the path, by default from the left.
tensor contracted(std::vector<labeled> left, labels const& kept, std::vector<std::int64_t> const& path = {}) {
    bool const has_path = !path.empty();
    if (left.size() == 1) {
        axis_list over;
        labeled out{left[0].t, {}};
        for (std::size_t i = 0; i != left[0].axes.size(); ++i)
            if (has(kept, left[0].axes[i])) out.axes.push_back(left[0].axes[i]);
            else over.push_back(static_cast<std::int64_t>(i));
        if (!over.empty()) out.t = total(out.t, over);
        return contiguous(arranged(out, kept));
    }
    for (std::size_t step = 0; left.size() != 1; ++step) {
        std::int64_t i = 0;
        std::int64_t j = 1;
        if (has_path) {
            if (2 * step + 1 >= path.size()) throw error("the path names too few operands");
            std::tie(i, j) = std::minmax({path[2 * step], path[2 * step + 1]});
            if (i < 0 || i == j || j >= static_cast<std::int64_t>(left.size()))
                throw error("each step of the path must name two of the remaining operands");
        }
        labeled const x = left[static_cast<std::size_t>(i)];
        labeled const y = left[static_cast<std::size_t>(j)];
        left.erase(left.begin() + j);
        left.erase(left.begin() + i);
        labeled product = multiplied(x, y, [&](int label) {
            return has(kept, label) ||
                   std::any_of(left.begin(), left.end(), [label](labeled const& each) { return is_long(each, label); });
        });
        left.insert(has_path ? left.end() : left.begin(), std::move(product));
    }
    return contiguous(arranged(left[0], kept));
}

constexpr int first_of_ellipsis = 256; ///< labels of the axes of "...", from the last one on

/// The labels of a term "ab...c"; `hidden`: the number of axes of "...".
labels parsed(std::string_view text, std::size_t hidden) {
    labels out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto const letter = static_cast<unsigned char>(text[i]);
        if (letter == '.') {
            if (text.substr(i, 3) != "...") throw error("the equation has a dot that is not part of '...'");
            for (std::size_t k = hidden; k != 0; --k) out.push_back(first_of_ellipsis + static_cast<int>(k) - 1);
            i += 2;
        } else if ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z')) {
            out.push_back(letter);
        } else {
            throw error("a subscript is not a letter");
        }
    }
    return out;
}

/// The axes of "...", then the letters that occur once in the equation, in alphabetical order.
labels implied_output(std::string const& inputs, std::size_t hidden) {
    labels out = parsed("...", hidden);
    std::string once;
    for (char const letter : inputs)
        if (letter != '.' && letter != ',' && std::count(inputs.begin(), inputs.end(), letter) == 1) once += letter;
    std::sort(once.begin(), once.end());
    for (char const letter : once) out.push_back(static_cast<unsigned char>(letter));
    return out;
}

std::vector<std::string> split(std::string const& inputs) {
    std::vector<std::string> out(1);
    for (char const letter : inputs)
        if (letter == ',') out.emplace_back();
        else out.back() += letter;
    return out;
}

} // namespace

results einsum(call const& c) {
    std::vector<tensor> const& tensors = c.tensors("tensors");
    std::string equation(c.text("equation"));
    std::erase(equation, ' ');
    std::size_t const arrow = equation.find("->");
    std::string const inputs = equation.substr(0, arrow);
    std::vector<std::string> const texts = split(inputs);
    if (texts.size() != tensors.size())
        throw error("the equation has " + std::to_string(texts.size()) + " operands, not " +
                    std::to_string(tensors.size()));
    std::vector<labeled> operands;
    std::size_t max_hidden = 0;
    for (std::size_t i = 0; i != tensors.size(); ++i) {
        std::size_t const letters = parsed(texts[i], 0).size();
        bool const dots = texts[i].find('.') != std::string::npos;
        if (dots ? letters > tensors[i].rank() : letters != tensors[i].rank())
            throw error("the number of dimensions of operand " + std::to_string(i) +
                        " is not its number of subscripts");
        std::size_t const hidden = tensors[i].rank() - letters;
        max_hidden = std::max(max_hidden, hidden);
        operands.push_back(without_repeats(tensors[i], parsed(texts[i], hidden)));
    }
    labels const out = arrow == std::string::npos ? implied_output(inputs, max_hidden)
                                                  : parsed(equation.substr(arrow + 2), max_hidden);
    for (std::size_t i = 0; i != out.size(); ++i) {
        bool known = out[i] >= first_of_ellipsis;
        for (labeled const& each : operands) known = known || has(each.axes, out[i]);
        if (!known || place(out, out[i]) != i) throw error("the equation has an invalid output subscript");
    }
    return contracted(operands, out, c.given("path") ? c.ints("path") : std::vector<std::int64_t>());
}

tensor contraction(tensor const& x, tensor const& y, std::vector<std::int64_t> const& of_x,
                   std::vector<std::int64_t> const& of_y) {
    if (of_x.size() != of_y.size()) throw error("both tensors must be contracted over the same number of dimensions");
    if (x.dtype() != y.dtype()) throw error("both tensors must have the same dtype");
    if (is_complex(x.dtype())) {
        auto const summed = [&](tensor const& a, tensor const& b) {
            return contraction(cast(a, dtype::float64), cast(b, dtype::float64), of_x, of_y);
        };
        tensor const xr = real_part(x), xi = imaginary_part(x);
        tensor const yr = real_part(y), yi = imaginary_part(y);
        return cast(complex_of(summed(xr, yr) - summed(xi, yi), summed(xr, yi) + summed(xi, yr)), x.dtype());
    }
    if (!of_x.empty() && (x.rank() == 0 || y.rank() == 0)) throw error("a 0-d tensor has no dimension to contract");
    labels a(x.rank());
    labels b(y.rank());
    for (std::size_t i = 0; i != a.size(); ++i) a[i] = static_cast<int>(i);
    for (std::size_t i = 0; i != b.size(); ++i) b[i] = static_cast<int>(a.size() + i);
    for (std::size_t i = 0; i != of_x.size(); ++i) b[axis_at(of_y[i], b.size())] = a[axis_at(of_x[i], a.size())];
    labels kept;
    for (int const label : a)
        if (!has(b, label)) kept.push_back(label);
    for (int const label : b)
        if (!has(a, label)) kept.push_back(label);
    if (kept.size() + 2 * of_x.size() != a.size() + b.size()) throw error("a dimension is contracted twice");
    return cast(contracted({{x, a}, {y, b}}, kept), x.dtype());
}

namespace {

/// Labels the axes of `x`, skipping those that are expanded, for a final rank of `rank`.
labeled spread(tensor const& x, std::vector<std::int64_t> const& expanded, std::size_t rank) {
    labeled out{x, {}};
    for (std::size_t i = 0; i != rank; ++i)
        if (std::find(expanded.begin(), expanded.end(), static_cast<std::int64_t>(i)) == expanded.end())
            out.axes.push_back(static_cast<int>(i));
    if (out.axes.size() != x.rank()) throw error("the expanded dimensions do not match the ranks");
    return out;
}

} // namespace

/// A dimension that no operand has is of size 0 in the result; a sum over it is the product, but 0 if ATen unrolls it.
results trilinear(call const& c) {
    tensor const first = c.t("i1");
    std::vector<std::int64_t> const without[] = {c.ints("expand1"), c.ints("expand2"), c.ints("expand3")};
    std::vector<std::int64_t> const summed_over = c.ints("sumdim");
    std::size_t const rank = first.rank() + without[0].size();
    auto const is_in = [](std::vector<std::int64_t> const& all, std::size_t i) {
        return std::find(all.begin(), all.end(), static_cast<std::int64_t>(i)) != all.end();
    };
    auto const is_in_none = [&](std::size_t i) {
        return is_in(without[0], i) && is_in(without[1], i) && is_in(without[2], i);
    };
    labels kept;
    for (std::size_t i = 0; i != rank; ++i)
        if (!is_in(summed_over, i) && !is_in_none(i)) kept.push_back(static_cast<int>(i));
    tensor y = contracted(
        {spread(first, without[0], rank), spread(c.t("i2"), without[1], rank), spread(c.t("i3"), without[2], rank)},
        kept);
    auto const unrolled = static_cast<std::size_t>(c.i("unroll_dim"));
    if (is_in_none(unrolled) && is_in(summed_over, unrolled)) y = full(0, y.dtype(), y.sizes(), y.where());
    std::size_t axis = 0;
    for (std::size_t i = 0; i != rank; ++i) {
        if (is_in(summed_over, i)) continue;
        if (is_in_none(i)) y = y.unsqueezed(static_cast<std::int64_t>(axis)).sliced(axis, 0, 0);
        ++axis;
    }
    return y;
}

results bilinear(call const& c) {
    tensor const x = c.t("input1");
    tensor const y = c.t("input2");
    tensor const weight = c.t("weight");
    require_rank(weight, 3, "weight");
    if (x.rank() != y.rank() || x.rank() == 0) throw error("the inputs have different ranks");
    labels kept;
    for (std::size_t i = 0; i + 1 < x.rank(); ++i) kept.push_back(static_cast<int>(i));
    auto const with = [&](int label) {
        labels all = kept;
        all.push_back(label);
        return all;
    };
    constexpr int of_x = 100;
    constexpr int of_y = 101;
    constexpr int of_out = 102;
    tensor const out = contracted({{x, with(of_x)}, {weight, {of_out, of_x, of_y}}, {y, with(of_y)}}, with(of_out));
    tensor const bias = c.maybe("bias");
    return bias ? *(term(out) + term(bias)) : out;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
