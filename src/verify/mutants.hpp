// SPDX-License-Identifier: MIT
// The mutants of one row: which were told from the graph that they are made of.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/verify/check.hpp>
#include <aton/verify/sample.hpp>
#include <aton/verify/translation.hpp>

namespace aton::verify {

class row_mutants {
public:
    /// Runs the mutants of a graph that are not caught yet. `is_wrong` judges results for the call, whose theme is `drawn`.
    void run(translation const& t, runtime::device where, theme const& drawn,
             std::function<bool(std::vector<runtime::value> const&)> const& is_wrong);

    /// Whether a mutant of graphs of these operators is not caught.
    [[nodiscard]] bool has_survivors(translation const& t) const;
    /// A theme whose calls gave a graph with mutants that are not caught; nullptr: there is none. Another one at each call.
    [[nodiscard]] theme const* next_theme();
    /// Mutants that are caught so far.
    [[nodiscard]] std::size_t caught() const { return caught_; }

    /// What is in the list for this overload counts as equivalent.
    [[nodiscard]] mutant_report report(std::string_view overload, std::span<equivalent_mutant const> known) const;

private:
    struct mutant {
        bool ran = false;   ///< for some call
        bool fails = false; ///< for some call
        bool differs = false;

        [[nodiscard]] bool is_caught() const { return ran && (fails || differs); }
        [[nodiscard]] bool survives() const { return ran && !fails && !differs; }
    };
    /// Those of all graphs with the same operators in the same order.
    struct family {
        std::map<std::pair<std::size_t, std::string>, mutant> mutants; ///< by node and change
        std::vector<theme> themes;                                     ///< of calls that gave such graphs
        std::size_t asked = 0;

        [[nodiscard]] bool has_survivors() const;
    };

    std::map<std::string, family> families_;
    std::size_t caught_ = 0;
};

} // namespace aton::verify
