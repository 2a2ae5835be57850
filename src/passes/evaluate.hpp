// SPDX-License-Identifier: MIT
// Evaluates operators on small constants, with ONNX's semantics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <aton/core/tensor.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// The maximum size of a result and of each operand, unless weights are computed.
inline constexpr std::int64_t max_constant_bytes = std::int64_t{1} << 20;

/// The number of elements; nothing if a size is negative or the tensor exceeds `max_bytes`, at most 2^31.
[[nodiscard]] std::optional<std::int64_t> small_count(std::span<std::int64_t const> sizes, dtype type,
                                                      std::int64_t max_bytes = max_constant_bytes);

/// A node whose operands are known. Omitted ones are null.
struct constant_call {
    graph_node const& node;
    std::span<tensor const* const> inputs;
    int opset = 0;
    std::int64_t max_bytes = max_constant_bytes; ///< of the result

    [[nodiscard]] tensor const* input(std::size_t i) const { return i < inputs.size() ? inputs[i] : nullptr; }
    /// The number of elements of a result; nothing if it is too large.
    [[nodiscard]] std::optional<std::int64_t> count(std::span<std::int64_t const> sizes, dtype type) const {
        return small_count(sizes, type, max_bytes);
    }
};

/// The result of an evaluator; nothing if the result of a runtime is not certain.
using evaluated = std::optional<tensor>;
using evaluator = evaluated (*)(constant_call const&);

struct named_evaluator {
    std::string_view op;
    evaluator function;
};

/// The evaluator of an operator of the default domain with one output, or null.
[[nodiscard]] evaluator find_evaluator(std::string_view op);
/// The evaluator of an operator on bits, or null. Folding does not use it: unpacked numbers take more space than packed ones.
[[nodiscard]] evaluator find_bit_evaluator(std::string_view op);
/// All of them, by family.
[[nodiscard]] std::span<named_evaluator const> layout_evaluators();
[[nodiscard]] std::span<named_evaluator const> elementwise_evaluators();
[[nodiscard]] std::span<named_evaluator const> reduction_evaluators();
[[nodiscard]] std::span<named_evaluator const> placing_evaluators();
[[nodiscard]] std::span<named_evaluator const> product_evaluators();
/// Linear and cubic interpolation, and nearest elements at whole factors; without antialiasing.
[[nodiscard]] evaluated resize(constant_call const& call);
/// The results of Split on a constant.
[[nodiscard]] std::optional<std::vector<tensor>> evaluate_split(constant_call const& call);

/// Whether the elements are whole bytes, which can be moved.
[[nodiscard]] inline bool is_movable(tensor const& t) { return bits(t.type) >= 8; }

/// The tensor of these sizes whose element [i, j, ...] is at `offset + i * strides[0] + j * strides[1] + ...` of `from`.
[[nodiscard]] tensor take(tensor const& from, std::vector<std::int64_t> sizes, std::span<std::int64_t const> strides,
                          std::int64_t offset);

/// The strides of a dense row-major tensor.
[[nodiscard]] std::vector<std::int64_t> dense_strides(std::span<std::int64_t const> sizes);

/// The next index in row-major order.
inline void advance(std::vector<std::int64_t>& index, std::vector<std::int64_t> const& sizes) {
    for (std::size_t d = index.size(); d-- > 0;) {
        ++index[d];
        if (index[d] != sizes[d]) return;
        index[d] = 0;
    }
}

/// The sizes that two shapes broadcast to.
[[nodiscard]] std::optional<std::vector<std::int64_t>> broadcast(std::span<std::int64_t const> a,
                                                                 std::span<std::int64_t const> b);

/// `from`, broadcast to these sizes.
[[nodiscard]] tensor broadcast_to(tensor const& from, std::vector<std::int64_t> const& sizes);

} // namespace ATON_NAMESPACE::passes
