// SPDX-License-Identifier: MIT
// Reads safetensors files, without trusting any size or offset: 8 bytes with the length of the header, a header of JSON, the elements.
// Format: https://huggingface.co/docs/safetensors
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <aton/core/dtype.hpp>

#include "frontend/pt2/tensor_source.hpp"

namespace ATON_NAMESPACE::weights {

struct safetensors_parts {
    std::string_view header;   ///< JSON
    std::string_view elements; ///< to which offsets are relative
};

/// Whether the bytes are a length inside the file, and then an object of JSON; the length alone may look like the start of another format.
[[nodiscard]] bool looks_like_safetensors(std::string_view bytes);

/// Throws aton::error, "where: ...", if the header is not inside the bytes.
[[nodiscard]] safetensors_parts split_safetensors(std::string_view bytes, std::string const& where);

/// The dtype of a code such as "BF16"; undefined if it is unknown, or has less than 8 bits.
[[nodiscard]] dtype dtype_of_safetensors(std::string_view code);

/// The tensors of a file, which `from` must outlive. Throws aton::error, "where: ...", if any entry is damaged; an entry that is only
/// unsupported is an error when it is requested.
[[nodiscard]] std::unique_ptr<pt2::tensor_source> read_safetensors(pt2::file_bytes from, std::string where);

} // namespace ATON_NAMESPACE::weights
