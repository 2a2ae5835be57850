// SPDX-License-Identifier: MIT
// Runs operators of ATen with ATen's semantics (torch 2.13: promotion, negative dimensions, NaN, ties, integer rounding).
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

/// An argument of a call of an ATen operator, by its name in the schema.
struct aten_argument {
    /// Which member holds the value; `none` is Python's None.
    enum class kind : std::uint8_t { none, tensor, tensors, number, numbers, text, type };

    std::string name;
    kind is = kind::none;
    runtime::tensor tensor;
    std::vector<runtime::tensor> tensors; ///< Tensor[], and Tensor?[] with no tensor for None
    scalar number;                        ///< int, float, bool, Scalar; of a Tensor: a number that promotes weakly
    std::vector<scalar> numbers;          ///< int[], float[], bool[], Scalar[]
    std::string text;                     ///< str, and the names of a device, a layout or a memory format
    aton::dtype type = aton::dtype::undefined;
};

/// How operators and programs are run.
struct aten_options {
    device where;           ///< where tensors are computed; arguments are brought there
    std::uint64_t seed = 0; ///< of random operators
    /// Nodes and graphs that a program may compute, those of loops at each trip; what needs more throws aton::error.
    std::uint64_t most_steps = std::uint64_t{1} << 30;
};

/// What a call gives: its results in the order of the schema (numbers are 0-d tensors), and what arguments that it writes to hold now.
struct aten_results {
    std::vector<value> results;
    std::vector<std::pair<std::string, tensor>> mutated;
};

/// Whether the runtime has the overload: "aten::add.Tensor". Operators that write to `self` run as those that do not.
[[nodiscard]] bool has_aten_operator(std::string_view overload);
/// All that it has, in order.
[[nodiscard]] std::vector<std::string_view> aten_operators();

/// Runs one. Arguments that are not given have the defaults of the schema. Throws aton::error, with the overload, for an operator that
/// the runtime does not have and for arguments that do not fit.
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
