// SPDX-License-Identifier: MIT
// The members of a TorchScript archive: its classes and functions, parsed when they are first used, and its objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/files/mapped_file.hpp"
#include "frontend/files/zip_directory.hpp"
#include "frontend/pt2/tensor_source.hpp"
#include "source_ranges.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class library {
public:
    /// Throws aton::error if the file is not a TorchScript archive.
    explicit library(std::shared_ptr<files::mapped_file> file, std::string const& path);

    /// The class or function with a qualified name; null if there is none.
    [[nodiscard]] class_code const* find_class(std::string_view qualified);
    [[nodiscard]] function_code const* find_function(std::string_view qualified);

    /// All files of code, in the order of their names.
    [[nodiscard]] std::vector<code_file const*> files();

    /// The module of data.pkl, and the tuple of constants.pkl.
    [[nodiscard]] value read_module(heap& to);
    [[nodiscard]] value read_constants(heap& to);

    [[nodiscard]] std::string const& path() const { return path_; }

    /// "net.py:12 in forward": the line of Python's code that made the byte `offset` of a file; empty if the archive does not tell.
    [[nodiscard]] std::string const& source_of(code_file const& file, std::uint32_t offset);

    /// The version of the format, 1 to 10.
    [[nodiscard]] std::int64_t format() const { return format_; }

private:
    [[nodiscard]] code_file const* find_file(std::string_view module);
    [[nodiscard]] files::zip_member const* find(std::string_view name) const;
    /// The bytes of a member, which are decompressed if necessary.
    [[nodiscard]] std::string_view bytes_of(files::zip_member const& member);
    [[nodiscard]] value read(std::string_view pickle, std::string const& folder, heap& to);

    std::shared_ptr<files::mapped_file> file_;
    std::string path_;
    files::zip_directory directory_;
    std::string root_;
    std::int64_t format_ = 10;
    std::map<std::string, std::unique_ptr<code_file>, std::less<>> files_; ///< by module; null: there is none
    std::map<std::string, std::string, std::less<>> inflated_;
    std::map<code_file const*, source_ranges> sources_;
    std::size_t left_for_sources_ = std::size_t{1} << 26U;
    std::size_t left_to_inflate_ = std::size_t{1} << 26U;
};

/// Whether the members are those of torch.jit.save.
[[nodiscard]] bool is_archive(files::zip_directory const& directory);

} // namespace ATON_NAMESPACE::torchscript
