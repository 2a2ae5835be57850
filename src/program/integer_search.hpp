// SPDX-License-Identifier: MIT
// Searches the integers that satisfy guards with a single symbol, by bisection of ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "guard_facts.hpp"
#include "intervals.hpp"

namespace ATON_NAMESPACE::program {

/// Counts its evaluations of conditions, so that the effort for a whole program is limited.
class integer_search {
public:
    enum class count : std::uint8_t { none, one, several_or_unknown };
    struct outcome {
        integer_search::count count;
        std::int64_t number = 0; ///< if it is the only one
    };

    /// Whether a single number in the domain satisfies all of these facts.
    [[nodiscard]] outcome only_number(std::string const& symbol, integer_range domain,
                                      std::vector<fact const*> const& facts);

    /// The numbers in the domain that satisfy a fact, as at most `most` ranges; nullopt if there are more, or if they cannot be determined.
    [[nodiscard]] std::optional<std::vector<integer_range>> all_numbers(std::string const& symbol, integer_range domain,
                                                                        fact const& of, std::size_t most);

private:
    [[nodiscard]] bool gives_up(int ranges) const;
    /// Whether the facts hold for all numbers of a range, or for none.
    [[nodiscard]] truth certain(std::string const& symbol, integer_range r, std::vector<fact const*> const& facts);

    int evaluations_ = 0;
};

} // namespace ATON_NAMESPACE::program
