// SPDX-License-Identifier: MIT
// The weights, or the constants, of one model: a config with a member per storage, or a torch.save file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/stored_tensor.hpp>
#include <aton/frontend/pt2/archive.hpp>

#include "frontend/files/zip_directory.hpp"

namespace ATON_NAMESPACE::pt2 {

/// The file that contains all tensors.
struct file_bytes {
    std::string_view all;
    int file = -1;

    /// `part` must be inside `all`.
    [[nodiscard]] file_span span(std::string_view part) const;
};

class tensor_source {
public:
    tensor_source() = default;
    tensor_source(tensor_source const&) = delete;
    tensor_source& operator=(tensor_source const&) = delete;
    virtual ~tensor_source() = default;

    /// Sorted.
    [[nodiscard]] virtual std::vector<std::string_view> names() const = 0;
    /// Nothing if the name does not exist. Throws aton::error for an unsupported tensor.
    [[nodiscard]] virtual std::optional<stored_tensor> find(std::string_view name) const = 0;
    /// The tensor of this name if it is one of a class of Python, otherwise null. Throws aton::error for a damaged one.
    [[nodiscard]] virtual std::shared_ptr<tensor_subclass const> subclass(std::string_view /*name*/) const {
        return nullptr;
    }
};

/// Reads PayloadConfig JSON, whose members are in `folder` ("model/data/weights/"). `directory` must outlive the result. Throws aton::error
/// if any entry is damaged; one that is only unsupported is an error when it is requested.
[[nodiscard]] std::unique_ptr<tensor_source> read_payload_config(files::zip_directory const& directory,
                                                                 files::zip_member const& config, std::string folder,
                                                                 file_bytes from);

/// Reads a file of torch.save inside another archive. No tensors if `bytes` is empty.
[[nodiscard]] std::unique_ptr<tensor_source> read_saved_dict(std::string_view bytes, std::string const& where,
                                                             file_bytes from);

/// Reads a file of torch.save with one tensor of a class of Python. Throws aton::error.
[[nodiscard]] std::shared_ptr<tensor_subclass const> read_saved_subclass(std::string_view bytes,
                                                                         std::string const& where, file_bytes from);

/// The number of elements, after checking that every one is inside the record, unless the record is empty.
[[nodiscard]] std::int64_t count_inside(dtype type, std::vector<std::int64_t> const& sizes,
                                        std::vector<std::int64_t> const& strides, std::int64_t offset,
                                        std::uint64_t record_size, std::string_view record_name,
                                        std::string const& where);

/// A view of `record`, after checking that every element is inside it. torch writes an empty record for fake and meta tensors, one for all of
/// a dtype: these are absent tensors, which the address of `key` tells apart; without a key they are refused. Messages use `where` for the tensor and `record_name` for
/// the record.
[[nodiscard]] stored_tensor checked_tensor(dtype type, std::vector<std::int64_t> sizes,
                                           std::vector<std::int64_t> strides, std::int64_t offset, file_span record,
                                           std::string_view record_name, std::string const& where,
                                           std::string_view key = {});

} // namespace ATON_NAMESPACE::pt2
