// SPDX-License-Identifier: MIT
// What mappings know about operators, for front ends whose files do not record the types of values.
#pragma once

#include <aton/exporter/exporter.hpp>

namespace ATON_NAMESPACE::exporter {

/// Infers types by converting each node alone.
[[nodiscard]] torchscript::infer_types type_inference(export_options const& options);

/// The schemas of operators in the tables; `options` must outlive the result.
[[nodiscard]] torchscript::custom_schemas schemas_of_tables(export_options const& options);

} // namespace ATON_NAMESPACE::exporter
