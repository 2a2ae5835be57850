// SPDX-License-Identifier: MIT
// Products by cuBLAS, if the build found it. cuBLAS is column-major: the row-major product a b is its product of b and
// a, both read as transposed.
#include "matmul.hpp"

#if defined(ATON_CUBLAS)

#include <algorithm>
#include <climits>
#include <mutex>
#include <optional>
#include <string>

#include <cublas_v2.h>

#include <aton/core/error.hpp>

#include "stream.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

namespace {

void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) throw error(std::string("cuBLAS: ") + cublasGetStatusString(status));
}

cublasHandle_t handle() {
    static cublasHandle_t const only = [] {
        cublasHandle_t h = nullptr;
        check(cublasCreate(&h));
        check(cublasSetStream(h, gpu::stream()));
        return h;
    }();
    return only;
}

struct number_kinds {
    cudaDataType_t elements;
    cublasComputeType_t sums;
};
std::optional<number_kinds> kinds_of(dtype t) {
    switch (t) {
    case dtype::float16: return number_kinds{CUDA_R_16F, CUBLAS_COMPUTE_32F};
    case dtype::bfloat16: return number_kinds{CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    case dtype::float32: return number_kinds{CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case dtype::float64: return number_kinds{CUDA_R_64F, CUBLAS_COMPUTE_64F};
    default: return std::nullopt;
    }
}

/// A matrix as cuBLAS reads it; row-major ones are already transposed.
struct seen {
    cublasOperation_t turn;
    std::int64_t stride; ///< from one of its columns to the next
};
std::optional<seen> seen_as(std::int64_t rows, std::int64_t columns, matrix_strides s) {
    auto const fits = [](std::int64_t stride, std::int64_t minimum) { return stride >= minimum && stride <= INT_MAX; };
    if ((s.column == 1 || columns == 1) && (fits(s.row, columns) || rows == 1))
        return seen{CUBLAS_OP_N, rows == 1 ? columns : s.row};
    if ((s.row == 1 || rows == 1) && (fits(s.column, rows) || columns == 1))
        return seen{CUBLAS_OP_T, columns == 1 ? rows : s.column};
    return std::nullopt;
}

void const* moved(void const* x, std::int64_t elements, dtype t) {
    return static_cast<std::byte const*>(x) + elements * static_cast<std::int64_t>(element_bytes(t));
}

} // namespace

bool multiply_by_cublas(dtype t, matmul_shape const& s, void* out, void const* a, void const* b) {
    std::optional<number_kinds> const kinds = kinds_of(t);
    std::optional<seen> const left = seen_as(s.m, s.k, s.a);
    std::optional<seen> const right = seen_as(s.k, s.n, s.b);
    if (!kinds || !left || !right || s.m == 0 || s.n == 0 || s.k == 0 || std::max({s.m, s.n, s.k}) > INT_MAX)
        return false;
    static std::mutex one_at_a_time;
    std::scoped_lock const lock(one_at_a_time);
    float const one_float = 1;
    float const none_float = 0;
    double const one_double = 1;
    double const none_double = 0;
    bool const is_double = t == dtype::float64;
    void const* const one = is_double ? static_cast<void const*>(&one_double) : &one_float;
    void const* const none = is_double ? static_cast<void const*>(&none_double) : &none_float;
    // One call covers the innermost batch dimension.
    loop<3> const& l = s.batches;
    int const inner = l.rank - 1;
    for (std::int64_t first = 0; first < l.count; first += l.sizes[inner]) {
        int const count = static_cast<int>(l.sizes[inner]);
        check(cublasGemmStridedBatchedEx(handle(),
                                         right->turn,
                                         left->turn,
                                         static_cast<int>(s.n),
                                         static_cast<int>(s.m),
                                         static_cast<int>(s.k),
                                         one,
                                         moved(b, offset_of(l, 2, first), t),
                                         kinds->elements,
                                         static_cast<int>(right->stride),
                                         l.strides[2][inner],
                                         moved(a, offset_of(l, 1, first), t),
                                         kinds->elements,
                                         static_cast<int>(left->stride),
                                         l.strides[1][inner],
                                         none,
                                         const_cast<void*>(moved(out, offset_of(l, 0, first), t)),
                                         kinds->elements,
                                         static_cast<int>(s.n),
                                         l.strides[0][inner],
                                         count,
                                         kinds->sums,
                                         CUBLAS_GEMM_DEFAULT));
    }
    return true;
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT

#else

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

bool multiply_by_cublas(dtype /*t*/, matmul_shape const& /*s*/, void* /*out*/, void const* /*a*/, void const* /*b*/) {
    return false;
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT

#endif
