// SPDX-License-Identifier: MIT
// Whether a row gives the same results in the other forms that its graph has in models.
#pragma once

#include <functional>
#include <span>
#include <string>

#include <aton/runtime/value.hpp>
#include <aton/verify/sample.hpp>
#include <aton/verify/translation.hpp>

namespace ATON_NAMESPACE::verify {

/// How one of the other forms of a call differs, as `difference` says; empty if none does. The forms are
///
/// - the graph that ran, with the kernels of ONNX Runtime in place of bodies: "with the kernel of com.microsoft::QuickGelu: ...";
/// - the call as `convert` converts it where every size is dynamic, then where those along each axis alone are: "with dynamic sizes along axis
///   0: ...". A body may take another path there. It may refuse any of them.
[[nodiscard]] std::string difference_in_other_forms(translation const& graph, sample const& s,
                                                    std::span<runtime::value const> results,
                                                    std::function<translation(call_types const&)> const& convert,
                                                    std::function<std::string(translation const&)> const& difference);

} // namespace ATON_NAMESPACE::verify
