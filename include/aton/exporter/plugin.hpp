// SPDX-License-Identifier: MIT
// Plugins: shared libraries with mapping tables, built with ATON_PLUGIN of <aton/plugin.hpp> and loaded at run time.
// Public header.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <aton/dsl/table.hpp>
#include <aton/ir/pattern.hpp>

namespace ATON_NAMESPACE {

/// A loaded plugin. It must outlive all uses of its tables; the destructor unloads the library.
class plugin {
public:
    struct library;
    /// For `load_plugin`, which is the way to get one.
    explicit plugin(std::unique_ptr<library> loaded);
    plugin(plugin&& other) noexcept;
    plugin& operator=(plugin&& other) noexcept;
    ~plugin();

    /// For export_options::tables.
    [[nodiscard]] std::vector<dsl::table_view> tables() const;
    /// For export_options::rewrites.
    [[nodiscard]] rewrites_view rewrites() const noexcept;
    /// The path that was passed to load_plugin().
    [[nodiscard]] std::string const& path() const;

private:
    std::unique_ptr<library> library_;
};

/// A row of a plugin.
struct plugin_row {
    std::string_view overload; ///< "my_ops::foo"; empty: none
    std::string_view plugin;   ///< the path of its library
    std::uint64_t call = 0;    ///< the number of the call, in its thread
};

/// The row that this thread is running, of a plugin that is loaded; for handlers of signals, which may call it.
[[nodiscard]] plugin_row running_row() noexcept;

/// Loads a plugin from a file; the library path is not searched. Throws aton::error, one line with the reason: no such file, not a shared
/// library, not a plugin, built against another version of Aton or another standard library, or malformed.
/// ```cpp
/// #include <aton/exporter/exporter.hpp>
/// #include <aton/exporter/plugin.hpp>
///
/// inline void export_with(std::string const& library) {
///     aton::plugin const mine = aton::load_plugin(library); // lives as long as its tables are used
///     aton::export_options options;
///     options.tables = mine.tables();
///     options.rewrites = {mine.rewrites()};
///     aton::export_file("model.pt2", "model.onnx", options);
/// }
/// ```
[[nodiscard]] plugin load_plugin(std::string const& path);

} // namespace ATON_NAMESPACE
