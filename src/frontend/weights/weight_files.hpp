// SPDX-License-Identifier: MIT
// The files that give the numbers of weights: one file, or the shards of an index.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/stored_tensor.hpp>

#include "frontend/files/mapped_file.hpp"
#include "frontend/pt2/tensor_source.hpp"

namespace ATON_NAMESPACE::weights {

/// Open files of weights. What find() returns points into their mappings, which live as long as this object.
class weight_files {
public:
    /// A safetensors file, a file of torch.save({name: tensor}), the index of several such files (model.safetensors.index.json), or a
    /// folder with one of them. Throws aton::error, one line that names the file.
    explicit weight_files(std::string const& path);

    /// Sorted. Some of a file of torch.save may not be tensors.
    [[nodiscard]] std::vector<std::string_view> names() const;
    [[nodiscard]] bool has(std::string_view name) const { return file_of(name) != nullptr; }
    /// Nothing if the name does not exist. Throws aton::error for an unsupported tensor.
    [[nodiscard]] std::optional<stored_tensor> find(std::string_view name) const;
    /// Of all files, in the order in which they were opened.
    [[nodiscard]] std::vector<std::string> paths() const;
    /// The folder with the files.
    [[nodiscard]] std::string const& folder() const { return folder_; }

private:
    struct open_file {
        std::string path;
        std::unique_ptr<files::mapped_file> map;
        std::unique_ptr<pt2::tensor_source> tensors;
    };

    void open_index(std::string const& path);
    open_file const& open(std::string const& path);
    [[nodiscard]] open_file const* file_of(std::string_view name) const;

    std::string folder_;
    std::vector<std::unique_ptr<open_file>> files_;
    std::vector<std::pair<std::string, open_file const*>> by_name_; ///< sorted
};

} // namespace ATON_NAMESPACE::weights
