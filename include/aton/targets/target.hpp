// SPDX-License-Identifier: MIT
// Targets: what a runtime runs that ONNX does not have, and what it does not run. A target is a table; the exporter
// applies its rewrites and refuses what it cannot run.
// Public header.
#pragma once

#include <span>
#include <string_view>

#include <aton/core/dtype.hpp>
#include <aton/ir/graph.hpp>
#include <aton/ir/pattern.hpp>
#include <aton/onnx/integer_kernels.hpp>
#include <aton/onnx/registry.hpp>

namespace ATON_NAMESPACE::targets {

/// An operator that a target runs.
struct operator_support {
    std::string_view op = {};   ///< of ONNX's default domain
    type_set types = {};        ///< of the first input, or of the result if there is none; empty: the target's
    std::string_view only = {}; ///< the condition in words, after the operator's name: "has no result 'Indices'"
    /// Whether the condition holds for a node; null: there is none.
    bool (*holds)(graph_data const&, graph_node const&) = nullptr;
};

/// An operator that a target does not run.
struct operator_exclusion {
    std::string_view op;     ///< of ONNX's default domain
    std::string_view reason; ///< after the operator's name: "is control flow"
};

/// A runtime as `--target` names it.
struct target {
    std::string_view name;            ///< "tensorrt"
    std::string_view title;           ///< in messages: "TensorRT 10.1"
    std::string_view about;           ///< one sentence for help texts
    int since = 7;                    ///< the opsets that it reads
    int until = onnx::newest_opset;   ///< likewise
    rewrites_view rewrites = {};      ///< tried before the built-in ones
    rewrites_view last_rewrites = {}; ///< applied after all others: they would hide parts of other patterns
    std::span<operator_support const> operators = {};    ///< all that it runs; empty: no limit is known
    std::span<operator_exclusion const> exclusions = {}; ///< what it does not run, whatever `operators` says
    type_set types = {};                                 ///< of all values; empty: no limit is known
    /// Of kernels that do not compute integers exactly; operators are replaced where their numbers may be beyond what
    /// is exact.
    std::span<onnx::integer_kernel const> integer_kernels = {};
    bool is_static = false; ///< all sizes must be known when the model is written
    /// Takes quantized tensors without zero points only, and has its own way from their DequantizeLinear to products.
    bool is_symmetric = false;
    /// Runs what ONNX Runtime has kernels for (onnx/kernels.hpp). What it has none for is computed in a wider dtype
    /// that gives ATen's numbers.
    bool has_onnxruntime_kernels = false;
};

} // namespace ATON_NAMESPACE::targets
