// SPDX-License-Identifier: MIT
// Which operators ONNX Runtime's CPU provider runs, for which types. The data is in generated/onnxruntime_kernels.hpp.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <aton/core/dtype.hpp>
#include <aton/onnx/generated/onnxruntime_kernels.hpp>

namespace ATON_NAMESPACE::onnx::onnxruntime {

/// Operands of a kernel whose types must be in one set.
struct operand_rule {
    std::uint32_t inputs = 0;  ///< bit i: input i; the last bit also stands for those after it
    std::uint32_t results = 0; ///< likewise
    type_set types = {};

    [[nodiscard]] constexpr bool has_input(std::size_t i) const { return (inputs >> (i < 31 ? i : 31) & 1U) != 0; }
    [[nodiscard]] constexpr bool has_result(std::size_t i) const { return (results >> (i < 31 ? i : 31) & 1U) != 0; }
};

/// A kernel, or what stands for one where ONNX Runtime replaces the operator by its body: a list of rules.
class kernel {
public:
    constexpr explicit kernel(int listed) : row_(generated::listed[listed]) {}

    /// Whether ONNX Runtime replaces the operator by other operators.
    [[nodiscard]] constexpr bool is_expanded() const { return row_.expanded; }
    [[nodiscard]] constexpr int size() const {
        return generated::kernel_ends[row_.kernel + 1] - generated::kernel_ends[row_.kernel];
    }
    [[nodiscard]] constexpr operand_rule operator[](int i) const {
        generated::operands_row const& o =
            generated::operands[generated::kernel_operands[generated::kernel_ends[row_.kernel] + i]];
        return {o.inputs, o.results, {generated::sets[o.set].plain, generated::sets[o.set].optionals}};
    }

private:
    generated::listed_row row_;
};

/// The kernels of an operator at an opset.
class kernel_list {
public:
    constexpr kernel_list() = default;
    constexpr explicit kernel_list(int list)
        : first_(generated::list_ends[list]),
          last_(generated::list_ends[list + 1]) {}

    [[nodiscard]] constexpr int size() const { return last_ - first_; }
    [[nodiscard]] constexpr kernel operator[](int i) const { return kernel(first_ + i); }

private:
    int first_ = 0;
    int last_ = 0;
};

/// Kernels that are registered, but end the run where an attribute has one of some values.
struct unfinished_kernel {
    std::string_view op;
    std::string_view attribute;
    std::string_view values; ///< with a space before and after each
    type_set types;
};

/// "BFloat16 data type is not supported with ScatterElements opset 18 when reduction is 'max'."
inline constexpr unfinished_kernel unfinished_kernels[] = {
    {"ScatterElements", "reduction", " add mul ", tensors(dtype::float16, dtype::bfloat16)},
    {"ScatterElements", "reduction", " max min ", tensors(dtype::bool_, dtype::bfloat16)},
    {"ScatterND", "reduction", " add mul ", tensors(dtype::float16, dtype::bfloat16)},
    {"ScatterND", "reduction", " max min ", tensors(dtype::bool_, dtype::float16, dtype::bfloat16)},
};

/// Whether the table says anything about a domain: "", "ai.onnx" and "com.microsoft".
constexpr bool knows(std::string_view domain) {
    return domain.empty() || domain == "ai.onnx" || domain == generated::domains[1];
}

/// The kernels of an operator at an opset of the default domain; none if ONNX Runtime does not run it.
constexpr kernel_list kernels_of(std::string_view domain, std::string_view op, int opset) {
    if (!knows(domain)) return {};
    int const wanted = domain == generated::domains[1] ? 1 : 0;
    int const version = wanted == 0 ? opset : 1;
    int low = 0;
    int high = static_cast<int>(sizeof(generated::ops) / sizeof(generated::ops[0])) - 1;
    while (low < high) {
        int const middle = (low + high) / 2;
        generated::op_row const& row = generated::ops[middle];
        int const order = row.domain != wanted ? row.domain - wanted : std::string_view(row.name).compare(op);
        if (order < 0) {
            low = middle + 1;
        } else if (order > 0) {
            high = middle;
        } else {
            int at = generated::ops[middle + 1].versions - 1;
            while (at >= row.versions && generated::versions[at].since > version) --at;
            return at < row.versions ? kernel_list() : kernel_list(generated::versions[at].list);
        }
    }
    return {};
}

} // namespace ATON_NAMESPACE::onnx::onnxruntime
