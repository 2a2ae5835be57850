// SPDX-License-Identifier: MIT
// What a target cannot run of a finished graph.
#pragma once

#include <string>

#include <aton/exporter/exporter.hpp>
#include <aton/targets/target.hpp>

namespace ATON_NAMESPACE::exporter {

/// Throws aton::error if the target does not read models of this opset.
void require_opset_of(targets::target const& t, int opset);

/// Throws export_error for the operators of the program from which nodes were made that the target does not run.
void require_target(graph_data const& graph, targets::target const& t, std::string const& file);

} // namespace ATON_NAMESPACE::exporter
