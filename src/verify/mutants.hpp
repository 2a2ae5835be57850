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

namespace aton::verify {

/// A row makes other graphs for other calls. A change is the same mutant in all of them where its node is the same: the same operators
/// compute its inputs from those of the call, casts aside. A constant is what the node that reads it makes it.
class row_mutants {
public:
    /// Runs the mutants of a graph that are not caught yet. `is_wrong` judges results for the call, whose theme is `drawn`. Where its
    /// results have no number (`tells` is false) a mutant counts only if it gives other dtypes or sizes: many graphs are made for calls
    /// with no element alone, where nothing else can be told.
    void run(translation const& t, runtime::device where, theme const& drawn, bool tells,
             std::function<bool(std::vector<runtime::value> const&)> const& is_wrong);

    /// A theme whose calls gave a graph with a mutant that is not caught, another one at each call; nullptr: there is none.
    [[nodiscard]] theme const* next_theme();
    /// Mutants that are caught so far.
    [[nodiscard]] std::size_t caught() const { return caught_; }

    /// What is in the list for this overload counts as equivalent.
    [[nodiscard]] mutant_report report(std::string_view overload, std::span<equivalent_mutant const> known) const;

private:
    struct key {
        std::uint64_t place = 0; ///< of the node
        std::size_t number = 0;  ///< among nodes of one graph at the same place
        std::string what;

        friend auto operator<=>(key const&, key const&) = default;
    };
    struct mutant {
        bool ran = false;                ///< for some call
        bool fails = false;              ///< for some call
        bool differs = false;            ///< for some call
        std::string example;             ///< the operators of a graph that has it
        std::vector<std::size_t> themes; ///< of calls that gave such graphs
        std::size_t asked = 0;

        [[nodiscard]] bool is_caught() const { return ran && (fails || differs); }
        [[nodiscard]] bool survives() const { return ran && !fails && !differs; }
    };

    std::map<key, mutant> mutants_;
    std::vector<theme> themes_;
    std::size_t caught_ = 0;
    std::size_t graphs_ = 0;
    std::size_t most_nodes_ = 0; ///< of one graph, constants aside
};

} // namespace aton::verify
