// SPDX-License-Identifier: MIT
// Matrix products: aten's mm, matmul, linear, addmm, einsum ...
// Public header.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <aton/mappings/detail/complex.hpp>
#include <aton/mappings/detail/einsum.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/grouped_product.hpp>
#include <aton/mappings/detail/products.hpp>
#include <aton/mappings/detail/shaping.hpp>
#include <aton/mappings/detail/three_operands.hpp>
#include <aton/mappings/detail/unary.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

inline constexpr auto addmm = [](graph<9> g, value self, value a, value b, number beta, number alpha) -> value {
    if (skips_product(a, alpha))
        return scaled_sum(g, self, filled(g, std::array{g.size(a, 0), g.size(b, 1)}, 0, a.dtype()), beta, 1);
    // Attributes are float32.
    auto const fits = [&](number const& n) {
        if (!n.is_constant()) return false;
        auto const factor = n.constant<double>();
        auto const kept = static_cast<double>(static_cast<float>(factor));
        return std::isfinite(factor) &&
               (exactly_equal(factor, kept) || (a.dtype() != dtype::float64 && !exactly_equal(kept, 0)));
    };
    if (self.rank() > 2 || !is_floating(a.dtype()) || !fits(alpha) || !fits(beta))
        return scaled_sum_of_product(g, self, a, b, beta, alpha);
    auto const alpha_f = attr::alpha_f(alpha.constant<double>());
    if (beta == 0 && g.opset() >= 11) return g.within<11>().op<"Gemm">(a, b, alpha_f);
    value const addend = beta == 0 ? g.scalar_like(0, a) : self; // not optional below opset 11
    return g.op<"Gemm">(a, b, addend, alpha_f, attr::beta_f(beta.constant<double>()));
};

inline constexpr auto outer_product = [](graph<7> g, value a, value b) -> value {
    dtype const t = promote(a, b);
    value const column = unsqueeze(g, g.cast(a, t), 1);
    value const row = unsqueeze(g, g.cast(b, t), std::int64_t{0});
    if (t == dtype::bool_) return g.op<"And">(column, row);
    return g.op<"Mul">(column, row);
};

inline constexpr auto linear_layer = symbolic<"aten::linear(input, weight, bias)">(
    [](graph<7> g, value input, value weight, optional_value bias) -> value {
        // A 1-d weight is a single output feature whose dimension is dropped; the bias is then 0-d or absent.
        bool const has_gemm = bias ? bias->rank() <= 1 : g.opset() >= 11;
        if (weight.rank() == 2 && input.rank() == 2 && is_floating(input.dtype()) && has_gemm)
            return bias ? g.op<"Gemm">(input, weight, *bias, attr::transB_i(1))
                        : g.within<11>().op<"Gemm">(input, weight, attr::transB_i(1));
        value const product = matmul(g, input, weight.rank() == 2 ? transpose_last(g, weight) : weight);
        return bias ? g.op<"Add">(product, *bias) : product;
    });

/// linalg.multi_dot, evaluated from left to right; the first and the last factor may be 1-d.
inline constexpr auto product_of = [](graph<7> g, safe_span<value const> factors) -> value {
    value out = factors[0];
    for (std::size_t i = 1; i != factors.size(); ++i) out = matmul(g, out, factors[i]);
    return out;
};

/// Sums over pairs of dimensions as a product of matrices, which is reshaped to the remaining dimensions.
inline constexpr auto tensordot = symbolic<"aten::tensordot(self, other, dims_self, dims_other)">(
    [](graph<7> g, value a, value b, safe_span<std::int64_t const> dims_a,
       safe_span<std::int64_t const> dims_b) -> value {
        safe_vector<std::int64_t> const over_a = normalize_axes(dims_a, a.rank());
        safe_vector<std::int64_t> const over_b = normalize_axes(dims_b, b.rank());
        auto const contains = [](safe_vector<std::int64_t> const& list, std::int64_t d) {
            for (std::int64_t each : list)
                if (each == d) return true;
            return false;
        };
        safe_vector<std::int64_t> perm_a;
        safe_vector<std::int64_t> perm_b = over_b;
        safe_vector<sym_int> result;
        sym_int summed = 1;
        for (std::size_t i = 0; i != over_a.size(); ++i) {
            sym_int const n = g.size(a, over_a[i]);
            sym_int const m = g.size(b, over_b[i]);
            // In ATen, one of the two dimensions may have size 1; the other is then summed.
            std::int64_t const pair[] = {over_a[i], over_b[i]};
            if (n.is(1) && !m.is(1)) b = reduce_sum(g, b, safe_span(pair + 1, 1), true);
            if (m.is(1) && !n.is(1)) a = reduce_sum(g, a, safe_span(pair, 1), true);
            summed = summed * (n.is(1) || m.is(1) ? 1 : n.is_constant() ? n : m);
        }
        for (std::int64_t d = 0; d != a.rank(); ++d)
            if (!contains(over_a, d)) perm_a.push_back(d), result.push_back(g.size(a, d));
        perm_a.insert(perm_a.end(), over_a.begin(), over_a.end());
        for (std::int64_t d = 0; d != b.rank(); ++d)
            if (!contains(over_b, d)) perm_b.push_back(d), result.push_back(g.size(b, d));
        value const left = a.rank() == 0 ? a : g.op<"Transpose">(a, attr::perm_i(perm_a));
        value const right = b.rank() == 0 ? b : g.op<"Transpose">(b, attr::perm_i(perm_b));
        bool const empty = a.shape().element_count_or(-1) == 0 || b.shape().element_count_or(-1) == 0;
        if (empty) throw unsupported_error("tensordot of an empty tensor");
        sym_int const to_left[] = {-1, summed};
        sym_int const to_right[] = {summed, -1};
        value const product =
            matmul(g, g.op<"Reshape">(left, g.ints(to_left)), g.op<"Reshape">(right, g.ints(to_right)));
        return g.op<"Reshape">(product, g.ints(result));
    });

inline constexpr auto inner_product = [](graph<7> g, value a, value b) -> value {
    if (a.rank() == 0 || b.rank() == 0) return a.dtype() == dtype::bool_ ? value(g.op<"And">(a, b)) : g.op<"Mul">(a, b);
    if (b.rank() <= 2) return matmul(g, a, b.rank() == 2 ? transpose_last(g, b) : b);
    std::int64_t const last[] = {-1};
    return tensordot(g, a, b, last, last);
};

inline constexpr auto kron = symbolic<"aten::kron(self, other)">([](graph<7> g, value a, value b) -> value {
    dtype const t = aten::promote_types(a.dtype(), b.dtype()); // ATen unsqueezes 0-d tensors before promotion
    value x = g.cast(a, t);
    value y = g.cast(b, t);
    std::int64_t const n = a.rank() > b.rank() ? a.rank() : b.rank();
    auto const widen = [&](value v) { return v.rank() == n ? v : unsqueeze(g, v, iota(n - v.rank())); };
    x = widen(x);
    y = widen(y);
    safe_vector<std::int64_t> odd;
    safe_vector<std::int64_t> even;
    for (std::int64_t i = 0; i != n; ++i) {
        odd.push_back(2 * i + 1);
        even.push_back(2 * i);
    }
    safe_vector<sym_int> sizes;
    for (std::int64_t i = 0; i != n; ++i)
        sizes.push_back(checked_multiply(g.size(x, i).constant(), g.size(y, i).constant()));
    if (n == 0) return g.op<"Mul">(x, y);
    return reshape(g, g.op<"Mul">(unsqueeze(g, x, odd), unsqueeze(g, y, even)), sizes);
});

inline constexpr auto plain_product = [](graph<7> g, value self, value other) -> value {
    return matmul(g, self, other);
};

inline constexpr auto addmm_activation = symbolic<"aten::_addmm_activation(self, mat1, mat2, beta, alpha, use_gelu)">(
    [](graph<9> g, value self, value mat1, value mat2, number beta, number alpha, bool use_gelu) -> value {
        if (use_gelu) return g.unsupported("use_gelu: the approximation differs between devices");
        return g.op<"Relu">(addmm(g, self, mat1, mat2, beta, alpha));
    });

inline constexpr auto baddbmm = [](graph<9> g, value self, value a, value b, number beta, number alpha) -> value {
    if (is_empty(a)) // a sum of no terms
        return scaled_sum(
            g, self, filled(g, std::array{g.size(a, 0), g.size(a, 1), g.size(b, 2)}, 0, a.dtype()), beta, 1);
    return scaled_sum_of_product(g, self, a, b, beta, alpha);
};

/// Products whose result may have a wider dtype than the matrices, which are then converted first: their products are
/// exact in it.
inline void expect_wider(dtype in, dtype out) {
    if (out != in && !(out == dtype::float32 && (in == dtype::float16 || in == dtype::bfloat16)))
        throw unsupported_error("out_dtype must be that of the matrices, or float32 for float16 and bfloat16");
}
inline constexpr auto product_in_dtype = [](graph<7> g, value self, value mat2, dtype out) -> value {
    expect_wider(self.dtype(), out);
    return plain_product(g, g.cast(self, out), g.cast(mat2, out));
};
template <auto Sum>
inline constexpr auto sum_in_dtype =
    [](graph<9> g, value self, value a, value b, dtype out, number beta, number alpha) -> value {
    expect_wider(a.dtype(), out);
    return Sum(g, g.cast(self, out), g.cast(a, out), g.cast(b, out), beta, alpha);
};

inline value sum_of_products(graph<9> g, value self, value a, value b, number const& beta, number const& alpha) {
    std::int64_t const batch[] = {0};
    value const products = matmul(g, a, b);
    if (products.dtype() == dtype::bool_)
        return scaled_sum(g, self, reduce_sum(g, products, batch, false), beta, alpha);
    // Scaled before the sum, since each product may exceed the dtype's range.
    return scaled_sum(g, self, reduce_sum(g, scale_by(g, products, alpha), batch, false), beta, 1);
}

inline constexpr auto addr = symbolic<"aten::addr(self, vec1, vec2, beta, alpha)">(
    [](graph<9> g, value self, value a, value b, number beta, number alpha) -> value {
        // ATen expands self before promotion, so a 0-d self takes part in it.
        dtype const t = aten::promote_types(self.dtype(), promote(a, b));
        value first = t == dtype::bool_ ? a : scale_by(g, g.cast(a, t), alpha); // as ATen multiplies
        if (t == dtype::bool_ && (alpha == 0 || !alpha.is_constant())) first = g.op<"And">(a, element(g, alpha, t));
        value const outer = g.cast(outer_product(g, first, b), t);
        // ATen rounds both products to a narrow dtype.
        if ((t == dtype::float16 || t == dtype::bfloat16) && beta.is_constant() && !(beta == 0))
            return g.op<"Add">(scale_by(g, g.cast(self, t), beta), outer);
        return scaled_sum(g, g.cast(self, t), outer, beta, 1);
    });

inline constexpr auto bilinear = symbolic<"aten::bilinear(input1, input2, weight, bias)">(
    [](graph<7> g, value a, value b, value weight, optional_value bias) -> value {
        value const operands[] = {a, weight, b};
        value const y = einsum_of(g, "...i,kij,...j->...k", operands);
        return bias ? g.op<"Add">(y, *bias) : y;
    });

inline constexpr auto trilinear =
    symbolic<"aten::_trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim)">(
        [](graph<7> g, value a, value b, value c, int_list without_a, int_list without_b, int_list without_c,
           int_list summed, std::int64_t unroll_dim) -> value {
            return product_of_three(g, {a, b, c}, {without_a, without_b, without_c}, summed, unroll_dim);
        });

inline constexpr auto complex_vdot = [](graph<7> g, complex_value a, complex_value b) {
    return complex_product<plain_product>(g, conjugate(g, a), b);
};

inline constexpr auto linalg_vecdot =
    symbolic<"aten::linalg_vecdot(x, y, dim)">([](graph<7> g, value x, value y, std::int64_t dim) -> value {
        std::int64_t const over[] = {dim};
        return reduce_sum(g, g.op<"Mul">(x, y), over, false);
    }).for_complex([](graph<7> g, complex_value x, complex_value y, std::int64_t dim) {
        complex_value const products = multiply_complex(g, promoted(g, conjugate(g, x), y));
        std::int64_t const over[] = {dim};
        return g.complex(reduce_sum(g, g.real(products), over, false), reduce_sum(g, g.imag(products), over, false));
    });

inline constexpr auto complex_linear = [](graph<7> g, complex_value input, complex_value weight,
                                          std::optional<complex_value> bias) -> complex_value {
    auto const layer = [&](value x, value w) { return linear_layer(g, x, w, absent); };
    complex_value const y = product_of_parts(g, promoted(g, input, weight), layer);
    return bias ? complex_sum<"Add">(g, {y, *bias}, 1) : y;
};

/// The product with alpha = 0 that ATen ignores, even if it is NaN: zeros of this size.
inline complex_value ignored_product(graph<9> g, sym_int rows, sym_int columns, dtype real) {
    value const zeros = filled(g, std::array{rows, columns}, 0, real);
    return g.complex(zeros, zeros);
}

/// beta * self + alpha * (a @ b). If beta is 0, ATen ignores self, including NaN.
inline constexpr auto complex_sum_of_product = [](graph<7> g, complex_value self, complex_value a, complex_value b,
                                                  number beta, number alpha) -> complex_value {
    complex_value const product = scaled_complex(g, complex_product<plain_product>(g, a, b), alpha);
    return beta == 0 ? product : complex_sum<"Add">(g, {scaled_complex(g, self, beta), product}, 1);
};

inline constexpr auto addmv =
    symbolic<"aten::addmv(self, mat, vec, beta, alpha)">([](graph<9> g, value self, value mat, value vec, number beta,
                                                            number alpha) -> value {
        if (is_empty(mat) && !(beta == 0))
            return scale_by(g, self, beta); // not expanded to the result's shape, as in ATen
        if (skips_product(mat, alpha))
            return scaled_sum(g, self, filled(g, std::array{g.size(mat, 0)}, 0, mat.dtype()), beta, 1);
        return scaled_sum_of_product(g, self, mat, vec, beta, alpha);
    }).for_complex(complex_sum_of_product);

inline constexpr auto complex_addmm = [](graph<9> g, complex_value self, complex_value a, complex_value b, number beta,
                                         number alpha) -> complex_value {
    if (!(alpha == 0)) return complex_sum_of_product(g, self, a, b, beta, alpha);
    value const x = g.real(a);
    complex_value const zeros = ignored_product(g, g.size(x, 0), g.size(g.real(b), 1), x.dtype());
    return beta == 0 ? zeros : complex_sum<"Add">(g, {scaled_complex(g, self, beta), zeros}, 1);
};

inline constexpr auto complex_kron = [](graph<7> g, complex_value a, complex_value b) -> complex_value {
    dtype const type = to_complex(aten::promote_types(a.tensor().dtype(), b.tensor().dtype()));
    return product_of_parts(
        g, {g.cast(a, type), g.cast(b, type)}, [&](value x, value y) -> value { return kron(g, x, y); });
};

inline constexpr auto complex_tensordot = [](graph<7> g, complex_value a, complex_value b,
                                             safe_span<std::int64_t const> dims_a,
                                             safe_span<std::int64_t const> dims_b) -> complex_value {
    return product_of_parts(
        g, promoted(g, a, b), [&](value x, value y) -> value { return tensordot(g, x, y, dims_a, dims_b); });
};

/// Half-precision dtypes are summed in float32.
inline constexpr auto addbmm =
    symbolic<"aten::addbmm(self, batch1, batch2, beta, alpha)">([](graph<9> g, value self, value a, value b,
                                                                   number beta, number alpha) -> value {
        if (skips_product(a, alpha))
            return scaled_sum(g, self, filled(g, std::array{g.size(a, 1), g.size(b, 2)}, 0, a.dtype()), beta, 1);
        dtype const wide = opmath_type(a.dtype());
        if (wide == a.dtype()) return sum_of_products(g, self, a, b, beta, alpha);
        for (number const& factor : {alpha, beta})
            if (factor.is_constant() && !surely_fits(factor, a.dtype()))
                return g.unsupported("an alpha or beta beyond the range of the dtype"); // ATen rounds each partial sum
        return g.cast(sum_of_products(g, g.cast(self, wide), g.cast(a, wide), g.cast(b, wide), beta, alpha), a.dtype());
    })
        .for_complex([](graph<9> g, complex_value self, complex_value a, complex_value b, number beta,
                        number alpha) -> complex_value {
            auto const summed = [&]() -> complex_value {
                value const x = g.real(a);
                if (alpha == 0) return ignored_product(g, g.size(x, 1), g.size(g.real(b), 2), x.dtype());
                std::int64_t const batch[] = {0};
                bool const each = alpha.is_constant() && !std::isfinite(alpha.constant().to<double>());
                complex_value all = complex_product<plain_product>(g, a, b);
                if (each)
                    all =
                        scaled_complex(g, all, alpha); // as ATen does: infinite products of both signs have the sum NaN
                all = g.complex(reduce_sum(g, g.real(all), batch, false), reduce_sum(g, g.imag(all), batch, false));
                return each ? all : scaled_complex(g, all, alpha);
            };
            complex_value const product = summed();
            return beta == 0 ? product : complex_sum<"Add">(g, {scaled_complex(g, self, beta), product}, 1);
        });

inline constexpr auto complex_product_of = [](graph<7> g, safe_vector<complex_value> factors) -> complex_value {
    complex_value out = factors[0];
    for (std::size_t i = 1; i != factors.size(); ++i) out = complex_product<plain_product>(g, out, factors[i]);
    return out;
};

/// The sum over all choices of the real or the imaginary part of each tensor.
/// `path` is the order of the products, which determines their dtypes.
inline constexpr auto einsum =
    symbolic<"aten::einsum(equation, tensors, path)">([](graph<7> g, std::string_view equation,
                                                         safe_span<value const> tensors,
                                                         std::optional<safe_span<std::int64_t const>> path) -> value {
        return einsum_of(g, equation, tensors, path);
    })
        .for_complex([](graph<7> g, std::string_view equation, safe_vector<complex_value> tensors,
                        std::optional<safe_span<std::int64_t const>> path) -> complex_value {
            if (tensors.size() > 4) return g.unsupported("einsum of more than 4 complex tensors");
            dtype type = dtype::complex64;
            for (complex_value const& z : tensors) type = aten::promote_types(type, z.dtype());
            for (complex_value& z : tensors) z = g.cast(z, type);
            std::optional<value> parts[2];
            for (std::size_t choice = 0; choice != std::size_t{1} << tensors.size(); ++choice) {
                safe_vector<value> chosen;
                std::size_t imaginary = 0;
                for (std::size_t i = 0; i != tensors.size(); ++i) {
                    bool const is_imaginary = (choice >> i & 1U) != 0;
                    imaginary += is_imaginary ? 1 : 0;
                    chosen.push_back(is_imaginary ? g.imag(tensors[i]) : g.real(tensors[i]));
                }
                value const term = einsum_of(g, equation, chosen, path);
                std::optional<value>& sum = parts[imaginary % 2]; // i^2 is -1
                if (imaginary % 4 < 2) sum = sum ? g.op<"Add">(*sum, term) : term;
                else sum = sum ? value(g.op<"Sub">(*sum, term)) : value(g.op<"Neg">(term));
            }
            return g.complex(*parts[0], *parts[1]);
        });

/// The int32 product of matrices of int8. MatMulInteger of uint8 with int8 saturates on some processors, so that one is
/// computed in int32.
inline constexpr auto product_of_bytes =
    symbolic<"aten::_int_mm(self, mat2)">([](graph<10> g, value self, value mat2) -> value {
        bool const is_byte = self.dtype() == dtype::int8 || self.dtype() == dtype::uint8;
        if (!is_byte || mat2.dtype() != dtype::int8)
            return g.unsupported("_int_mm of other dtypes than bytes with int8");
        if (self.dtype() == dtype::int8) return g.op<"MatMulInteger">(self, mat2);
        return g.op<"MatMul">(g.cast(self, dtype::int32), g.cast(mat2, dtype::int32));
    });

} // namespace detail

inline constexpr auto matrix_product = table(
    detail::product_of_bytes,
    symbolic<"aten::mm(self, mat2)">(detail::plain_product).for_complex(detail::complex_product<detail::plain_product>),
    symbolic<"aten::mm.dtype(self, mat2, out_dtype)">(detail::product_in_dtype),
    symbolic<"aten::bmm.dtype(self, mat2, out_dtype)">(detail::product_in_dtype),
    symbolic<"aten::bmm(self, mat2)">(detail::plain_product)
        .for_complex(detail::complex_product<detail::plain_product>),
    symbolic<"aten::mv(self, vec)">(detail::plain_product).for_complex(detail::complex_product<detail::plain_product>),
    symbolic<"aten::matmul(self, other)">(detail::plain_product)
        .for_complex(detail::complex_product<detail::plain_product>),
    symbolic<"aten::linalg_matmul(self, other)">(detail::plain_product)
        .for_complex(detail::complex_product<detail::plain_product>),
    symbolic<"aten::dot(self, tensor)">(detail::plain_product)
        .for_complex(detail::complex_product<detail::plain_product>),
    symbolic<"aten::vdot(self, other)">(detail::plain_product).for_complex(detail::complex_vdot),
    symbolic<"aten::inner(self, other)">(detail::inner_product)
        .for_complex(detail::complex_product<detail::inner_product>),
    symbolic<"aten::outer(self, vec2)">(detail::outer_product)
        .for_complex(detail::complex_product<detail::outer_product>),
    symbolic<"aten::ger(self, vec2)">(detail::outer_product)
        .for_complex(detail::complex_product<detail::outer_product>),
    detail::linear_layer.for_complex(detail::complex_linear),
    symbolic<"aten::addmm(self, mat1, mat2, beta, alpha)">(detail::addmm).for_complex(detail::complex_addmm),
    symbolic<"aten::addmm.dtype(self, mat1, mat2, out_dtype, beta, alpha)">(detail::sum_in_dtype<detail::addmm>),
    symbolic<"aten::baddbmm.dtype(self, batch1, batch2, out_dtype, beta, alpha)">(
        detail::sum_in_dtype<detail::baddbmm>),
    detail::addmm_activation, detail::addmv,
    symbolic<"aten::baddbmm(self, batch1, batch2, beta, alpha)">(detail::baddbmm)
        .for_complex(detail::complex_sum_of_product),
    detail::addbmm, detail::addr,
    symbolic<"aten::chain_matmul(matrices)">(detail::product_of).for_complex(detail::complex_product_of),
    symbolic<"aten::linalg_multi_dot(tensors)">(detail::product_of).for_complex(detail::complex_product_of),
    detail::linalg_vecdot, detail::tensordot.for_complex(detail::complex_tensordot), detail::einsum,
    symbolic<"aten::_grouped_mm(self, mat2, offs, bias, out_dtype)">(detail::grouped_mm),
    symbolic<"transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor">(detail::experts),
    symbolic<"transformers::grouped_mm_fallback_backward(Tensor input, Tensor weight, Tensor offs, Tensor grad_output) "
             "-> (Tensor, Tensor)">(detail::experts_backward),
    detail::bilinear, detail::trilinear, detail::kron.for_complex(detail::complex_kron));

} // namespace ATON_NAMESPACE::mappings
