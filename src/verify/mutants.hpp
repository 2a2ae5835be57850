// SPDX-License-Identifier: MIT
// The mutants of one row, and which of them were detected.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <aton/verify/check.hpp>
#include <aton/verify/sample.hpp>
#include <aton/verify/translation.hpp>

#include "traced_graph.hpp"

namespace ATON_NAMESPACE::verify {

/// What a call is drawn from.
struct call_origin {
    sampling_profile drawn;
    std::uint64_t seed = 0;
};

/// A row gives different graphs for different calls. A change is the same mutant in all of them if its node is at the same place: the
/// same operators, apart from casts, compute its inputs from those of the call. The place of a constant is that of the node that reads it.
/// A change of an argument is the same mutant in all calls.
class row_mutants {
public:
    /// Mutants that `known` lists for this overload count as equivalent. `max_mutants` as in check_options.
    row_mutants(std::string_view overload, std::span<equivalent_mutant const> known, int max_mutants);

    /// Runs the undetected mutants of a graph. `is_wrong` judges their results for the call, which was drawn from `from` (nullptr: recorded). If the expected
    /// results contain no number (`has_numbers` is false), a mutant counts only if it gives other dtypes or sizes: many graphs exist
    /// only for calls without elements, where nothing else can be compared.
    void run(translation const& t, runtime::device where, call_origin const* from, bool has_numbers,
             std::function<bool(std::vector<runtime::value> const&)> const& is_wrong);

    /// Runs an undetected mutant that is not a change of a graph. `outcome` runs it, and gives its results if they differ.
    void run(std::string const& what, bool is_known, call_origin const* from, bool has_numbers,
             std::function<traced_graph::outcome()> const& outcome,
             std::function<bool(std::vector<runtime::value> const&)> const& is_wrong);

    /// A call that gave a graph with an undetected mutant, a different one each time; nullptr if there is none.
    [[nodiscard]] call_origin const* next_call();
    /// The number of mutants detected so far.
    [[nodiscard]] std::size_t detected() const { return detected_; }

    [[nodiscard]] mutant_report report() const;
    /// Adds the mutants of each argument.
    void add_to(std::vector<argument_report>& arguments) const;

private:
    struct key {
        std::uint64_t place = 0; ///< of the node
        std::size_t number = 0;  ///< among the nodes of one graph at the same place
        std::string what;

        friend auto operator<=>(key const&, key const&) = default;
    };
    struct mutant {
        bool known = false;   ///< to be equivalent
        bool ran = false;     ///< for at least one call
        bool fails = false;   ///< for at least one call
        bool differs = false; ///< for at least one call
        std::string example;  ///< the operators of a graph with this mutant; empty if it is not a change of a graph
        std::vector<call_origin> calls; ///< that gave such graphs, of different profiles
        std::size_t asked = 0;

        [[nodiscard]] bool is_detected() const { return ran && (fails || differs); }
        [[nodiscard]] bool needs_calls() const { return ran && !fails && !differs && !known && !calls.empty(); }
    };

    [[nodiscard]] bool is_known(std::string_view what) const;
    /// Remembers the call as one that a mutant was run with.
    static void remember(mutant& m, call_origin const* from);
    void judge(mutant& m, traced_graph::outcome const& got, bool has_numbers,
               std::function<bool(std::vector<runtime::value> const&)> const& is_wrong);
    /// Whether the mutant is one of those that are run, of `all` of a graph.
    [[nodiscard]] bool is_chosen(key const& k, std::size_t all) const;

    std::vector<std::string_view> known_; ///< prefixes of known-equivalent mutants of this row
    std::map<key, mutant> mutants_;
    std::size_t max_mutants_;
    std::size_t detected_ = 0;
    std::size_t graphs_ = 0;
    std::size_t max_nodes_ = 0; ///< of one graph, without constants
};

} // namespace ATON_NAMESPACE::verify
