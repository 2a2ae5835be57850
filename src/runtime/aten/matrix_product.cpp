// SPDX-License-Identifier: MIT
// ATen operators: matrix products. Narrow floats are multiplied and added in float32 and rounded once, as in BLAS.
#include "products.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "runtime/compute/factorization.hpp"
#include <aton/aten/promotion.hpp>
#include <aton/core/budget.hpp>
#include <aton/core/error.hpp>

#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// The product in the compute type.
tensor wide_product(tensor const& a, tensor const& b) {
    if (a.dtype() != b.dtype())
        throw error("the matrices must have the same dtype, not " + std::string(name(a.dtype())) + " and " +
                    std::string(name(b.dtype())));
    if (a.dtype() == dtype::bool_) throw error("matrix products do not support bool");
    dtype const in = compute_type(a.dtype());
    return matmul(cast(a, in), cast(b, in));
}

template <std::size_t Left, std::size_t Right>
tensor checked_product(call const& c, std::string_view left, std::string_view right) {
    tensor const a = c.t(left);
    tensor const b = c.t(right);
    require_rank(a, Left, left);
    require_rank(b, Right, right);
    if (Left == 3 && a.size(0) != b.size(0)) throw error("the batches have different sizes");
    return wide_product(a, b);
}

results mm(call const& c) { return cast(checked_product<2, 2>(c, "self", "mat2"), c.t("self").dtype()); }
results int_mm(call const& c) {
    bool const is_byte = c.t("self").dtype() == dtype::int8 || c.t("self").dtype() == dtype::uint8;
    if (!is_byte || c.t("mat2").dtype() != dtype::int8)
        throw error("_int_mm multiplies matrices of int8 or uint8 by one of int8");
    require_rank(c.t("self"), 2, "self");
    require_rank(c.t("mat2"), 2, "mat2");
    return wide_product(cast(c.t("self"), dtype::int32), cast(c.t("mat2"), dtype::int32));
}
results bmm(call const& c) { return cast(checked_product<3, 3>(c, "self", "mat2"), c.t("self").dtype()); }
results mv(call const& c) { return cast(checked_product<2, 1>(c, "self", "vec"), c.t("self").dtype()); }
results matrix_or_vector_product(call const& c) { return product(c.t("self"), c.t("other")); }

/// Whether the product with the tensor `left` is dropped, even if it is NaN: a sum of no terms, and one that alpha = 0 makes so, as in BLAS,
/// which does not compute narrow floats.
bool leaves_product(call const& c, std::string_view left) {
    if (c.t(left).count() == 0) return true;
    return c.number("alpha") == scalar(0) && compute_type(c.t("self").dtype()) == c.t("self").dtype();
}

/// A factor of 1 is left out: of complex numbers with an infinite part, it would make NaN of the other one.
tensor times(tensor const& x, scalar const& factor) { return factor == scalar(1) ? x : x * factor; }

/// beta * self + alpha * product. beta = 0 drops `self`, including NaN.
tensor added(call const& c, tensor const& wide, dtype type, bool without_product = false) {
    tensor out = without_product ? full(0, wide.dtype(), wide.sizes(), wide.where()) : times(wide, c.number("alpha"));
    if (scalar const beta = c.number("beta"); !(beta == scalar(0)))
        out = times(cast(c.t("self"), wide.dtype()).expanded(wide.sizes()), beta) + out;
    return cast(out, type);
}
tensor added(call const& c, tensor const& wide, bool without_product = false) {
    dtype const type = c.t("self").dtype();
    if (compute_type(type) != wide.dtype())
        throw error("the dtype of 'self', " + std::string(name(type)) + ", is not that of the matrices");
    return added(c, wide, type, without_product);
}

results addmm(call const& c) { return added(c, checked_product<2, 2>(c, "mat1", "mat2"), leaves_product(c, "mat1")); }
results addmv(call const& c) {
    tensor const self = c.t("self");
    tensor const product = checked_product<2, 1>(c, "mat", "vec");
    bool const ignores =
        leaves_product(c, "mat") && !is_complex(product.dtype()); // its BLAS for complex numbers multiplies by 0
    if (c.t("mat").count() != 0 || c.number("beta") == scalar(0)) return added(c, product, ignores);
    static_cast<void>(broadcast(self.sizes(), product.sizes()));
    return cast(cast(self, product.dtype()) * c.number("beta"), self.dtype()); // ATen does not expand it
}
results baddbmm(call const& c) {
    return added(c, checked_product<3, 3>(c, "batch1", "batch2"), c.t("batch1").count() == 0);
}

/// Adds one product after the other and rounds each time.
results addbmm(call const& c) {
    tensor const products = checked_product<3, 3>(c, "batch1", "batch2");
    if (leaves_product(c, "batch1")) return added(c, sum(products, {0}), true);
    tensor out = added(c, products.sliced(0, 0, 1).squeezed(0));
    for (std::int64_t i = 1; i != products.size(0); ++i) {
        tensor const next = products.sliced(0, i, 1).squeezed(0);
        out = cast(cast(out, next.dtype()) + times(next, c.number("alpha")), out.dtype());
    }
    return out;
}

/// A result dtype that may be wider than that of the matrices: the product is rounded once, to that one.
dtype wider_type(call const& c, std::string_view matrix) {
    dtype const in = c.t(matrix).dtype();
    dtype const out = c.type("out_dtype");
    bool const is_narrow = in == dtype::float16 || in == dtype::bfloat16;
    if (out != in && !(out == dtype::float32 && is_narrow))
        throw error("out_dtype must be that of the matrices, or float32 for float16 and bfloat16");
    return out;
}
template <std::size_t Rank>
results product_in_type(call const& c) {
    return cast(checked_product<Rank, Rank>(c, "self", "mat2"), wider_type(c, "self"));
}
template <std::size_t Rank>
results sum_in_type(call const& c) {
    std::string_view const left = Rank == 2 ? "mat1" : "batch1";
    dtype const out = wider_type(c, left);
    if (c.t("self").dtype() != out && c.t("self").dtype() != c.t(left).dtype())
        throw error("the dtype of 'self' is neither out_dtype nor that of the matrices");
    tensor const product = checked_product<Rank, Rank>(c, left, Rank == 2 ? "mat2" : "batch2");
    bool const drops = Rank == 2 && c.number("alpha") == scalar(0) && compute_type(out) == out; // as addmm does
    return added(c, product, out, drops || c.t(left).count() == 0);
}

results addmm_activation(call const& c) {
    tensor const x = cast(added(c, checked_product<2, 2>(c, "mat1", "mat2"), leaves_product(c, "mat1")),
                          compute_type(c.t("self").dtype()));
    return cast(unary(c.b("use_gelu") ? unary_op::gelu : unary_op::relu, x), c.t("self").dtype());
}

results addr(call const& c) {
    tensor const column = c.t("vec1");
    tensor const row = c.t("vec2");
    require_rank(column, 1, "vec1");
    require_rank(row, 1, "vec2");
    // self is expanded before promotion, so a 0-d one takes part in it.
    dtype const type = aten::promote_types(c.t("self").dtype(), result_type(c, {"vec1", "vec2"}));
    dtype const in = compute_type(type);
    auto const rounded = [&](tensor const& t) { return cast(cast(t, type), in); };
    tensor const scaled = rounded(cast(column, in) * c.number("alpha"));
    tensor out = rounded(scaled.unsqueezed(1) * cast(row, in));
    if (scalar const beta = c.number("beta"); !(beta == scalar(0)))
        out = rounded(cast(c.t("self"), in).expanded(out.sizes()) * beta) + out;
    return cast(out, type);
}

results linear(call const& c) {
    tensor const x = c.t("input");
    tensor const weight = c.t("weight");
    if (weight.rank() == 0 || weight.rank() > 2) throw error("weight must have 1 or 2 dimensions");
    tensor out = wide_product(x, weight.rank() == 1 ? weight : transpose(weight, 0, 1));
    if (tensor const bias = c.maybe("bias")) out = out + cast(bias, out.dtype());
    return cast(out, x.dtype());
}

tensor dot(tensor const& x, tensor const& y) {
    require_rank(x, 1, "the first vector");
    require_rank(y, 1, "the second vector");
    return product(x, y);
}
results dot(call const& c) { return dot(c.t("self"), c.t("tensor")); }
results vdot(call const& c) { return dot(conjugate(c.t("self")), c.t("other")); }

results vecdot(call const& c) {
    tensor const x = c.t("x");
    tensor const y = c.t("y");
    dtype const in = compute_type(x.dtype());
    return cast(sum(cast(conjugate(x), in) * cast(y, in), {c.i("dim")}), x.dtype());
}

results inner(call const& c) {
    tensor const x = c.t("self");
    tensor const y = c.t("other");
    if (x.rank() == 0 || y.rank() == 0) return *(term(x) * term(y));
    return contraction(x, y, {-1}, {-1});
}

results outer(call const& c) {
    tensor const x = c.t("self");
    tensor const y = c.t("vec2");
    require_rank(x, 1, "self");
    require_rank(y, 1, "vec2");
    return *(term(x.unsqueezed(1)) * term(y));
}

results tensordot(call const& c) {
    return contraction(c.t("self"), c.t("other"), c.ints("dims_self"), c.ints("dims_other"));
}

/// [a0, 1, a1, 1, ...] times [1, b0, 1, b1, ...].
results kron(call const& c) {
    tensor x = c.t("self");
    tensor y = c.t("other");
    while (x.rank() < y.rank()) x = x.unsqueezed(0);
    while (y.rank() < x.rank()) y = y.unsqueezed(0);
    sizes to;
    for (std::size_t i = 0; i != x.rank(); ++i) to.push_back(checked_multiply(x.size(i), y.size(i)));
    for (std::size_t i = to.size(); i-- != 0;) {
        x = x.unsqueezed(i + 1);
        y = y.unsqueezed(i);
    }
    return reshape(*(term(x) * term(y)), to);
}

/// The product of matrices [first, last) in the order with the fewest multiplications; float16 is rounded in between.
class matrix_chain {
public:
    explicit matrix_chain(std::vector<tensor> matrices)
        : matrices_(std::move(matrices)),
          costs_(matrices_.size(), std::vector<double>(matrices_.size(), 0)),
          splits_(matrices_.size(), std::vector<std::size_t>(matrices_.size(), 0)) {
        for (std::size_t count = 2; count <= matrices_.size(); ++count)
            for (std::size_t first = 0; first + count <= matrices_.size(); ++first) choose(first, first + count - 1);
    }

    [[nodiscard]] tensor product_of(std::size_t first, std::size_t last) const {
        if (first == last) return matrices_[first];
        std::size_t const split = splits_[first][last];
        return product(product_of(first, split), product_of(split + 1, last));
    }

private:
    void choose(std::size_t first, std::size_t last) {
        auto const size = [&](std::size_t i, std::size_t axis) { return static_cast<double>(matrices_[i].size(axis)); };
        for (std::size_t split = first; split != last; ++split) {
            double const cost =
                costs_[first][split] + costs_[split + 1][last] + size(first, 0) * size(split, 1) * size(last, 1);
            if (split != first && cost >= costs_[first][last]) continue;
            costs_[first][last] = cost;
            splits_[first][last] = split;
        }
    }

    std::vector<tensor> matrices_;
    std::vector<std::vector<double>> costs_;
    std::vector<std::vector<std::size_t>> splits_;
};

/// The first operand may be a row vector, the last a column vector.
results chain(call const& c) {
    std::vector<tensor> all = c.tensors(c.has_argument("matrices") ? "matrices" : "tensors");
    constexpr std::size_t limit = 1024;
    if (all.empty() || all.size() > limit)
        throw error("a product of " + std::to_string(all.size()) + " matrices is not supported");
    bool const row = all.front().rank() == 1 && all.size() > 1;
    bool const column = all.back().rank() == 1 && all.size() > 1;
    if (row) all.front() = all.front().unsqueezed(0);
    if (column) all.back() = all.back().unsqueezed(1);
    for (tensor const& each : all) require_rank(each, 2, "a matrix");
    tensor out = matrix_chain(all).product_of(0, all.size() - 1);
    if (column) out = out.squeezed(1);
    return contiguous(row ? out.squeezed(0) : out);
}

/// Multiplies the rows of each group of self [rows, k] by its matrix of mat2 [groups, k, n], or the columns of mat2, or sums the products
/// of each group.
tensor grouped_product(tensor const& x, tensor const& y, tensor const& offs) {
    std::vector<std::int64_t> const ends = to_host(offs).integers();
    bool const rows = x.rank() == 2 && y.rank() == 3;
    bool const columns = x.rank() == 3 && y.rank() == 2;
    if (!rows && !columns) {
        require_rank(x, 2, "self");
        require_rank(y, 2, "mat2");
    }
    std::vector<tensor> parts;
    std::int64_t start = 0;
    for (std::size_t i = 0; i != ends.size(); ++i) {
        auto const piece = [&](tensor const& m, std::size_t axis) {
            if (ends[i] < start || ends[i] > m.size(axis)) throw error("an offset is out of range");
            return m.sliced(axis, start, ends[i] - start);
        };
        auto const group = [&](tensor const& m) {
            if (static_cast<std::int64_t>(i) >= m.size(0)) throw error("there are more offsets than groups");
            return m.sliced(0, static_cast<std::int64_t>(i), 1).squeezed(0);
        };
        parts.push_back(rows      ? product(piece(x, 0), group(y))
                        : columns ? product(group(x), piece(y, 1))
                                  : product(piece(x, 1), piece(y, 0)));
        start = ends[i];
    }
    if (rows || columns) { // what comes after the last group is 0
        std::size_t const axis = rows ? 0 : 1;
        sizes rest = parts.empty() ? sizes{x.size(rows ? 0 : 1), y.size(rows ? 2 : 1)} : parts[0].sizes();
        rest[axis] = (rows ? x.size(0) : y.size(1)) - start;
        parts.push_back(full(0, x.dtype(), rest, x.where()));
    }
    return rows ? concat(parts, 0) : columns ? concat(parts, 1) : stack(parts, 0);
}

results grouped_mm(call const& c) {
    tensor const x = c.t("self");
    tensor const y = c.t("mat2");
    return cast(c.given("offs") ? grouped_product(x, y, c.t("offs")) : product(x, y), c.type("out_dtype", x.dtype()));
}

/// transformers' mixtures of experts: rows, sorted by expert, and one matrix per expert.
void expect_experts(call const& c) {
    require_rank(c.t("input"), 2, "input");
    require_rank(c.t("weight"), 3, "weight");
    require_rank(c.t("offs"), 1, "offs");
    if (c.t("offs").size(0) != c.t("weight").size(0)) throw error("offs and weight have different lengths");
}
results experts(call const& c) {
    expect_experts(c);
    return grouped_product(c.t("input"), c.t("weight"), c.t("offs"));
}
results experts_backward(call const& c) {
    expect_experts(c);
    tensor const grad = c.t("grad_output");
    require_rank(grad, 2, "grad_output");
    return results{grouped_product(grad, contiguous(transpose(c.t("weight"), 1, 2)), c.t("offs")),
                   grouped_product(contiguous(transpose(c.t("input"), 0, 1)), grad, c.t("offs"))};
}

} // namespace

tensor product(tensor const& a, tensor const& b) { return cast(wide_product(a, b), a.dtype()); }

rows matrix_product() {
    static constexpr row all[] = {
        {"_int_mm", int_mm},
        {"mm", mm},
        {"mm.dtype", product_in_type<2>},
        {"bmm", bmm},
        {"bmm.dtype", product_in_type<3>},
        {"mv", mv},
        {"matmul", matrix_or_vector_product},
        {"linalg_matmul", matrix_or_vector_product},
        {"addmm", addmm},
        {"addmm.dtype", sum_in_type<2>},
        {"_addmm_activation", addmm_activation},
        {"addmv", addmv},
        {"baddbmm", baddbmm},
        {"baddbmm.dtype", sum_in_type<3>},
        {"addbmm", addbmm},
        {"addr", addr},
        {"linear", linear},
        {"dot", dot},
        {"vdot", vdot},
        {"linalg_vecdot", vecdot},
        {"inner", inner},
        {"outer", outer},
        {"ger", outer},
        {"tensordot", tensordot},
        {"kron", kron},
        {"chain_matmul", chain},
        {"linalg_multi_dot", chain},
        {"_grouped_mm", grouped_mm},
        {"transformers::grouped_mm_fallback", experts},
        {"transformers::grouped_mm_fallback_backward", experts_backward},
        {"einsum", einsum},
        {"bilinear", bilinear},
        {"_trilinear", trilinear},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
