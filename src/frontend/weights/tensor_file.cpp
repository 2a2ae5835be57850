// SPDX-License-Identifier: MIT
#include <aton/frontend/weights/tensor_file.hpp>

#include <optional>
#include <string_view>

#include <aton/core/error.hpp>

#include "frontend/files/mapped_file.hpp"
#include "npz.hpp"
#include "safetensors.hpp"

namespace ATON_NAMESPACE::weights {

tensor_file read_tensor_file(std::string const& path) {
    auto const file = std::make_shared<files::mapped_file const>(path);
    if (files::looks_like_zip(file->bytes())) return read_npz(file, path);
    if (!looks_like_safetensors(file->bytes())) throw error(path + ": neither an .npz archive nor a safetensors file");
    std::unique_ptr<pt2::tensor_source> const source = read_safetensors({file->bytes(), file->descriptor()}, path);
    tensor_file out;
    out.owner = file;
    for (std::string_view const name : source->names())
        if (std::optional<stored_tensor> t = source->find(name)) out.tensors.emplace_back(name, std::move(*t));
    return out;
}

} // namespace ATON_NAMESPACE::weights
