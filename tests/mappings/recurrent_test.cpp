// SPDX-License-Identifier: MIT
// Rows of the family recurrent: projections and packed sequences, against torch's results.
#include <cstdint>
#include <utility>
#include <vector>

#include "row_results.hpp"

namespace aton::tests {

namespace {

using runtime::aten_argument;

tensor floats(runtime::sizes const& sizes, std::vector<double> const& values) {
    return of(dtype::float32, sizes, values);
}

/// -0.5, -0.25, 0, 0.25, 0.5, -0.5 ..., times a factor.
tensor ramp(runtime::sizes const& sizes, double factor) {
    std::int64_t n = 1;
    for (std::int64_t const size : sizes) n *= size;
    std::vector<double> all;
    for (std::int64_t i = 0; i != n; ++i) all.push_back(static_cast<double>(i % 5 - 2) * 0.25 * factor);
    return floats(sizes, all);
}

aten_argument list(std::string name, std::vector<tensor> all) {
    return aten_argument::of_tensors(std::move(all)).named(std::move(name));
}

/// The parameters of an LSTM of one feature, two hidden ones, and a projection to one, for each direction.
std::vector<tensor> projected(std::size_t directions) {
    std::vector<tensor> out;
    for (std::size_t d = 0; d != directions; ++d)
        for (runtime::sizes const& s : {runtime::sizes{8, 1}, {8, 1}, {8}, {8}, {1, 2}})
            out.push_back(ramp(s, static_cast<double>(d + 1)));
    return out;
}

std::vector<aten_argument> options(bool bidirectional) {
    return {number("has_biases", true),
            number("num_layers", 1),
            number("dropout", 0.0),
            number("train", false),
            number("bidirectional", bidirectional)};
}

std::vector<aten_argument> joined(std::vector<aten_argument> a, std::vector<aten_argument> const& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

} // namespace

TEST_CASE("an LSTM projects its hidden state in each direction") {
    std::vector<aten_argument> call =
        joined({arg("input", floats({2, 1, 1}, {1, -2})),
                list("hx", {floats({2, 1, 1}, {0.5, 0.5}), floats({2, 1, 2}, {-0.25, -0.25, -0.25, -0.25})}),
                list("params", projected(2))},
               options(true));
    call.push_back(number("batch_first", false));
    gives("aten::lstm.input", call, floats({2, 1, 2}, {0.05097406, 0.0950112, 0.02462417, 0.06086866}));
    gives("aten::lstm.input", call, floats({2, 1, 1}, {0.02462417, 0.0950112}), 1);
    gives("aten::lstm.input", call, floats({2, 1, 2}, {0.0197624, -0.24081057, 0.06928857, -0.45901385}), 2);
}

TEST_CASE("the backward direction of a packed sequence starts at its own end") {
    tensor const data = floats({3, 1}, {1, -2, 0.5});
    tensor const counts = row_of(dtype::int64, {2, 1});
    SUBCASE("LSTM with projections") {
        std::vector<aten_argument> const call = joined(
            {arg("data", data),
             arg("batch_sizes", counts),
             list("hx", {floats({2, 2, 1}, {0.5, 0.5, 0.5, 0.5}), floats({2, 2, 2}, std::vector<double>(8, -0.25))}),
             list("params", projected(2))},
            options(true));
        gives("aten::lstm.data",
              call,
              floats({3, 2}, {0.05097406, 0.11338247, 0.03449927, 0.06086866, 0.03334036, 0.10612446}));
        gives("aten::lstm.data", call, floats({2, 2, 1}, {0.03334036, 0.03449927, 0.11338247, 0.06086866}), 1);
    }
    SUBCASE("GRU") {
        std::vector<tensor> params;
        for (double const factor : {1.0, 2.0})
            for (runtime::sizes const& s : {runtime::sizes{3, 1}, {3, 1}, {3}, {3}}) params.push_back(ramp(s, factor));
        std::vector<aten_argument> const call = joined({arg("data", data),
                                                        arg("batch_sizes", counts),
                                                        arg("hx", floats({2, 2, 1}, {0.5, 0.5, 0.5, 0.5})),
                                                        list("params", params)},
                                                       options(true));
        gives("aten::gru.data",
              call,
              floats({3, 2}, {0.14710748, 0.01602807, 0.23439531, 0.21891175, 0.05006664, 0.09121276}));
        gives("aten::gru.data", call, floats({2, 2, 1}, {0.05006664, 0.23439531, 0.01602807, 0.21891175}), 1);
    }
}

TEST_CASE("padding to a total length, and packing what is shorter than the input") {
    std::vector<aten_argument> const padded = {arg("data", floats({4, 1}, {1, 2, 3, 4})),
                                               arg("batch_sizes", row_of(dtype::int64, {2, 1, 1})),
                                               number("batch_first", true),
                                               number("padding_value", 9.0),
                                               number("total_length", 4)};
    gives("aten::_pad_packed_sequence", padded, floats({2, 4, 1}, {1, 3, 4, 9, 2, 9, 9, 9}));
    gives("aten::_pad_packed_sequence", padded, row_of(dtype::int64, {3, 1}), 1);
    std::vector<aten_argument> const packed = {arg("input", floats({4, 2, 1}, {0, 1, 2, 3, 4, 5, 6, 7})),
                                               arg("lengths", row_of(dtype::int64, {3, 1})),
                                               number("batch_first", false)};
    gives("aten::_pack_padded_sequence", packed, floats({4, 1}, {0, 1, 2, 4}));
    gives("aten::_pack_padded_sequence", packed, row_of(dtype::int64, {2, 1, 1}), 1);
}

} // namespace aton::tests
