// SPDX-License-Identifier: MIT
// Rows of the family class_loss: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("margin losses ignore NaN") {
    gives("aten::multi_margin_loss",
          {arg("self", of(dtype::float32, {1, 3}, {0.5, nan, 2})),
           arg("target", row_of(dtype::int64, {0})),
           number("reduction", 0)},
          row_of(dtype::float32, {2.5 / 3}));
    gives("aten::multilabel_margin_loss",
          {arg("self", of(dtype::float32, {1, 3}, {0.5, nan, 2})),
           arg("target", of(dtype::int64, {1, 3}, {0, -1, 0})),
           number("reduction", 0)},
          row_of(dtype::float32, {2.5 / 3}));
}

TEST_CASE("margin losses subtract the score of the target from the margin first, which huge scores absorb") {
    gives("aten::multi_margin_loss",
          {arg("self", row_of(dtype::float32, {2, 3e38, -3, 3e38})), arg("target", of(dtype::int64, {}, {3}))},
          of(dtype::float32, {}, {0}));
    gives(
        "aten::multilabel_margin_loss",
        {arg("self", row_of(dtype::float32, {2, 3e38, -3, 3e38})), arg("target", row_of(dtype::int64, {3, -1, 0, 0}))},
        of(dtype::float32, {}, {0}));
}

TEST_CASE("the gradient of the loss of a single sample") {
    gives("aten::nll_loss_backward",
          {arg("grad_output", of(dtype::float32, {}, {6})),
           arg("self", row_of(dtype::float32, {0, 0, 0})),
           arg("target", of(dtype::int64, {}, {1})),
           arg("weight", row_of(dtype::float32, {1, 2, 3})),
           number("reduction", 1),
           number("ignore_index", -100),
           arg("total_weight", of(dtype::float32, {}, {2}))},
          row_of(dtype::float32, {0, -6, 0}));
}

TEST_CASE("the gradient of the loss of a single sample refuses several targets, of which torch reads memory that is "
          "not there") {
    auto const call = [](runtime::tensor target, int reduction) -> std::vector<runtime::aten_argument> {
        return {arg("grad_output", of(dtype::float32, {}, {6})),
                arg("self", row_of(dtype::float32, {0, 0, 0})),
                arg("target", std::move(target)),
                none("weight"),
                number("reduction", reduction),
                number("ignore_index", 2),
                arg("total_weight", of(dtype::float32, {}, {2}))};
    };
    for (int reduction : {0, 2})
        gives(
            "aten::nll_loss_backward", call(row_of(dtype::int64, {1}), reduction), row_of(dtype::float32, {0, -6, 0}));
    gives("aten::nll_loss_backward", call(of(dtype::int64, {}, {2}), 1), row_of(dtype::float32, {0, 0, 0}));
    CHECK(contains(refusal("aten::nll_loss_backward", call(row_of(dtype::int64, {1, 0}), 1)), "several targets"));
}

TEST_CASE("ctc_loss of repeated labels, empty targets, sequences that are too short, and concatenated targets") {
    std::vector<double> const logs = {-2.40760589,
                                      -1.40760589,
                                      -0.40760595,
                                      -1.32656264,
                                      -0.32656264,
                                      -4.32656288,
                                      -2.40760589,
                                      -1.40760589,
                                      -0.40760595,
                                      -0.06588391,
                                      -4.06588411,
                                      -3.06588387};
    auto const call = [&](std::vector<double> const& target, std::int64_t input, std::int64_t length) {
        return std::vector<runtime::aten_argument>{arg("log_probs", of(dtype::float32, {4, 1, 3}, logs)),
                                                   arg("targets", of(dtype::int64, {1, 2}, target)),
                                                   numbers("input_lengths", {static_cast<long long>(input)}),
                                                   numbers("target_lengths", {static_cast<long long>(length)}),
                                                   number("blank", 0),
                                                   number("reduction", 1),
                                                   number("zero_infinity", false)};
    };
    auto const is = [](double loss) { return of(dtype::float32, {}, {loss}); };
    gives("aten::ctc_loss.IntList", call({1, 1}, 4, 2), is(2.079383134841919));
    gives("aten::ctc_loss.IntList", call({1, 1}, 2, 2), is(infinity));
    gives("aten::ctc_loss.IntList", call({1, 2}, 4, 2), is(0.787366509437561));
    gives("aten::ctc_loss.IntList", call({1, 2}, 2, 2), is(2.867084503173828));
    gives("aten::ctc_loss.IntList", call({1, 2}, 4, 0), is(6.207658290863037));
    // Labels that are the blank follow another label without a blank between them.
    gives("aten::ctc_loss.IntList", call({1, 0}, 4, 2), is(0.9330668449401855));
    gives("aten::ctc_loss.IntList", call({0, 1}, 4, 2), is(1.640724539756775));
    std::vector<double> twice;
    for (std::size_t t = 0; t != 4; ++t)
        for (std::size_t k = 0; k != 6; ++k) twice.push_back(logs[3 * t + k % 3]);
    gives("aten::ctc_loss.Tensor",
          {arg("log_probs", of(dtype::float32, {4, 2, 3}, twice)),
           arg("targets", row_of(dtype::int64, {1, 2, 1})),
           arg("input_lengths", row_of(dtype::int64, {4, 3})),
           arg("target_lengths", row_of(dtype::int64, {1, 2})),
           number("blank", 0),
           number("reduction", 0),
           number("zero_infinity", false)},
          row_of(dtype::float32, {2.4328348636627197, 1.5784209966659546}));
}

} // namespace aton::tests
