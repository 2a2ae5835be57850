// SPDX-License-Identifier: MIT
// Why calls of a row are not compared.
#pragma once

#include <string>
#include <string_view>

#include <aton/verify/check.hpp>

namespace ATON_NAMESPACE::verify {

/// One reason of each kind.
struct reasons {
    std::string refusal;   ///< of the row
    std::string decline;   ///< of the row, which leaves the call to the row below
    std::string rejection; ///< of the reference
    std::string bodiless;  ///< an operator that the runtime cannot run
};

/// How the reason begins why a call differs that has no results.
inline constexpr std::string_view does_not_run = "the graph does not run: ";
inline constexpr std::string_view does_not_convert = "a mistake of the mapping: ";

/// The sentence for a row whose operator nothing computes.
inline constexpr char const* no_reference = "there is nothing to compare it with: record calls of the operator and "
                                            "name their folder with --calls, ask torch with --torch, or set "
                                            "check_options::truth";

/// The sentence for a row with a nested graph that no call runs, which may compute anything.
[[nodiscard]] inline std::string why_not_run(std::string const& nested_graph) {
    return nested_graph.empty() ? "" : "no call runs " + nested_graph + "; record a call that does";
}

/// The sentence for a row none of whose calls is compared.
[[nodiscard]] inline std::string why_nothing_is_compared(row_report const& report, reasons const& why,
                                                         bool has_reference) {
    if (!why.bodiless.empty()) return why.bodiless + " has no body that the runtime could run; give it one, body<...>";
    if (report.total(&type_report::declined) != 0) return "the row leaves every call to the row below: " + why.decline;
    if (why.refusal.empty()) return "the reference rejects every sample: " + why.rejection;
    return std::string("the row refuses every ") + (has_reference ? "sample: " : "recorded call: ") + why.refusal;
}

} // namespace ATON_NAMESPACE::verify
