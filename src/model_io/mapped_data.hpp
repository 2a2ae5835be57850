// SPDX-License-Identifier: MIT
// The files of a model, mapped into memory: the model itself, and those with its external tensors.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "proto.hpp"
#include "system/mapped_file.hpp"

#include <aton/core/stored_tensor.hpp>

namespace ATON_NAMESPACE::detail {

/// A file, mapped and open. Throws aton::error, one line that names it, unless it is a readable regular file.
class mapped_data {
public:
    mapped_data(std::string path, system::links at);

    [[nodiscard]] std::string const& path() const { return path_; }
    [[nodiscard]] std::string_view bytes() const { return file_.bytes(); }
    /// The range as a span for stored tensors. It must be inside the file.
    [[nodiscard]] file_span span(std::uint64_t position, std::uint64_t size) const;

private:
    std::string path_;
    system::mapped_file file_;
};

/// The place of an external tensor as a path from the model's folder. Throws aton::error, "is stored in ...", for one outside of it.
[[nodiscard]] std::filesystem::path part_inside(std::string const& location);

/// The files of external tensors, each opened once.
class external_files {
public:
    explicit external_files(std::string const& model);

    /// The bytes of an external tensor that needs `needed` of them. Throws aton::error, "is stored in ...", unless they are in a regular
    /// file in the model's folder, or in folders in there, without links on the way.
    [[nodiscard]] file_span find(::onnx::TensorProto const& t, std::uint64_t needed);
    [[nodiscard]] std::deque<mapped_data> const& all() const { return files_; }

private:
    [[nodiscard]] mapped_data const& open(std::string const& location);

    std::filesystem::path folder_;
    std::deque<mapped_data> files_;
    std::map<std::string, mapped_data const*> by_location_;
};

} // namespace ATON_NAMESPACE::detail
