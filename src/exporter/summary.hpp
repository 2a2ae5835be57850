// SPDX-License-Identifier: MIT
// One line about operators that cannot be exported.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <aton/exporter/exporter.hpp>

namespace ATON_NAMESPACE::exporter {

/// "2 operators cannot be converted at opset 20: aten::foo (no mapping; nearest aten::fooo; 3 times, first at model.py:12 in forward); ..." The list must not be empty;
/// `what` is "cannot be converted at opset 20".
[[nodiscard]] std::string summary(std::vector<unconvertible> const& all, std::string const& what);

/// Operators that cannot be exported, in the order of their first uses.
class unconvertible_list {
public:
    /// Adds a use of the operator with this key; true if it is the first one. A place that the operator already has is not added again.
    bool add(std::string const& key, std::string const& op, refused_call call, std::string const& place);
    /// Adds one that has no other uses.
    void add(unconvertible one);

    [[nodiscard]] std::vector<unconvertible> const& all() const { return all_; }
    [[nodiscard]] unconvertible& last() { return all_.back(); }

private:
    std::vector<unconvertible> all_;
    std::vector<std::unordered_set<std::string>> places_; ///< those of each
    std::unordered_map<std::string, std::size_t> at_;     ///< by key
};

} // namespace ATON_NAMESPACE::exporter
