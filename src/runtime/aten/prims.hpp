// SPDX-License-Identifier: MIT
// Kernels of prims, which call ATen's operator with the same meaning, and reject what only ATen accepts.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/core/fixed_string.hpp>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// An argument of the call, and the name of the argument of ATen's operator that it becomes.
struct renamed_argument {
    std::string_view name;
    std::string_view there;
};

/// Runs ATen's operator with arguments of the call.
inline results run_aten(call const& c, std::string_view overload, std::initializer_list<renamed_argument> arguments) {
    std::vector<aten_argument> given;
    for (renamed_argument const& each : arguments) {
        aten_argument a = c.argument(each.name);
        a.name = each.there;
        given.push_back(std::move(a));
    }
    return c.run(overload, std::move(given)).results;
}

/// Throws aton::error if tensors differ in dtype, or in shape unless they are 0-d. Prims neither promote nor broadcast.
inline void require_alike(call const& c, std::initializer_list<std::string_view> names, bool same_dtype = true) {
    tensor dtyped;
    tensor shaped;
    for (std::string_view const name : names) {
        if (c.argument(name).kind != aten::argument_kind::tensor) continue; // a number
        tensor const x = c.t(name);
        if (same_dtype && dtyped && x.dtype() != dtyped.dtype()) throw error("the operands differ in dtype");
        dtyped = x;
        if (x.rank() == 0) continue;
        if (shaped && x.sizes() != shaped.sizes()) throw error("the operands differ in shape");
        shaped = x;
    }
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
