// SPDX-License-Identifier: MIT
// Functionalization of operators that write in a way of their own: in-place views, copies, fills, and normalizations with statistics.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <aton/aten/schema_table.hpp>
#include <aton/core/error.hpp>

#include "functionalizer.hpp"
#include "node_arguments.hpp"
#include "norm_statistics.hpp"
#include "view_rules.hpp"

namespace ATON_NAMESPACE::program {

void functionalizer::change_view(node const& n, std::string_view op) {
    value_index const self = tensor_of(n, "self");
    if (!has_one_result(n)) throw error(describe(program_, n) + ": has no result");
    node view = n;
    view.op = op;
    view.schema = aten::find_schema(op);
    std::optional<view_of> const found = find_view(program_, layout_, with_arguments_described(view), 0, 0);
    state_.change_view(with_arguments_read(std::move(view)), found.value_or(view_of{view_rule::unknown, 0, 0}), self);
}

namespace {

std::int64_t count_of(concrete_layout const& layout) {
    std::int64_t n = 1;
    for (std::int64_t const size : layout.sizes)
        if (__builtin_mul_overflow(n, size, &n)) return -1;
    return n;
}

} // namespace

/// Resizes are views if the number of elements stays the same, as long as both are contiguous. A tensor without elements becomes a new one,
/// whose elements ATen leaves uninitialized.
void functionalizer::visit_resize(node const& n) {
    value_index const self = tensor_of(n, "self");
    value_index const made = result_of(n, self);
    auto const before = layout_.of(state_.described_by(self));
    auto const after = layout_.of(made);
    bool const known = before && after;
    if (layout_.same_sizes(state_.described_by(self), made) && (!known || layouts::same_order(*before, *after)))
        return same_tensor(n);
    argument const* const size = find_argument(n, "size");
    argument const* const like = find_argument(n, "the_template");
    bool const usable = known && has_one_result(n) && (size != nullptr || like != nullptr) &&
                        layouts::is_contiguous(*before) && layouts::is_contiguous(*after) && !is_outer(self);
    if (usable && count_of(*before) > 0 && count_of(*before) == count_of(*after)) {
        node view = n;
        view.arguments = {tensor_argument("self", self), size != nullptr ? *size : renamed(*like, "other")};
        return change_view(view, size != nullptr ? "aten::view" : "aten::view_as");
    }
    if (!usable || count_of(*before) != 0)
        throw error(describe(program_, n) + ": changes the number of elements of a tensor; make a new tensor");
    if (size != nullptr) {
        (void)out_.emit("aten::new_empty", n, {tensor_argument("self", state_.shape_of(self)), *size}, made);
    } else {
        argument shape = renamed(*like, "self");
        if (state_.is_known(shape.tensor)) shape.tensor = state_.shape_of(shape.tensor);
        (void)out_.emit("aten::empty_like", n, {shape, type_argument("dtype", program_.values[self].type)}, made);
    }
    state_.add_tensor(made);
    state_.replace(self, made);
}

/// The tensor becomes another name of `source`.
void functionalizer::visit_set(node const& n) {
    value_index const self = tensor_of(n, "self");
    if (n.op != "aten::set_.source_Tensor" || is_outer(self))
        throw error(describe(program_, n) +
                    ": replaces the memory of a tensor; assign a new tensor to the name instead");
    state_.replace(self, tensor_of(n, "source"));
    same_tensor(n);
}

void functionalizer::visit_copy(node const& n) {
    value_index const self = tensor_of(n, "self");
    value_index const source = tensor_of(n, "src");
    value_index const made = result_of(n, self);
    if (!state_.are_same(self, source)) {
        bool const same_sizes = layout_.same_sizes(state_.described_by(self), state_.described_by(source));
        value_index now = state_.read(source, n);
        if (!same_sizes) {
            now = out_.emit(
                "aten::copy", n, {tensor_argument("self", state_.shape_of(self)), tensor_argument("src", now)}, made);
        } else if (!layout_.same_type(self, source)) {
            now = out_.emit("aten::_to_copy",
                            n,
                            {tensor_argument("self", now), type_argument("dtype", program_.values[self].type)},
                            made);
        }
        write(self, now, n);
    }
    same_tensor(n);
}

void functionalizer::visit_fill(node const& n) {
    value_index const self = tensor_of(n, "self");
    argument const* const given = find_argument(n, "value");
    argument number = given == nullptr ? number_argument("value", 0) : *given;
    read_argument(number, n);
    std::string_view const op = n.op == "aten::fill_.Tensor" ? "aten::fill.Tensor" : "aten::fill.Scalar";
    value_index const now =
        out_.emit(op, n, {tensor_argument("self", state_.shape_of(self)), std::move(number)}, result_of(n, self));
    write(self, now, n);
    same_tensor(n);
}

/// A long diagonal is every (1 + width)-th element of the matrix in one dimension, and that of a cube likewise.
value_index functionalizer::with_every_filled(node const& n, value_index whole, concrete_layout const& layout,
                                              argument const& number) {
    std::int64_t const count = count_of(layout);
    std::int64_t step = 0;
    for (std::int64_t const size : layout.sizes) step = step * size + 1;
    auto const one_dimension = [&](std::int64_t size) {
        value v = program_.values[whole];
        v.sizes = {extent{size, extent::none}};
        v.strides = {extent{1, extent::none}};
        return out_.fresh(std::move(v));
    };
    value_index const flat = out_.emit(
        "aten::reshape", n, {tensor_argument("self", whole), integers_argument("shape", {-1})}, one_dimension(count));
    std::vector<argument> const every{number_argument("dim", 0), number_argument("step", step)};
    value_index const part = out_.emit("aten::slice.Tensor",
                                       n,
                                       {tensor_argument("self", flat), every[0], every[1]},
                                       one_dimension((count + step - 1) / step));
    value_index const filled =
        out_.emit("aten::fill.Scalar", n, {tensor_argument("self", part), renamed(number, "value")}, out_.fresh(part));
    value_index const changed =
        out_.emit("aten::slice_scatter",
                  n,
                  {tensor_argument("self", flat), tensor_argument("src", filled), every[0], every[1]},
                  out_.fresh(flat));
    return out_.emit("aten::reshape",
                     n,
                     {tensor_argument("self", changed), integers_argument("shape", layout.sizes)},
                     result_of(n, whole));
}

void functionalizer::visit_fill_diagonal(node const& n) {
    value_index const self = tensor_of(n, "self");
    value_index const described = state_.described_by(self);
    std::optional<concrete_layout> const layout = layout_.of(described);
    argument const* const number = find_argument(n, "fill_value");
    bool const is_matrix = layout && layout->sizes.size() == 2;
    if (!layout || layout->sizes.size() < 2 || number == nullptr)
        throw error(describe(program_, n) + ": needs a tensor with at least 2 dimensions, and a number");
    // With wrap, the diagonal of a tall matrix starts again below the row where it ends; with more dimensions, it is that of a cube.
    bool const wraps = is_matrix && boolean_of(n, "wrap", false) && layout->sizes[0] - 1 > layout->sizes[1];
    if (!is_matrix || wraps) {
        bool const is_cube = std::all_of(layout->sizes.begin(), layout->sizes.end(), [&](std::int64_t size) {
            return size == layout->sizes.front();
        });
        if (count_of(*layout) < 0 || (!is_matrix && !is_cube))
            throw error(describe(program_, n) +
                        ": needs a matrix, or a tensor whose dimensions all have the same size");
        bool const follows_rows = !wraps || layouts::is_contiguous(*layout);
        for (extent const& size : program_.values[described].sizes)
            if (!size.is_number() || !follows_rows)
                throw error(describe(program_, n) +
                            ": fills a diagonal with wrap or of more than 2 dimensions, which needs static sizes" +
                            (wraps ? " and a contiguous tensor" : "") + "; fill torch.diagonal() instead");
        write(self, with_every_filled(n, state_.read(self, n), *layout, *number), n);
        return same_tensor(n);
    }
    value_index const made = result_of(n, self);
    value_index const now = state_.read(self, n);
    value along = program_.values[described];
    std::size_t const shorter = layout->sizes[0] <= layout->sizes[1] ? 0 : 1;
    along.sizes = {along.sizes[shorter]};
    along.strides = {extent{1, extent::none}};
    value_index const diagonal = out_.emit("aten::diagonal", n, {tensor_argument("self", now)}, out_.fresh(along));
    value_index const filled = out_.emit("aten::fill.Scalar",
                                         n,
                                         {tensor_argument("self", diagonal), renamed(*number, "value")},
                                         out_.fresh(std::move(along)));
    write(self,
          out_.emit("aten::diagonal_scatter", n, {tensor_argument("self", now), tensor_argument("src", filled)}, made),
          n);
    same_tensor(n);
}

void functionalizer::visit_norm(node const& n) {
    value_index const mean = tensor_of(n, "running_mean");
    value_index const variance = tensor_of(n, "running_var");
    running_statistics const now = emit_with_statistics(out_, with_arguments_read(n));
    add_results(n);
    write(mean, now.mean, n);
    write(variance, now.variance, n);
}

} // namespace ATON_NAMESPACE::program
