// SPDX-License-Identifier: MIT
// The operator that computes what an in-place operator, or one with `out` arguments, writes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::program {

/// A result of the counterpart and what it is for.
struct counterpart_result {
    std::size_t original = npos; ///< the result of the original operator that it takes the place of
    std::size_t written = npos;  ///< position in counterpart::written
    static constexpr std::size_t npos = ~std::size_t{0};
};

struct counterpart {
    std::string op; ///< "aten::add.Tensor"
    std::string_view schema;
    std::vector<std::string> written; ///< the original's arguments that are written to
    std::vector<std::string> dropped; ///< the original's arguments that it does not take
    std::vector<std::pair<std::string, std::string>> renamed;
    std::vector<counterpart_result> results;
};

/// Nothing where torch has no such operator.
[[nodiscard]] std::optional<counterpart> find_counterpart(std::string_view schema);

/// The arguments that a schema says are written to, in its order.
[[nodiscard]] std::vector<std::string_view> written_arguments(std::string_view schema);

/// The dtype that result `r` of the counterpart `n` of an operator has; `written` is what it is written to.
/// Nothing: it cannot be told.
[[nodiscard]] std::optional<dtype> natural_type(program const& p, node const& n, dtype written);

} // namespace ATON_NAMESPACE::program
