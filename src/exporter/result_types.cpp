// SPDX-License-Identifier: MIT
#include "result_types.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace ATON_NAMESPACE::exporter {

namespace {

std::string kind_name(value_kind kind) {
    switch (kind) {
    case value_kind::sequence: return "a sequence of ";
    case value_kind::optional_tensor: return "an optional ";
    case value_kind::optional_sequence: return "an optional sequence of ";
    case value_kind::tensor: break;
    }
    return {};
}

std::string size_text(dim const& d) {
    return d.is_static() ? std::to_string(d.size()) : d.is_symbolic() ? std::string(d.symbol()) : "?";
}

/// Bits of the significand and of the exponent. float8_e8m0 has no sign and no zero, so it is not comparable to other formats.
std::pair<int, int> precision(dtype t) {
    switch (t) {
    case dtype::float64: return {52, 11};
    case dtype::float32: return {23, 8};
    case dtype::bfloat16: return {7, 8};
    case dtype::float16: return {10, 5};
    case dtype::float8_e5m2:
    case dtype::float8_e5m2fnuz: return {2, 5};
    case dtype::float8_e4m3fn:
    case dtype::float8_e4m3fnuz: return {3, 4};
    case dtype::float4_e2m1: return {1, 2};
    case dtype::complex128: return {52, 11};
    case dtype::complex64: return {23, 8};
    case dtype::complex32: return {10, 5};
    default: return {0, 0};
    }
}

} // namespace

number_kind kind_of(dtype t) {
    if (t == dtype::undefined) return number_kind::unknown;
    if (t == dtype::bool_) return number_kind::boolean;
    if (t == dtype::string) return number_kind::string;
    if (is_complex(t)) return number_kind::complex;
    return is_floating(t) ? number_kind::floating : number_kind::integer;
}

bool holds_all_of(dtype to, dtype from) {
    if (to == from) return true;
    if (kind_of(to) != kind_of(from)) return false;
    if (is_integral(to)) {
        if (is_signed_integral(from)) return is_signed_integral(to) && bits(to) >= bits(from);
        return bits(to) > bits(from);
    }
    auto const [significand, exponent] = precision(to);
    auto const [from_significand, from_exponent] = precision(from);
    return from_exponent != 0 && significand >= from_significand && exponent >= from_exponent;
}

std::string describe(value_type const& type) {
    std::string out = kind_name(type.kind);
    out += type.dtype == dtype::undefined ? std::string("?") : std::string(name(type.dtype));
    if (!type.shape.has_rank()) return out + "[...]";
    out += '[';
    for (std::size_t i = 0; i != type.shape.rank(); ++i) out += (i == 0 ? "" : ", ") + size_text(type.shape[i]);
    return out + ']';
}

bool fits(value_type const& given, value_type const& recorded) {
    if (given.kind != recorded.kind) return false;
    bool const known = given.dtype != dtype::undefined && recorded.dtype != dtype::undefined;
    if (known && kind_of(given.dtype) != kind_of(recorded.dtype)) return false;
    if (!given.shape.has_rank() || !recorded.shape.has_rank()) return true;
    if (given.shape.rank() != recorded.shape.rank()) return false;
    for (std::size_t i = 0; i != given.shape.rank(); ++i) {
        dim const& a = given.shape[i];
        dim const& b = recorded.shape[i];
        if (a.is_static() && b.is_static() && a.size() != b.size()) return false;
    }
    return true;
}

std::string mismatch(std::string_view subject, value_type const& given, value_type const& recorded) {
    return std::string(subject) + ' ' + describe(given) + ", but the program records " + describe(recorded);
}

value_type merged(value_type const& given, value_type recorded) {
    if (recorded.dtype == dtype::undefined) recorded.dtype = given.dtype;
    if (!recorded.shape.has_rank()) recorded.shape = given.shape;
    if (!given.shape.has_rank() || given.shape.rank() != recorded.shape.rank()) return recorded;
    std::vector<dim> sizes = recorded.shape.dims();
    for (std::size_t i = 0; i != sizes.size(); ++i)
        if (given.shape[i].is_static()) sizes[i] = given.shape[i];
    recorded.shape = shape(sizes);
    return recorded;
}

} // namespace ATON_NAMESPACE::exporter
