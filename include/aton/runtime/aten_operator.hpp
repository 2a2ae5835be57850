// SPDX-License-Identifier: MIT
// Runs ATen operators with ATen's semantics (torch 2.13: promotion, negative dimensions, NaN, ties, integer rounding).
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/scalar.hpp>
#include <aton/runtime/value.hpp>

namespace ATON_NAMESPACE::runtime {

/// A named argument of a call of an ATen operator.
struct aten_argument {
    /// Which member holds the value; `none` is Python's None.
    enum class kind : std::uint8_t { none, tensor, tensors, number, numbers, text, type };

    std::string name;
    kind is = kind::none;
    runtime::tensor tensor;
    std::vector<runtime::tensor> tensors; ///< Tensor[] and Tensor?[]; an empty tensor is None
    scalar number;               ///< int, float, bool, Scalar; for a Tensor parameter, a number that promotes weakly
    std::vector<scalar> numbers; ///< int[], float[], bool[], Scalar[]
    std::string text;            ///< str, and the names of a device, a layout or a memory format
    aton::dtype type = aton::dtype::undefined;
};

/// How operators and programs are run.
struct aten_options {
    device where;           ///< tensors are computed here; arguments are copied to it
    std::uint64_t seed = 0; ///< for random operators
    /// Maximum number of nodes and graphs that a program may run, counting each loop iteration; beyond it, aton::error
    /// is thrown.
    std::uint64_t max_steps = std::uint64_t{1} << 30;
};

/// The results of a call in the order of the schema (numbers are 0-d tensors), and the new values of the arguments that
/// it mutates.
struct aten_results {
    std::vector<value> results;
    std::vector<std::pair<std::string, tensor>> mutated;
};

/// Whether the runtime has the overload, such as "aten::add.Tensor". In-place operators run as their functional
/// variants.
[[nodiscard]] bool has_aten_operator(std::string_view overload);
/// All overloads of the runtime, sorted.
[[nodiscard]] std::vector<std::string_view> aten_operators();

/// Runs an overload. Omitted arguments have the defaults of the schema. Throws aton::error, which names the overload,
/// if the runtime does not have it or the arguments do not fit.
/// ```cpp
/// #include <aton/runtime/aten_operator.hpp>
///
/// inline aton::runtime::value relu(aton::runtime::tensor const& x) {
///     aton::runtime::aten_argument self;
///     self.name = "self";
///     self.is = aton::runtime::aten_argument::kind::tensor;
///     self.tensor = x;
///     return aton::runtime::call_aten("aten::relu", {self}).results[0];
/// }
/// ```
[[nodiscard]] aten_results call_aten(std::string_view overload, std::vector<aten_argument> arguments,
                                     aten_options const& options = {});

} // namespace ATON_NAMESPACE::runtime
