// SPDX-License-Identifier: MIT
// The dtypes and profiles that aton verify draws calls with.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/core/dtype.hpp>
#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

inline constexpr std::array sampled_types = {dtype::float32,
                                             dtype::float64,
                                             dtype::float16,
                                             dtype::bfloat16,
                                             dtype::int64,
                                             dtype::int32,
                                             dtype::int16,
                                             dtype::int8,
                                             dtype::uint8,
                                             dtype::bool_,
                                             dtype::complex64};

/// The profiles that a dtype is sampled with: all of them for float32 and int64, a selection for others.
[[nodiscard]] std::vector<sampling_profile> profiles_of(dtype t);
/// Whether the argument takes a real number: float or Scalar.
[[nodiscard]] inline bool is_real(aten::schema_argument const& a) {
    return a.type.base == aten::base_type::float_ || a.type.base == aten::base_type::scalar;
}
/// One profile for each extreme number and some dtypes whose largest numbers differ; none if no argument of the schema is real.
[[nodiscard]] std::vector<sampling_profile> extreme_profiles(std::string_view schema);

[[nodiscard]] std::string_view name_of(size_profile t);
[[nodiscard]] std::string_view name_of(value_profile t);

} // namespace ATON_NAMESPACE::verify
