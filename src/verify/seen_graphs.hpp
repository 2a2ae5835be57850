// SPDX-License-Identifier: MIT
// The graphs of a call that ran, so that those that compute the same at another opset do not run again.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <aton/runtime/onnx_model.hpp>

namespace ATON_NAMESPACE::verify {

class seen_graphs {
public:
    /// `same`: the opsets at which the graph computes the same.
    void add(std::string structure, runtime::opset_range same) { all_.emplace_back(std::move(structure), same); }
    /// Whether a graph of this structure ran, which computes the same at the opset.
    [[nodiscard]] bool contain(std::string const& structure, int opset) const {
        return std::any_of(all_.begin(), all_.end(), [&](auto const& each) {
            return each.second.contains(opset) && each.first == structure;
        });
    }

private:
    std::vector<std::pair<std::string, runtime::opset_range>> all_;
};

} // namespace ATON_NAMESPACE::verify
