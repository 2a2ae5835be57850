// SPDX-License-Identifier: MIT
// Whether nodes give the types that the graph says: those that declarations of operators promise, and those that rows state.
#pragma once

#include <span>
#include <string>

#include <aton/ir/graph.hpp>
#include <aton/runtime/value.hpp>
#include <aton/verify/translation.hpp>

namespace ATON_NAMESPACE::verify {

/// How the results of a node differ from the types in the graph; empty if they do not. Those of a node that calls a function follow from the
/// operator's declaration: "custom_domain::Foo: the output Z is declared as float32[2, 3], but its body computes float32[3]". Those of other
/// nodes, which are compared only if `stated`, are inferred, or what the row says with set_type() and set_shape().
[[nodiscard]] std::string declared_difference(translation const& call, graph_node const& n,
                                              std::span<runtime::value const> results, bool stated);

/// The operator of a node that has neither a body, nor a definition in ONNX, nor a kernel of the runtime, "custom_domain::Foo"; empty if there is none.
[[nodiscard]] std::string operator_without_body(graph_data const& g);

} // namespace ATON_NAMESPACE::verify
