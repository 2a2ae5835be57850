// SPDX-License-Identifier: MIT
// The result of `return g.unsupported(...)` and `return g.next()`, which fits every return type.
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

} // namespace ATON_NAMESPACE::dsl
