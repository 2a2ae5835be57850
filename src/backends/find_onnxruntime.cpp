// SPDX-License-Identifier: MIT
// Looks for the shared library of ONNX Runtime where its Python package puts it.
#include <aton/backends/onnxruntime.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "system/paths.hpp"
#include "system/process.hpp"

namespace ATON_NAMESPACE::backends {

namespace {

namespace fs = std::filesystem;

/// Entries of a folder that start and end so, sorted; none if it cannot be read.
std::vector<fs::path> entries_of(fs::path const& folder, std::string const& start, std::string const& end = {}) {
    std::vector<fs::path> out;
    std::error_code fault;
    for (fs::directory_iterator at(folder, fault); !fault && at != fs::directory_iterator(); at.increment(fault)) {
        std::string const name = system::text_of(at->path().filename());
        if (name.starts_with(start) && name.ends_with(end)) out.push_back(at->path());
    }
    std::ranges::sort(out);
    return out;
}

/// The library in a folder such as site-packages/onnxruntime/capi; the newest, if there are several.
fs::path library_in(fs::path const& folder) {
#if defined(_WIN32)
    std::vector<fs::path> const all = entries_of(folder, "onnxruntime.dll");
#elif defined(__APPLE__)
    std::vector<fs::path> const all = entries_of(folder, "libonnxruntime.", ".dylib");
#else
    std::vector<fs::path> const all = entries_of(folder, "libonnxruntime.so");
#endif
    return all.empty() ? fs::path() : all.back();
}

fs::path in_packages(fs::path const& packages) { return library_in(packages / "onnxruntime" / "capi"); }

/// A folder with bin/ and lib/, as a virtual environment is.
fs::path in_prefix(fs::path const& prefix) {
    if (fs::path found = in_packages(prefix / "Lib" / "site-packages"); !found.empty()) return found;
    for (fs::path const& lib : entries_of(prefix / "lib", "python3"))
        for (char const* packages : {"site-packages", "dist-packages"})
            if (fs::path found = in_packages(lib / packages); !found.empty()) return found;
    return {};
}

std::string variable(char const* name) {
    char const* const text = std::getenv(name);
    return text == nullptr ? std::string() : text;
}

std::vector<fs::path> prefixes() {
    std::vector<fs::path> out;
    for (char const* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
        if (std::string const text = variable(name); !text.empty()) out.push_back(system::path_of(text));
#if defined(_WIN32)
    constexpr char separator = ';';
#else
    constexpr char separator = ':';
#endif
    std::string const path = variable("PATH") + separator;
    for (std::size_t at = 0; at < path.size();) {
        std::size_t const end = path.find(separator, at);
        std::string const folder = path.substr(at, end - at);
        if (!folder.empty()) out.push_back(system::path_of(folder).parent_path());
        at = end + 1;
    }
    if (std::string const home = variable("HOME"); !home.empty()) out.push_back(system::path_of(home) / ".local");
    return out;
}

} // namespace

std::string find_onnxruntime() {
    // As part of a Python package, Aton uses the runtime beside it.
    for (fs::path folder = system::sibling_path("aton"); folder.has_relative_path(); folder = folder.parent_path())
        if (folder.filename() == "site-packages" || folder.filename() == "dist-packages")
            if (fs::path const found = in_packages(folder); !found.empty()) return system::text_of(found);
    for (fs::path const& prefix : prefixes())
        if (fs::path const found = in_prefix(prefix); !found.empty()) return system::text_of(found);
    for (char const* folder : {"/usr/local/lib", "/usr/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"})
        if (fs::path const found = library_in(folder); !found.empty()) return system::text_of(found);
    return {};
}

} // namespace ATON_NAMESPACE::backends
