// SPDX-License-Identifier: MIT
// A case with some features: a call of its row, which write_feature_pairs.py writes.
#pragma once

#include <cstdint>
#include <vector>

#include <aton/aton.hpp>

namespace feature_pairs {

struct pair_case {
    int number = 0;
    char const* names = ""; ///< of its features
    int since = 0;
    std::vector<aton::dsl::result> (*convert)(aton::graph_data& data, int opset, aton::dsl::value x,
                                              aton::dsl::value bias, std::int64_t variant) = nullptr;
};

void add_pairs_0(std::vector<pair_case>& to);
void add_pairs_1(std::vector<pair_case>& to);
void add_pairs_2(std::vector<pair_case>& to);
void add_pairs_3(std::vector<pair_case>& to);

} // namespace feature_pairs
