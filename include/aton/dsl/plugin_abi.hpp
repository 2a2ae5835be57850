// SPDX-License-Identifier: MIT
// Describes the tables of a plugin (plugin_description.hpp) and runs its rows. Both sides must be compiled from headers of the same
// version, with the same standard library and struct layouts; the description records all three.
// Internal header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <type_traits>

#include <aton/core/error.hpp>
#include <aton/dsl/diagnosis.hpp>
#include <aton/dsl/plugin_description.hpp>
#include <aton/dsl/symbolic.hpp>
#include <aton/dsl/table.hpp>
#include <aton/dsl/thrown.hpp>
#include <aton/ir/pattern.hpp>
#include <aton/version.hpp>

namespace ATON_NAMESPACE::abi {

/// The standard library of this translation unit, as far as it affects the layout of its types.
constexpr std::string_view standard_library() {
#if defined(_LIBCPP_ABI_VERSION)
    return _LIBCPP_ABI_VERSION == 1 ? "libc++, ABI 1" : "libc++, ABI 2 or later";
#elif defined(_GLIBCXX_DEBUG)
    return "libstdc++ in debug mode";
#elif defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
    return "libstdc++, C++11 ABI";
#elif defined(__GLIBCXX__)
    return "libstdc++, ABI before C++11";
#else
    return "an unknown standard library";
#endif
}

// offsetof of non-standard-layout structs, which GCC and Clang support.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

/// A fingerprint of the layouts of the shared structs.
constexpr std::uint64_t layout() {
    constexpr std::size_t facts[] = {
        5, // incremented when the meaning of a member changes without its offset
        sizeof(void*),
        dtype_count,
        sizeof(graph_data),
        offsetof(graph_data, values),
        offsetof(graph_data, nodes),
        offsetof(graph_data, outputs),
        offsetof(graph_data, origins),
        offsetof(graph_data, context),
        sizeof(graph_node),
        offsetof(graph_node, inputs),
        offsetof(graph_node, attributes),
        offsetof(graph_node, source),
        offsetof(graph_node, origin),
        sizeof(graph_value),
        offsetof(graph_value, type),
        offsetof(graph_value, producer),
        offsetof(graph_value, initializer),
        offsetof(graph_value, wrapped_number),
        sizeof(graph_initializer),
        sizeof(graph_function),
        sizeof(node_origin),
        sizeof(node_attribute),
        offsetof(node_attribute, s),
        offsetof(node_attribute, tensors),
        offsetof(node_attribute, graphs),
        sizeof(node_context),
        offsetof(node_context, expected),
        offsetof(node_context, first_argument),
        offsetof(node_context, exact_nan),
        offsetof(node_context, may_be_empty),
        sizeof(value_type),
        offsetof(value_type, shape),
        offsetof(value_type, kind),
        sizeof(tensor),
        offsetof(tensor, bytes),
        sizeof(scalar),
        sizeof(dsl::argument),
        offsetof(dsl::argument, tensor),
        offsetof(dsl::argument, number),
        offsetof(dsl::argument, numbers),
        offsetof(dsl::argument, text),
        offsetof(dsl::argument, type),
        static_cast<std::size_t>(dsl::argument_kind::other),
        sizeof(dsl::bound_argument),
        offsetof(dsl::bound_argument, sizes),
        offsetof(dsl::bound_argument, floats),
        offsetof(dsl::bound_argument, bools),
        sizeof(dsl::number),
        sizeof(dsl::sym_int),
        sizeof(dsl::optional_value),
        sizeof(dsl::result),
        offsetof(dsl::result, list),
        offsetof(dsl::result, is_list),
        sizeof(dsl::invocation),
        offsetof(dsl::invocation, arguments),
        offsetof(dsl::invocation, results),
        offsetof(dsl::invocation, complex),
        sizeof(rewrite_entry),
        offsetof(rewrite_entry, pattern),
        offsetof(rewrite_entry, build),
        sizeof(pattern_node),
        offsetof(pattern_node, shared),
        sizeof(pattern_term),
        sizeof(pattern_attribute),
        offsetof(pattern_attribute, f),
        sizeof(captured),
        offsetof(captured, type),
    };
    std::uint64_t h = 14695981039346656037ULL;
    for (std::size_t fact : facts) h = (h ^ fact) * 1099511628211ULL;
    return h;
}

#pragma GCC diagnostic pop

/// Whether a type is a table of mappings, or of rewrites.
template <class Table>
inline constexpr bool is_table = std::is_convertible_v<Table, dsl::table_view>;
template <class Table>
inline constexpr bool is_rewrite_table = std::is_convertible_v<Table, rewrites_view>;

/// The rows of all tables of a plugin, concatenated, and its rewrites.
template <class... Tables>
struct plugin_rows {
    static constexpr std::size_t count = (0 + ... + (is_table<Tables> ? Tables::size() : 0));
    static constexpr std::size_t rewrite_count = (0 + ... + (is_rewrite_table<Tables> ? Tables::size() : 0));
    static constexpr std::array<dsl::entry, count> entries = [] {
        std::array<dsl::entry, count> all{};
        std::size_t n = 0;
        (
            [&] {
                if constexpr (is_table<Tables>)
                    for (dsl::entry const& e : Tables::entries) all[n++] = e;
            }(),
            ...);
        return all;
    }();
    static constexpr std::array<rewrite_entry, rewrite_count> rewrites = [] {
        std::array<rewrite_entry, rewrite_count> all{};
        std::size_t n = 0;
        (
            [&] {
                if constexpr (is_rewrite_table<Tables>)
                    for (rewrite_entry const& e : Tables::entries) all[n++] = e;
            }(),
            ...);
        return all;
    }();
    static constexpr dsl::detail::sentence duplicate = dsl::detail::duplicate_row(entries);
    static constexpr std::array<row, count> rows = [] {
        std::array<row, count> all{};
        for (std::size_t i = 0; i != count; ++i) {
            dsl::entry const& e = entries[i];
            all[i] = {text_of(e.overload),
                      text_of(e.schema),
                      e.named.data(),
                      e.named.size(),
                      e.since,
                      e.until,
                      e.overrides ? 1U : 0U,
                      e.takes_complex ? 1U : 0U};
        }
        return all;
    }();
};

/// Not defined; for decltype. No rows if an argument is not a table: describe() says so, and compilers report nothing else.
template <class... Tables>
std::conditional_t<(true && ... && (is_table<Tables> || is_rewrite_table<Tables>)), plugin_rows<Tables...>,
                   plugin_rows<>>
rows_of(Tables const&... tables);

template <class Rows>
constexpr description describe(call* run) {
    constexpr bool has_tables = !std::is_same_v<Rows, plugin_rows<>>;
    static_assert(has_tables, "ATON_PLUGIN(...) takes one or more tables made by table(...) or rewrites(...)");
    using verdict = std::conditional_t<Rows::duplicate.length == 0, char, dsl::detail::diagnosis<Rows::duplicate>>;
#ifdef ATON_DIAGNOSIS_IN_CONDITION
    static_assert(dsl::detail::holds<verdict>);
#else
    static_assert(sizeof(verdict) != 0);
#endif
    return {{'A', 't', 'o', 'n', 'P', 'l', 'u', 'g'},
            sizeof(description),
            text_of(version),
            text_of(standard_library()),
            layout(),
            Rows::rows.data(),
            Rows::count,
            run,
            Rows::rewrites.data(),
            Rows::rewrite_count};
}

/// Runs a row; an exception becomes an outcome and a message.
template <class Rows>
std::int32_t run_row(std::uint64_t index, void* invocation, report* say, void* sink) noexcept {
    auto const ended = [&](outcome how, std::string_view what) {
        say(sink, what.data(), what.size());
        return static_cast<std::int32_t>(how);
    };
    try {
        if (index >= Rows::count) return ended(failed, "no such row");
        Rows::entries[index].run(*static_cast<dsl::invocation*>(invocation));
        return done;
    } catch (declined const& e) {
        return ended(left_to_next, e.what());
    } catch (unsupported_error const& e) {
        return ended(unsupported, e.what());
    } catch (illegal_call const& e) {
        return ended(illegal, e.what());
    } catch (error const& e) {
        return ended(failed, e.what());
    } catch (std::bad_alloc const&) {
        return ended(out_of_memory, "out of memory");
    } catch (...) {
        try {
            return ended(foreign_exception, describe_thrown());
        } catch (...) {
            return ended(foreign_exception, "the mapping threw an exception");
        }
    }
}

} // namespace ATON_NAMESPACE::abi
