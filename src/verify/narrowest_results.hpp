// SPDX-License-Identifier: MIT
// The floating dtype with the fewest digits that the computation of a value rounds to.
#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>

#include <aton/runtime/onnx_model.hpp>
#include <aton/verify/comparison.hpp>

namespace ATON_NAMESPACE::verify {

/// Of the values of a graph that runs.
class narrowest_results {
public:
    /// After a node has run.
    void note(graph_node const& n, std::span<runtime::value const> results) {
        dtype of_operands = dtype::undefined;
        for (value_id const v : runtime::uses_of(n)) of_operands = narrower(of_operands, of(v));
        for (std::size_t i = 0; i != results.size() && i != n.outputs.size(); ++i)
            if (n.outputs[i] != no_value && results[i].is_tensor())
                found_[n.outputs[i]] = narrower(of_operands, results[i].one().dtype());
    }

    /// undefined: not known, as of inputs.
    [[nodiscard]] dtype of(value_id v) const {
        auto const found = found_.find(v);
        return found == found_.end() ? dtype::undefined : found->second;
    }

private:
    std::unordered_map<value_id, dtype> found_;
};

} // namespace ATON_NAMESPACE::verify
