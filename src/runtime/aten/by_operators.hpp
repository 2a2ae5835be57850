// SPDX-License-Identifier: MIT
// Operators of libraries that are written in torch's: their kernels call those, with their promotion and rounding.
#pragma once

#include <string_view>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// Computed as torch does, by its operators with their promotion.
class by_operators {
public:
    explicit by_operators(call const& c) : call_(c) {}
    [[nodiscard]] tensor operator()(std::string_view overload, tensor const& x, tensor const& y) const {
        return call_
            .run(overload, {aten_argument::of_tensor(x).named("self"), aten_argument::of_tensor(y).named("other")})
            .results[0]
            .one();
    }

    /// An operator of one tensor.
    [[nodiscard]] tensor operator()(std::string_view overload, tensor const& x) const {
        return call_.run(overload, {aten_argument::of_tensor(x).named("self")}).results[0].one();
    }
    /// An operator of a tensor and a number of Python.
    [[nodiscard]] tensor operator()(std::string_view overload, tensor const& x, double y) const {
        return call_
            .run(overload,
                 {aten_argument::of_tensor(x).named("self"), aten_argument::of_number(scalar(y)).named("other")})
            .results[0]
            .one();
    }

private:
    call const& call_;
};

} // namespace ATON_NAMESPACE::runtime::aten_kernels
