// SPDX-License-Identifier: MIT
// Tests tensors and views, packed elements, invalid sizes, and small floats against all their neighbors.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <aton/core/error.hpp>
#include <aton/runtime/tensor.hpp>

#include "../faults.hpp"

namespace ATON_NAMESPACE::runtime {

namespace {

using tests::contains;
using tests::fault_of;

tensor counted(sizes of) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(count_of(of)));
    for (std::size_t i = 0; i != numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
    return tensor::of_integers(numbers).reshaped(std::move(of));
}

/// Every code of a format decodes to a number that encodes to it again, and a number between two neighbors is rounded
/// to the nearer one, or to the even code in the middle.
template <dtype Type>
void check_format() {
    CAPTURE(std::string(name(Type)));
    constexpr unsigned codes = 1U << bits(Type);
    using number = narrow_float<Type>;
    auto const of_code = [](unsigned code) {
        number n;
        n.bits = static_cast<std::uint8_t>(code);
        return static_cast<float>(n);
    };
    int finite = 0;
    for (unsigned code = 0; code != codes; ++code) {
        float const value = of_code(code);
        if (std::isnan(value)) {
            CHECK(std::isnan(static_cast<float>(number(value, false))));
            continue;
        }
        CHECK(number(value, false).bits == code);
        if (!std::isfinite(value)) continue;
        ++finite;
        if (code + 1 == codes || (code & (codes / 2)) != 0) continue;
        float const next = of_code(code + 1);
        if (!(next > value) || !std::isfinite(next)) continue;
        float const middle = (value + next) / 2;
        CHECK(number(middle, false).bits == (code % 2 == 0 ? code : code + 1));
        CHECK(number(std::nextafter(middle, value), false).bits == code);
        CHECK(number(std::nextafter(middle, next), false).bits == code + 1);
        CHECK(static_cast<float>(number(-middle, false)) == -static_cast<float>(number(middle, false)));
    }
    CHECK(finite >= static_cast<int>(codes) - 9);
    float const infinity = std::numeric_limits<float>::infinity();
    CHECK(std::isfinite(static_cast<float>(number(infinity))));
    CHECK(number(infinity).bits == number(std::numeric_limits<float>::max()).bits);
}

} // namespace

TEST_CASE("small floats round to nearest, ties to even") {
    check_format<dtype::float8_e4m3fn>();
    check_format<dtype::float8_e4m3fnuz>();
    check_format<dtype::float8_e5m2>();
    check_format<dtype::float8_e5m2fnuz>();
    check_format<dtype::float6_e2m3>();
    check_format<dtype::float6_e3m2>();
    check_format<dtype::float4_e2m1>();
    // The maxima, from ONNX's documentation of the types.
    float const huge = 1e30F;
    CHECK(static_cast<float>(narrow_float<dtype::float8_e4m3fn>(huge)) == 448.0F);
    CHECK(static_cast<float>(narrow_float<dtype::float8_e4m3fnuz>(huge)) == 240.0F);
    CHECK(static_cast<float>(narrow_float<dtype::float8_e5m2>(huge)) == 57344.0F);
    CHECK(static_cast<float>(narrow_float<dtype::float8_e5m2fnuz>(-huge)) == -57344.0F);
    CHECK(static_cast<float>(narrow_float<dtype::float4_e2m1>(huge)) == 6.0F);
    CHECK(std::isnan(static_cast<float>(narrow_float<dtype::float8_e4m3fn>(huge, false))));
    CHECK(std::isinf(static_cast<float>(narrow_float<dtype::float8_e5m2>(huge, false))));
    CHECK(narrow_float<dtype::float8_e4m3fnuz>(-0.0F).bits == 0);
    CHECK(static_cast<float>(float8_e8m0(3.0F)) == 4.0F);
    CHECK(static_cast<float>(float8_e8m0(0.0F)) == std::ldexp(1.0F, -127));
}

TEST_CASE("views share their elements") {
    tensor const x = counted({2, 3, 4});
    std::array<std::size_t, 3> const order{2, 0, 1};
    tensor const turned = x.permuted(order);
    CHECK(turned.sizes() == sizes{4, 2, 3});
    CHECK(!turned.is_contiguous());
    CHECK(turned.integers()[1] == 4);
    CHECK(turned.contiguous().is_contiguous());
    tensor const back = x.sliced(2, 3, 2, -2).sliced(0, 1, 1);
    CHECK(back.integers() == std::vector<std::int64_t>{15, 13, 19, 17, 23, 21});
    CHECK(back.squeezed(0).sizes() == sizes{3, 2});
    CHECK(back.reshaped({6}).integers() == back.integers());
    CHECK(x.unsqueezed(1).expanded({2, 5, 3, 4}).integers()[12 * 5 - 1] == 11);
    CHECK(x.sliced(1, 3, 0).count() == 0);
    std::int64_t const far = std::numeric_limits<std::int64_t>::max();
    CHECK(x.sliced(2, 3, 1, far).integers() == x.sliced(2, 3, 1, -far - 1).integers());
    for (std::int64_t const step : {far, -far - 1, std::int64_t{2}, std::int64_t{-2}})
        CHECK(contains(fault_of([&] { return x.sliced(2, 2, 3, step); }), "out of range for axis 2 of [2, 3, 4]"));
    CHECK(contains(fault_of([&] { return x.sliced(2, 0, far, 4); }), "out of range for axis 2"));
    CHECK(x.data<std::int64_t>() == x.reshaped({4, 6}).data<std::int64_t>());
    CHECK(x.reinterpreted(dtype::float64).dtype() == dtype::float64);
    tensor const text = tensor::of_strings({"a", "b", "c", "d"}, {2, 2});
    std::array<std::size_t, 2> const swapped{1, 0};
    CHECK(text.permuted(swapped).contiguous().strings()[1] == "c");
}

TEST_CASE("elements below 8 bits are packed in constants, the lowest bits first") {
    aton::tensor const packed{dtype::int4, {3}, std::string("\x97\x0f", 2)};
    tensor const x = tensor::from_constant(packed);
    CHECK(x.data<narrow_integer<dtype::int4>>()[0] == 7);
    CHECK(x.data<narrow_integer<dtype::int4>>()[1] == -7);
    CHECK(x.data<narrow_integer<dtype::int4>>()[2] == -1);
    CHECK(x.to_constant() == packed);
    aton::tensor const quarters{dtype::uint2, {5}, std::string("\xe4\x02", 2)};
    CHECK(tensor::from_constant(quarters).to_constant() == quarters);
    CHECK(tensor::from_constant(quarters).data<narrow_integer<dtype::uint2>>()[3] == 3);
    aton::tensor const odd{dtype::float6_e2m3, {4}, std::string("\x41\x20\x0c", 3)};
    CHECK(tensor::from_constant(odd).to_constant() == odd);
    CHECK(contains(fault_of([] { return tensor::from_constant({dtype::int4, {5}, "ab"}); }), "has 2 bytes"));
    CHECK(tensor::from_constant({dtype::bool_, {2}, std::string("\7\0", 2)}).to_constant().bytes ==
          std::string("\1\0", 2));
}

TEST_CASE("invalid sizes are refused before memory is allocated") {
    std::int64_t const most = std::numeric_limits<std::int64_t>::max();
    CHECK(contains(fault_of([&] { return tensor::empty(dtype::float32, {most, 2}); }), "is too large"));
    CHECK(contains(fault_of([&] { return tensor::empty(dtype::float32, {2, -1}); }), "cannot have shape [2, -1]"));
    CHECK(contains(fault_of([&] { return tensor::empty(dtype::float64, {std::int64_t{1} << 39}); }),
                   "does not fit into memory"));
    CHECK(tensor::empty(dtype::float32, {aton::runtime::max_elements / 2, 0, 2}).count() == 0);
    CHECK(contains(fault_of([&] { return tensor::empty(dtype::float32, {most, 0}); }), "is too large"));
    CHECK(contains(fault_of([&] { return tensor::empty(dtype::undefined, {1}); }), "must have a dtype"));
    CHECK(contains(fault_of([&] { return tensor::empty(dtype::complex32, {1}); }),
                   "the runtime has no tensors of complex32"));
    CHECK(contains(fault_of([&] { return counted({2, 3}).reshaped({4}); }), "shape [2, 3] cannot be reshaped to [4]"));
    CHECK(contains(fault_of([&] { return counted({2, 3}).expanded({3}); }), "does not expand"));
    CHECK(contains(fault_of([&] { return counted({2, 3}).squeezed(1); }), "does not have size 1"));
    CHECK(contains(fault_of([&] { return counted({2, 3}).item(); }), "one element"));
    CHECK(contains(fault_of([&] { return std::to_string(axis_at(-3, 2)); }), "axis -3 is out of range for rank 2"));
    CHECK(axis_at(-1, 0) == 0);
}

} // namespace ATON_NAMESPACE::runtime
