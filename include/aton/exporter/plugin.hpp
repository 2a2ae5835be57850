// SPDX-License-Identifier: MIT
// Shared libraries that bring mapping tables of their own: made with ATON_PLUGIN of <aton/plugin.hpp>, loaded while a program runs.
// Public header.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <aton/dsl/table.hpp>

namespace ATON_NAMESPACE {

/// A loaded plugin. It must live as long as its tables are in use; then the library is unloaded.
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
    /// As load_plugin got it.
    [[nodiscard]] std::string const& path() const;

private:
    std::unique_ptr<library> library_;
};

/// Loads a plugin. `path` names a file; the library path is not searched. Throws aton::error, one line that says why not: no such file, no
/// shared library, no plugin in it, built against another version of Aton or another standard library, or malformed.
/// ```cpp
/// #include <aton/exporter/exporter.hpp>
/// #include <aton/exporter/plugin.hpp>
///
/// inline void export_with(std::string const& library) {
///     aton::plugin const mine = aton::load_plugin(library); // lives as long as its tables are used
///     aton::export_options options;
///     options.tables = mine.tables();
///     aton::export_file("model.pt2", "model.onnx", options);
/// }
/// ```
[[nodiscard]] plugin load_plugin(std::string const& path);

} // namespace ATON_NAMESPACE
