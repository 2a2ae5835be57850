// SPDX-License-Identifier: MIT
// The mutants of one row: which were told from the graphs that they are made of.
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

namespace ATON_NAMESPACE::verify {

/// What a call was drawn from.
struct call_origin {
    theme drawn;
    std::uint64_t seed = 0;
};

/// A row makes other graphs for other calls. A change is the same mutant in all of them where its node is the same: the same operators
/// compute its inputs from those of the call, casts aside. A constant is what the node that reads it makes it.
class row_mutants {
public:
    /// What is in the list for this overload counts as equivalent.
    row_mutants(std::string_view overload, std::span<equivalent_mutant const> known);

    /// Runs the mutants of a graph that are not caught yet. `is_wrong` judges results for the call, which `from` gives. Where its
    /// results have no number (`tells` is false) a mutant counts only if it gives other dtypes or sizes: many graphs are made for calls
    /// with no element alone, where nothing else can be told.
    void run(translation const& t, runtime::device where, call_origin const& from, bool tells,
             std::function<bool(std::vector<runtime::value> const&)> const& is_wrong);

    /// A call that gave a graph with a mutant that is not caught, another one each time; nullptr: there is none.
    [[nodiscard]] call_origin const* next_call();
    /// Mutants that are caught so far.
    [[nodiscard]] std::size_t caught() const { return caught_; }

    [[nodiscard]] mutant_report report() const;

private:
    struct key {
        std::uint64_t place = 0; ///< of the node
        std::size_t number = 0;  ///< among nodes of one graph at the same place
        std::string what;

        friend auto operator<=>(key const&, key const&) = default;
    };
    struct mutant {
        bool known = false;             ///< to be the same function
        bool ran = false;               ///< for some call
        bool fails = false;             ///< for some call
        bool differs = false;           ///< for some call
        std::string example;            ///< the operators of a graph that has it
        std::vector<call_origin> calls; ///< that gave such graphs, of themes that differ
        std::size_t asked = 0;

        [[nodiscard]] bool is_caught() const { return ran && (fails || differs); }
        [[nodiscard]] bool is_asked_for() const { return ran && !fails && !differs && !known; }
    };

    [[nodiscard]] bool is_known(std::string_view what) const;

    std::vector<std::string_view> known_; ///< what mutants of this row are that are the same function
    std::map<key, mutant> mutants_;
    std::size_t caught_ = 0;
    std::size_t graphs_ = 0;
    std::size_t most_nodes_ = 0; ///< of one graph, constants aside
};

} // namespace ATON_NAMESPACE::verify
