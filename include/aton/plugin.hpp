// SPDX-License-Identifier: MIT
// Makes a shared library an Aton plugin: `ATON_PLUGIN(my_table)` exports its tables.
// Public header.
#pragma once

#include <cstdint>

#include <aton/dsl/plugin_abi.hpp>

#if defined(_WIN32)
/// What makes a symbol visible to those who load the library.
#define ATON_PLUGIN_EXPORT __declspec(dllexport)
#else
/// What makes a symbol visible to those who load the library.
#define ATON_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/// Exports the rows of the tables, of mappings and of rewrites, as the object `aton_plugin`. At namespace scope, once per shared library.
/// `aton export --plugin` and `aton::load_plugin` read it. Two rows for the same overload and opset are a compile error.
/// ```cpp
/// #include <aton/aton.hpp>
/// #include <aton/plugin.hpp>
///
/// inline constexpr auto my_table = aton::dsl::table(aton::dsl::symbolic<"my_ops::twice(Tensor x) -> Tensor">(
///     [](aton::dsl::graph<13> g, aton::dsl::value x) { return g.op<"Add">(x, x); }));
/// ATON_PLUGIN(my_table)
/// ```
#define ATON_PLUGIN(...)                                                                                               \
    extern "C" {                                                                                                       \
    static std::int32_t aton_plugin_run(std::uint64_t row, void* invocation, ::aton::abi::report* say, void* sink) {   \
        return ::aton::abi::run_row<decltype(::aton::abi::rows_of(__VA_ARGS__))>(row, invocation, say, sink);          \
    }                                                                                                                  \
    extern ATON_PLUGIN_EXPORT ::aton::abi::description const aton_plugin;                                              \
    constinit ::aton::abi::description const aton_plugin =                                                             \
        ::aton::abi::describe<decltype(::aton::abi::rows_of(__VA_ARGS__))>(&aton_plugin_run);                          \
    }
