// SPDX-License-Identifier: MIT
// Reads an untrusted TensorProto: raw bytes, or one of the older fields for numbers and strings. Allocations are bounded by the size of
// the file.
#include "read_tensor.hpp"

#include <cstdint>
#include <limits>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::detail {

namespace {

template <class Field>
void append_all(tensor& to, Field const& field) {
    for (auto v : field) to.append(static_cast<scalar>(v));
}

/// Reads the typed fields, in which small types take an int32 per element.
void typed_data(::onnx::TensorProto const& from, tensor& t) {
    switch (t.type) {
    case dtype::float32: return append_all(t, from.float_data());
    case dtype::float64: return append_all(t, from.double_data());
    case dtype::int64: return append_all(t, from.int64_data());
    case dtype::complex64:
        for (float f : from.float_data()) append_bytes(t.bytes, f);
        return;
    case dtype::complex128:
        for (double d : from.double_data()) append_bytes(t.bytes, d);
        return;
    case dtype::uint32:
        for (std::uint64_t v : from.uint64_data()) append_bytes(t.bytes, static_cast<std::uint32_t>(v));
        return;
    case dtype::uint64:
        for (std::uint64_t v : from.uint64_data()) append_bytes(t.bytes, v);
        return;
    default: break;
    }
    std::size_t const width = bits(t.type) < 8 ? 1 : bits(t.type) / 8; // below 8 bits: packed, one byte per int32
    for (std::int32_t v : from.int32_data()) {
        if (width == 1) append_bytes(t.bytes, static_cast<std::uint8_t>(v));
        else if (width == 2) append_bytes(t.bytes, static_cast<std::uint16_t>(v));
        else append_bytes(t.bytes, v);
    }
}

[[noreturn]] void refuse_count(std::string const& what, std::size_t has, char const* of, std::size_t needed) {
    throw error(
        one_line(what + " has " + std::to_string(has) + ' ' + of + ", but its sizes need " + std::to_string(needed)));
}

} // namespace

dtype read_dtype(int number) { return dtype_from_onnx(number); }

std::size_t require_sizes(tensor const& t, std::string const& what) {
    constexpr auto max_count = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()) / 256;
    std::size_t n = 1;
    for (std::int64_t size : t.sizes) {
        if (size < 0 || (size != 0 && n > max_count / static_cast<std::size_t>(size)))
            throw error(one_line(what + " has invalid sizes"));
        n *= static_cast<std::size_t>(size);
    }
    return n;
}

tensor read_tensor(::onnx::TensorProto const& from, std::string const& what) {
    tensor t{read_dtype(from.data_type()), {from.dims().begin(), from.dims().end()}, {}};
    std::size_t const n = require_sizes(t, what);
    if (from.data_location() == ::onnx::TensorProto_DataLocation_EXTERNAL || t.type == dtype::undefined) return t;
    if (t.type == dtype::string) {
        t.strings.assign(from.string_data().begin(), from.string_data().end());
        if (t.strings.size() != n) refuse_count(what, t.strings.size(), "strings", n);
        return t;
    }
    std::size_t const expected = (n * bits(t.type) + 7) / 8;
    if (from.has_raw_data()) t.bytes = from.raw_data();
    else typed_data(from, t);
    if (t.bytes.size() != expected) refuse_count(what, t.bytes.size(), "bytes", expected);
    return t;
}

} // namespace ATON_NAMESPACE::detail
