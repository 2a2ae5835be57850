// SPDX-License-Identifier: MIT
// Calls whose tensors and dtype arguments get another dtype.
#pragma once

#include <cstdint>

#include <aton/verify/sample.hpp>

namespace aton::tests {

/// The parts of a call that get the dtype.
enum class place : std::uint8_t { tensors, arguments, both };

/// The dtype that the sampler draws in; dtypes that it does not support are cast.
inline dtype drawn_as(dtype t) {
    switch (t) {
    case dtype::float32:
    case dtype::float64:
    case dtype::float16:
    case dtype::bfloat16:
    case dtype::int64:
    case dtype::int32:
    case dtype::int16:
    case dtype::int8:
    case dtype::uint8:
    case dtype::bool_:
    case dtype::complex64: return t;
    case dtype::complex128: return dtype::complex64;
    default: return is_integral(t) ? dtype::int64 : dtype::float32;
    }
}

/// The call with tensors of `to` instead of `from`. Their elements do not matter: mappings only depend on dtypes and sizes.
inline void retype(verify::sample& call, dtype from, dtype to, place where) {
    auto const change = [&](runtime::tensor& x) {
        if (from != to && x && x.dtype() == from) x = runtime::tensor::empty(to, x.sizes());
    };
    for (runtime::aten_argument& a : call.arguments) {
        if (a.kind == aten::argument_kind::type && where != place::tensors) a.type = to;
        if (where == place::arguments) continue;
        change(a.tensor);
        for (runtime::tensor& x : a.tensors) change(x);
    }
}

inline bool has_type_argument(verify::sample const& call) {
    for (runtime::aten_argument const& a : call.arguments)
        if (a.kind == aten::argument_kind::type) return true;
    return false;
}

} // namespace aton::tests
