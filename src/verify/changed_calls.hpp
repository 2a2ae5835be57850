// SPDX-License-Identifier: MIT
// Calls with another value of one argument. A row that ignores an argument, or takes one of its values for another, gives the graph of such
// a call: these are the mutants of arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <aton/dsl/entry.hpp>
#include <aton/verify/sample.hpp>
#include <aton/verify/translation.hpp>

#include "traced_graph.hpp"

namespace ATON_NAMESPACE::verify {

struct changed_call {
    std::string_view argument; ///< its name
    std::string what;          ///< "argument side: 'left' taken for 'right'"
    sample call;
    bool has_other_tensors = false; ///< than the call that it is a change of
};

/// The changes of each argument that the row reads. `rule`: the text of the sampling rule; empty if there is none.
[[nodiscard]] std::vector<changed_call> changed_calls(dsl::entry const& row, std::string_view rule, sample const& s);
/// What the graph of a changed call computes, at the opset of `graph`, which is that of the call itself; both with inlined functions.
/// `exact_nan`: as in translate().
[[nodiscard]] traced_graph::outcome outcome_of(changed_call const& changed, translation const& graph,
                                               dsl::entry const& row, bool exact_nan, runtime::device where);

} // namespace ATON_NAMESPACE::verify
