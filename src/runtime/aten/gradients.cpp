// SPDX-License-Identifier: MIT
// ATen operators: gradients of functions from their values.
#include <string>
#include <utility>
#include <vector>

#include <aton/aten/promotion.hpp>
#include <aton/core/error.hpp>

#include "elementwise.hpp"
#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// The derivative along an axis, of second order inside and of `edge_order` at the ends.
class derivative {
public:
    derivative(tensor f, std::int64_t axis, std::int64_t edge_order)
        : f_(std::move(f)),
          axis_(axis),
          n_(f_.rank() == 0 ? 1 : f_.size(axis_at(axis, f_.rank()))),
          curved_(edge_order == 2) {
        if (n_ < edge_order + 1)
            throw error("a gradient with edge_order " + std::to_string(edge_order) + " needs at least " +
                        std::to_string(edge_order + 1) + " elements");
    }

    /// For elements at distance `h`.
    [[nodiscard]] tensor with_step(double h) const {
        term const inside = (at(2, n_ - 2) - at(0, n_ - 2)) / h / 2.0;
        if (!curved_) return joined_with((at(1) - at(0)) / h, inside, (at(n_ - 1) - at(n_ - 2)) / h);
        return joined_with((-1.5 * at(0) + twice(at(1)) - 0.5 * at(2)) / h,
                           inside,
                           (0.5 * at(n_ - 3) - twice(at(n_ - 2)) + 1.5 * at(n_ - 1)) / h);
    }

    /// `gaps`: the n - 1 distances between elements.
    [[nodiscard]] tensor with_gaps(tensor const& gaps) const {
        auto const inner = [&](std::int64_t start) -> term {
            sizes to(f_.rank(), 1);
            to[axis_at(axis_, f_.rank())] = n_ - 2;
            return reshape(gaps.sliced(0, start, n_ - 2), to);
        };
        // The gaps at the ends are 0-d in ATen: a wider dtype of theirs does not widen elements of more dimensions.
        auto const gap = [&](std::int64_t i) -> term { return reshape(gaps.sliced(0, i, 1), {}); };
        auto const three =
            [](term const& a, term const& x, term const& b, term const& y, term const& c, term const& z) {
                return a * x + b * y + c * z;
            };
        term const p = inner(0);
        term const q = inner(1);
        term const inside = three(
            -q / (p * (p + q)), at(0, n_ - 2), (q - p) / (p * q), at(1, n_ - 2), p / (q * (p + q)), at(2, n_ - 2));
        if (!curved_) return joined_with((at(1) - at(0)) / gap(0), inside, (at(n_ - 1) - at(n_ - 2)) / gap(n_ - 2));
        term const u = gap(0);
        term const v = gap(1);
        term const s = gap(n_ - 3);
        term const t = gap(n_ - 2);
        return joined_with(
            three(-(2.0 * u + v) / (u * (u + v)), at(0), (u + v) / (u * v), at(1), -u / (v * (u + v)), at(2)),
            inside,
            three(t / (s * (t + s)),
                  at(n_ - 3),
                  -(t + s) / (t * s),
                  at(n_ - 2),
                  (twice(t) + s) / (t * (t + s)),
                  at(n_ - 1)));
    }

private:
    [[nodiscard]] term at(std::int64_t start, std::int64_t count = 1) const {
        return f_.sliced(axis_at(axis_, f_.rank()), start, count);
    }
    /// ATen multiplies by the integer 2: products of integers wrap around.
    [[nodiscard]] static term twice(term const& x) { return x + x; }
    [[nodiscard]] tensor joined_with(term const& first, term const& inside, term const& last) const {
        dtype const type = aten::promote_types(first->dtype(), inside->dtype());
        return concat(std::vector<tensor>{cast(first, type), cast(inside, type), cast(last, type)}, axis_);
    }

    tensor f_;
    std::int64_t axis_;
    std::int64_t n_;
    bool curved_;
};

/// Along each axis of `dim`; `spacing` is one number, or per axis a number or a vector of coordinates.
results all_gradients(call const& c) {
    tensor const x = c.t("self");
    std::int64_t const edge_order = c.i("edge_order");
    if (edge_order != 1 && edge_order != 2) throw error("edge_order is " + std::to_string(edge_order));
    axis_list const axes = c.given("dim") ? c.ints("dim") : all_axes(x);
    bool const spaced = c.has_argument("spacing") && c.given("spacing");
    bool const coordinates = spaced && c.argument("spacing").kind == aten::argument_kind::tensors;
    std::vector<double> const steps = spaced && !coordinates ? c.floats("spacing") : std::vector<double>{1};
    std::size_t const given = coordinates ? c.tensors("spacing").size() : steps.size();
    if (given != axes.size() && (coordinates || given != 1)) throw error("spacing must have one element per axis");
    std::vector<tensor> out;
    for (std::size_t i = 0; i != axes.size(); ++i) {
        derivative const d(x, axes[i], edge_order);
        if (!coordinates) {
            out.push_back(d.with_step(steps[steps.size() == 1 ? 0 : i]));
            continue;
        }
        tensor const at = c.tensors("spacing")[i];
        if (at.rank() != 1 || at.count() != x.size(axis_at(axes[i], x.rank())))
            throw error("the coordinates must have one element per element of the axis");
        out.push_back(d.with_gaps(at.sliced(0, 1, at.count() - 1) - at.sliced(0, 0, at.count() - 1)));
    }
    return value(out);
}

} // namespace

rows gradients() {
    static constexpr row all[] = {
        {"gradient.array", all_gradients},
        {"gradient.scalararray", all_gradients},
        {"gradient.scalarint", all_gradients},
        {"gradient.scalarrayarray", all_gradients},
        {"gradient.scalarrayint", all_gradients},
        {"gradient.tensorarray", all_gradients},
        {"gradient.tensorarrayint", all_gradients},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
