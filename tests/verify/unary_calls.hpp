// SPDX-License-Identifier: MIT
// Recorded calls of operators that take one tensor, and their check.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/runtime/tensor.hpp>
#include <aton/verify/check.hpp>

namespace aton::tests {

inline runtime::tensor floats(runtime::sizes sizes, std::vector<double> const& values) {
    aton::tensor t{dtype::float32, std::move(sizes), {}};
    for (double const v : values) t.append(v);
    return runtime::tensor::from_constant(t);
}

inline verify::recorded_call unary_call(std::string_view overload, runtime::tensor x, runtime::tensor y) {
    verify::recorded_call out;
    out.schema = std::string(overload) + "(Tensor x) -> Tensor";
    out.call = {std::string(overload), {runtime::aten_argument::of_tensor(std::move(x)).named("x")}};
    out.results = {std::move(y)};
    out.place = "calls.jsonl:1";
    return out;
}

/// `isolated`: each row in a process of its own, with a second for each call.
inline verify::report check_calls(dsl::table_view rows, std::vector<verify::recorded_call> const& calls,
                                  bool isolated = false) {
    verify::check_options options;
    options.calls = calls;
    options.isolated = isolated;
    options.seconds = 1;
    return verify::check(rows, options);
}

} // namespace aton::tests
