// SPDX-License-Identifier: MIT
// Reads calls of real ATen with their results: one line of cases.jsonl each, tensors in a safetensors file (an 8-byte
// length, a JSON header, raw bytes). tests/oracle/make_sample.py writes both.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include <aton/core/scalar.hpp>
#include <aton/runtime/tensor.hpp>

namespace aton::tests {

using json = simdjson::dom::element;

inline std::string read_whole(std::string const& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    if (!in) throw std::runtime_error(path + " cannot be read");
    return out.str();
}

class recorded_tensors {
public:
    explicit recorded_tensors(std::string const& path) : bytes_(read_whole(path)) {
        std::uint64_t size = 0;
        std::memcpy(&size, bytes_.data(), sizeof size);
        header_ = parser_.parse(bytes_.data() + sizeof size, size);
        start_ = sizeof size + size;
    }

    [[nodiscard]] bool has(std::string_view key) const { return header_.at_key(key).error() == simdjson::SUCCESS; }
    [[nodiscard]] std::size_t count() const {
        return simdjson::dom::object(header_).size() - (has("__metadata__") ? 1 : 0);
    }
    [[nodiscard]] runtime::tensor get(std::string_view key) const {
        json const entry = header_.at_key(key);
        aton::tensor t{dtype_of(std::string_view(entry["dtype"])), {}, {}};
        for (json each : simdjson::dom::array(entry["shape"])) t.sizes.push_back(std::int64_t(each));
        simdjson::dom::array const range = entry["data_offsets"];
        std::uint64_t const first = range.at(0);
        t.bytes = bytes_.substr(start_ + first, std::uint64_t(range.at(1)) - first);
        return runtime::tensor::from_constant(t);
    }

private:
    static dtype dtype_of(std::string_view name) {
        struct known {
            std::string_view name;
            dtype type;
        };
        constexpr known all[] = {{"BOOL", dtype::bool_},
                                 {"U8", dtype::uint8},
                                 {"I8", dtype::int8},
                                 {"U16", dtype::uint16},
                                 {"U32", dtype::uint32},
                                 {"U64", dtype::uint64},
                                 {"C128", dtype::complex128},
                                 {"I16", dtype::int16},
                                 {"I32", dtype::int32},
                                 {"I64", dtype::int64},
                                 {"F16", dtype::float16},
                                 {"BF16", dtype::bfloat16},
                                 {"F32", dtype::float32},
                                 {"F64", dtype::float64},
                                 {"C64", dtype::complex64}};
        for (known const& each : all)
            if (each.name == name) return each.type;
        throw std::runtime_error("a recorded tensor of " + std::string(name));
    }

    std::string bytes_;
    std::size_t start_ = 0;
    simdjson::dom::parser parser_;
    json header_;
};

/// A number of a recorded call: 3, 0.5, true, {"float": "nan"}.
inline scalar number_of(json e) {
    if (e.is_bool()) return scalar(bool(e));
    if (e.is_int64()) return scalar(static_cast<long long>(std::int64_t(e)));
    if (e.is_double()) return scalar(double(e));
    std::string_view const text = e["float"];
    double const infinity = std::numeric_limits<double>::infinity();
    return scalar(text == "nan" ? std::numeric_limits<double>::quiet_NaN() : text == "inf" ? infinity : -infinity);
}

/// The distance of two numbers in units of the last place of the dtype; 0 for two NaN, huge if only one is NaN.
inline double distance(double a, double b, int mantissa_bits, int min_exponent) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
    if (!std::isfinite(a) || !std::isfinite(b)) return 1e300;
    int exponent = 0;
    (void)std::frexp(b, &exponent);
    return std::abs(a - b) / std::ldexp(1.0, std::max(exponent - 1, min_exponent) - mantissa_bits);
}

/// The maximum distance of elements of two tensors of the same floating-point dtype, in units of the last place; for
/// other dtypes 0 or huge.
inline double distance(runtime::tensor const& a, runtime::tensor const& b) {
    aton::tensor const x = a.to_constant();
    aton::tensor const y = b.to_constant();
    if (x.type != y.type || x.sizes != y.sizes) return 1e300;
    if (!is_floating(x.type)) return x.bytes == y.bytes ? 0 : 1e300;
    int const mantissa = x.type == dtype::float64   ? 52
                         : x.type == dtype::float32 ? 23
                         : x.type == dtype::float16 ? 10
                                                    : 7;
    int const least = x.type == dtype::float64 ? -1022 : x.type == dtype::float16 ? -14 : -126;
    double most = 0;
    for (std::size_t i = 0; i != static_cast<std::size_t>(x.element_count()); ++i)
        most = std::max(most, distance(x.at(i).to<double>(), y.at(i).to<double>(), mantissa, least));
    return most;
}

} // namespace aton::tests
