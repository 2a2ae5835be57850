// SPDX-License-Identifier: MIT
// Runs ATen operators with ATen's semantics (torch 2.13: promotion, negative dimensions, NaN, ties, integer rounding).
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/aten/argument.hpp>
#include <aton/core/scalar.hpp>
#include <aton/runtime/value.hpp>

namespace ATON_NAMESPACE::runtime {

/// A named argument of a call of an ATen operator. A number for a Tensor parameter promotes weakly; an empty list of tensors is also one
/// of numbers.
using aten_argument = aten::basic_argument<tensor, scalar>;

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
///     aton::runtime::aten_argument const self = aton::runtime::aten_argument::of_tensor(x).named("self");
///     return aton::runtime::call_aten("aten::relu", {self}).results[0];
/// }
/// ```
[[nodiscard]] aten_results call_aten(std::string_view overload, std::vector<aten_argument> arguments,
                                     aten_options const& options = {});

} // namespace ATON_NAMESPACE::runtime
