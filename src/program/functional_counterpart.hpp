// SPDX-License-Identifier: MIT
// Finds the functional operator that computes what an in-place or out operator writes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::program {

/// The meaning of a result of the counterpart.
struct counterpart_result {
    std::size_t original = npos; ///< the result of the original operator that it replaces
    std::size_t written = npos;  ///< index in counterpart::written
    static constexpr std::size_t npos = ~std::size_t{0};
};

struct counterpart {
    std::string op; ///< "aten::add.Tensor"
    std::string_view schema;
    std::vector<std::string> written; ///< arguments of the original that are written to
    std::vector<std::string> dropped; ///< arguments of the original that the counterpart does not have
    std::vector<std::pair<std::string, std::string>> renamed;
    std::vector<counterpart_result> results;
    bool takes_written_dtype = false; ///< it computes in the dtype of what is written, which it gets as `dtype`
};

/// The counterpart of an operator; nullopt if torch has none.
[[nodiscard]] std::optional<counterpart> find_counterpart(std::string_view schema);

/// The names of the mutated arguments of a schema, in order.
[[nodiscard]] std::vector<std::string_view> written_arguments(std::string_view schema);

/// The result dtype of the counterpart `n` of an operator that writes to a tensor of dtype `written`; nullopt if only the mapping
/// of `n` tells.
[[nodiscard]] std::optional<dtype> natural_type(program const& p, node const& n, dtype written);

} // namespace ATON_NAMESPACE::program
