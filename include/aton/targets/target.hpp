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

/// What a runtime asks of the nodes of an operator, in the words of data/targets/README.md: {"input", "X", "rank", "4 5"}.
struct node_condition {
    std::string_view part; ///< "input", "output", "attribute", "branches", "loop" or "schema"
    std::string_view name; ///< of the input, output or attribute, as ONNX's schema has it
    std::string_view test;
    std::string_view values = {}; ///< separated by blanks
};

/// An operator that a target runs, or is stated not to run.
struct operator_support {
    std::string_view op = {}; ///< of ONNX's default domain
    type_set types = {};      ///< of the first input, or of the result if there is none; empty: the target's
    bool is_excluded = false; ///< the runtime's documentation says that it does not run
    std::span<node_condition const> when = {}; ///< all of them
    std::string_view line = {};                ///< of the source, or another source
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
    /// Computes in the dtypes of the file only; others may be told to compute float32 in a narrower dtype.
    bool is_strongly_typed = false;
    /// Takes quantized tensors without zero points only, and has its own way from their DequantizeLinear to products.
    bool is_symmetric = false;
    /// Runs what ONNX Runtime has kernels for (onnx/kernels.hpp). What it has none for is computed in a wider dtype
    /// that gives ATen's numbers.
    bool has_onnxruntime_kernels = false;
    std::string_view version = {}; ///< as in `--target tensorrt:10.1`; empty: there is only one
    std::string_view source = {};  ///< the address of what `operators` was read from
    std::string_view date = {};    ///< of the source
};

} // namespace ATON_NAMESPACE::targets
