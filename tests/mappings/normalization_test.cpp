// SPDX-License-Identifier: MIT
// Rows of the family normalization: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("a norm with infinite weights is not NaN where one part of a complex number is 0") {
    verify::sample const s{"aten::rms_norm",
                           {arg("input", row_of(dtype::float16, {0x1p-24, 60000})),
                            numbers("normalized_shape", {2}),
                            arg("weight", row_of(dtype::float16, {-infinity, 1})),
                            number("eps", 0.0625)}};
    dsl::entry const* const row = dsl::find(mappings::built_in_tables(), s.overload, 23);
    REQUIRE(row != nullptr);
    tensor const expected = row_of(dtype::float16, {-infinity, 1.4140625});
    CHECK(verify::compare(runtime::call_aten(s.overload, s.arguments).results[0].one(), expected).same());
    CHECK(verify::compare(run(translate(*row, row->schema, 23, s))[0].one(), expected).same());
}

TEST_CASE("the mean result of normalizing an empty tensor is 0") {
    gives("aten::native_layer_norm",
          {arg("input", of(dtype::float32, {2, 0}, {})),
           numbers("normalized_shape", {0}),
           none("weight"),
           none("bias"),
           number("eps", 0.5)},
          of(dtype::float32, {2, 1}, {0, 0}),
          1);
    gives("aten::native_group_norm",
          {arg("input", of(dtype::float32, {1, 2, 0}, {})),
           none("weight"),
           none("bias"),
           number("N", 1),
           number("C", 2),
           number("HxW", 0),
           number("group", 2),
           number("eps", 0.5)},
          of(dtype::float32, {1, 2}, {0, 0}),
          1);
}

TEST_CASE("the inverse root mean square of no elements is NaN") {
    for (double const eps : {0.0, 0.0625})
        gives("aten::_fused_rms_norm",
              {arg("input", of(dtype::float32, {2, 3, 0}, {})),
               numbers("normalized_shape", {3, 0}),
               none("weight"),
               number("eps", eps)},
              of(dtype::float32, {2, 1, 1}, {nan, nan}),
              1);
}

TEST_CASE("cudnn_batch_norm with running statistics, and with those of the batch") {
    std::vector<double> x;
    for (int i = 0; i != 12; ++i) x.push_back(i);
    std::vector<runtime::aten_argument> call{arg("input", of(dtype::float32, {2, 3, 2}, x)),
                                             arg("weight", row_of(dtype::float32, {1, 2, 3})),
                                             arg("bias", row_of(dtype::float32, {0, 1, 2})),
                                             arg("running_mean", row_of(dtype::float32, {1, 2, 3})),
                                             arg("running_var", row_of(dtype::float32, {1, 4, 9})),
                                             number("training", false),
                                             number("exponential_average_factor", 0.1),
                                             number("epsilon", 0)};
    gives("aten::cudnn_batch_norm", call, of(dtype::float32, {2, 3, 2}, {-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
    call[5] = number("training", true);
    gives("aten::cudnn_batch_norm", call, row_of(dtype::float32, {3.5, 5.5, 7.5}), 1);
    call[7] = number("epsilon", 0.25);
    gives("aten::cudnn_batch_norm",
          call,
          row_of(dtype::float32, {0.3244428422615251, 0.3244428422615251, 0.3244428422615251}),
          2);
}

} // namespace aton::tests
