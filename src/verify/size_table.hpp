// SPDX-License-Identifier: MIT
// The sizes of a random call: one number for each name of its sampling rule.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <aton/runtime/tensor.hpp>

#include "random_source.hpp"

namespace ATON_NAMESPACE::verify {

/// Sizes by name, drawn on first use.
class size_table {
public:
    size_table(random_source& random, size_profile profile)
        : random_(random),
          profile_(profile),
          empty_(random.integer(0, 3)) {}

    std::int64_t get(std::string_view name) {
        if (name == "rank_of_more") return static_cast<std::int64_t>(more().size());
        auto const known = known_.find(name);
        if (known != known_.end()) return known->second;
        std::int64_t const size = drawn();
        known_.emplace(name, size);
        return size;
    }
    /// Whether this call has no dimension of that size, where the rule allows it: `(n?, c)`.
    bool is_left_out(std::string_view name) {
        auto const known = left_out_.find(name);
        if (known != left_out_.end()) return known->second;
        return left_out_.emplace(name, random_.chance(0.3)).first->second;
    }
    /// The sizes of `...`.
    runtime::sizes const& more() {
        if (has_more_) return more_;
        has_more_ = true;
        std::int64_t const rank =
            profile_ == size_profile::scalar ? 0 : random_.integer(profile_ == size_profile::distinct ? 1 : 0, 2);
        for (std::int64_t i = 0; i != rank; ++i) more_.push_back(drawn());
        return more_;
    }
    /// Forgets sizes with an apostrophe, before the next tensor of a list.
    void forget_marked() {
        std::erase_if(known_, [](auto const& entry) { return entry.first.back() == '\''; });
    }

private:
    std::int64_t drawn() {
        if (profile_ == size_profile::equal) return 3;
        if (profile_ == size_profile::empty && drawn_++ == empty_) return 0;
        if (profile_ == size_profile::ones && random_.chance(0.5)) return 1;
        constexpr std::size_t max_distinct = 6; // keeps products of sizes small
        if (used_.size() == max_distinct) return random_.integer(2, 3);
        std::int64_t size = random_.integer(2, 6);
        auto const used = [&](std::int64_t s) { return std::find(used_.begin(), used_.end(), s) != used_.end(); };
        while (used(size)) size = size % 7 + 2; // 2 ... 8
        used_.push_back(size);
        return size;
    }

    random_source& random_;
    size_profile profile_;
    std::int64_t empty_; ///< the index of the size that is 0
    std::int64_t drawn_ = 0;
    std::map<std::string, std::int64_t, std::less<>> known_;
    std::map<std::string, bool, std::less<>> left_out_;
    runtime::sizes more_;
    bool has_more_ = false;
    std::vector<std::int64_t> used_;
};

} // namespace ATON_NAMESPACE::verify
