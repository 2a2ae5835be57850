// SPDX-License-Identifier: MIT
// The part of ONNX Runtime's C interface that is needed, declared from its documentation (onnxruntime.ai/docs/api/c). The interface is a
// table of functions that later versions only append to; a position is the same in all of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include <aton/core/dtype.hpp>

namespace ATON_NAMESPACE::backends::ort {

#if defined(_WIN32)
#define ATON_ORT_CALL __stdcall
#else
#define ATON_ORT_CALL
#endif

/// Objects of the library, which only it looks into.
struct status;
struct environment;
struct session;
struct session_options;
struct ort_value;
struct memory_info;
struct type_and_shape;
struct allocator;

/// What OrtGetApiBase() returns.
struct api_base {
    void const*(ATON_ORT_CALL* table)(std::uint32_t version);
    char const*(ATON_ORT_CALL* version)();
};

/// The version of the table that is asked for: that of ONNX Runtime 1.14, which has all positions below.
inline constexpr std::uint32_t api_version = 14;

/// A function at a position of the table.
template <std::size_t Position, class Result, class... Arguments>
struct entry {
    using type = Result(ATON_ORT_CALL*)(Arguments...);
};

using error_message = entry<2, char const*, status const*>;
using create_environment = entry<3, status*, int, char const*, environment**>;
using create_session =
    entry<8, status*, environment const*, void const*, std::size_t, session_options const*, session**>;
using run = entry<9, status*, session*, void const*, char const* const*, ort_value const* const*, std::size_t,
                  char const* const*, std::size_t, ort_value**>;
using create_session_options = entry<10, status*, session_options**>;
using set_log_severity = entry<22, status*, session_options*, int>;
using set_optimization_level = entry<23, status*, session_options*, int>;
using set_threads_in_operators = entry<24, status*, session_options*, int>;
using set_threads_between_operators = entry<25, status*, session_options*, int>;
using create_tensor = entry<48, status*, allocator*, std::int64_t const*, std::size_t, int, ort_value**>;
using create_tensor_with_data =
    entry<49, status*, memory_info const*, void*, std::size_t, std::int64_t const*, std::size_t, int, ort_value**>;
using tensor_data = entry<51, status*, ort_value*, void**>;
using fill_strings = entry<52, status*, ort_value*, char const* const*, std::size_t>;
using length_of_strings = entry<53, status*, ort_value const*, std::size_t*>;
using strings = entry<54, status*, ort_value const*, void*, std::size_t, std::size_t*, std::size_t>;
using element_type = entry<60, status*, type_and_shape const*, int*>;
using rank = entry<61, status*, type_and_shape const*, std::size_t*>;
using dimensions = entry<62, status*, type_and_shape const*, std::int64_t*, std::size_t>;
using type_of_tensor = entry<65, status*, ort_value const*, type_and_shape**>;
using kind_of_value = entry<67, status*, ort_value const*, int*>;
using create_cpu_memory_info = entry<69, status*, int, int, memory_info**>;
using default_allocator = entry<78, status*, allocator**>;
using element_of_value = entry<80, status*, ort_value const*, int, allocator*, ort_value**>;
using count_of_value = entry<81, status*, ort_value const*, std::size_t*>;
using release_environment = entry<92, void, environment*>;
using release_status = entry<93, void, status*>;
using release_memory_info = entry<94, void, memory_info*>;
using release_session = entry<95, void, session*>;
using release_value = entry<96, void, ort_value*>;
using release_type_and_shape = entry<99, void, type_and_shape*>;
using release_session_options = entry<100, void, session_options*>;

/// ONNXTensorElementDataType has the numbers of TensorProto.DataType, but for the last ones, which it got in another order.
inline constexpr struct {
    dtype type;
    int number;
} other_numbers[] = {{dtype::uint2, 24}, {dtype::int2, 25}, {dtype::float8_e8m0, 26}};
/// 0: it has no such dtype.
[[nodiscard]] constexpr int number_of(dtype type) {
    for (auto const& each : other_numbers)
        if (each.type == type) return each.number;
    return type < dtype::float8_e8m0 ? static_cast<int>(type) : 0;
}
/// undefined: an unknown number.
[[nodiscard]] constexpr dtype type_of(int number) {
    for (auto const& each : other_numbers)
        if (each.number == number) return each.type;
    bool const is_known = number > 0 && number < static_cast<int>(dtype::float8_e8m0);
    return is_known ? static_cast<dtype>(number) : dtype::undefined;
}

/// Numbers of ONNXType.
enum class value_kind : int { unknown = 0, tensor = 1, sequence = 2 };
/// OrtLoggingLevel: only what ends the process.
inline constexpr int log_fatal = 4;

/// Calls functions of a table.
class api {
public:
    explicit api(void const* table) : table_(static_cast<void const* const*>(table)) {}

    template <class Entry, class... Arguments>
    auto call(Arguments... arguments) const {
        return call_entry(static_cast<Entry*>(nullptr), arguments...);
    }

private:
    template <std::size_t Position, class Result, class... Formal, class... Arguments>
    Result call_entry(entry<Position, Result, Formal...>* /*of*/, Arguments... arguments) const {
        using function = typename entry<Position, Result, Formal...>::type;
        return reinterpret_cast<function>(const_cast<void*>(table_[Position]))(arguments...); // NOLINT: a function
    }

    void const* const* table_;
};

} // namespace ATON_NAMESPACE::backends::ort
