// SPDX-License-Identifier: MIT
// The result of `return g.unsupported(...)` and `return g.next()`, which fits every return type, and `no_effect`.
// Public header.
#pragma once

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::dsl {

/// The result type of `g.unsupported(...)` and `g.next()`; converts to any type, so that it can be returned. The conversion is never reached.
struct refusal {
    /// Never returns: throws aton::error.
    template <class T>
    // NOLINTNEXTLINE(google-explicit-constructor): `return g.unsupported(...)` fits every return type.
    operator T() const {
        throw error("a refused conversion has no result");
    }
};

/// The type of `no_effect`.
struct no_effect_t {};
/// What a body returns for an operator without results that writes to nothing, such as one that logs: its calls are left out of the model.
/// ```cpp
/// inline constexpr auto logs = table(
///     symbolic<"my_ops::log(Tensor x) -> ()">([](graph<13>, value) { return no_effect; }));
/// ```
inline constexpr no_effect_t no_effect{};

} // namespace ATON_NAMESPACE::dsl
