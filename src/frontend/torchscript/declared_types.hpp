// SPDX-License-Identifier: MIT
// The types that code declares and asks for: names, Optional[T], List[T], Dict[K, V] and Tuple[...].
#pragma once

#include <string>

#include <aton/core/dtype.hpp>

#include "code_position.hpp"
#include "program_builder.hpp"
#include "syntax.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

/// "Optional[Tensor]" for messages.
[[nodiscard]] std::string text_of(expr const& type);
/// The type of an argument without Optional; null if it is not annotated.
[[nodiscard]] expr const* without_optional(expr const* type);
/// The dtype of the numbers in a list of this type; undefined if it is no list of numbers.
[[nodiscard]] dtype element_type(expr const& type);
/// Whether a value has the type, or one of a tuple of types.
[[nodiscard]] bool is_instance(value const& v, expr const& type, program_builder const& build, code_position const& at);

} // namespace ATON_NAMESPACE::torchscript
