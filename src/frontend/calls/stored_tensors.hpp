// SPDX-License-Identifier: MIT
// Tensors of recorded calls: base64 text in the line itself, or an entry of a safetensors file in the same folder.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <aton/core/dtype.hpp>
#include <aton/core/tensor.hpp>

#include "frontend/pt2/json_reader.hpp"

namespace ATON_NAMESPACE::calls {

/// The dtype of a name with or without "torch."; undefined for anything else, and for strings.
[[nodiscard]] dtype stored_dtype(std::string_view name);

/// The safetensors files of a folder, each opened when a tensor of it is needed.
class stored_tensors {
public:
    explicit stored_tensors(std::string folder);
    stored_tensors(stored_tensors const&) = delete;
    stored_tensors& operator=(stored_tensors const&) = delete;
    ~stored_tensors();

    /// Whether a recorded value is a tensor.
    [[nodiscard]] static bool is_tensor(pt2::json_value const& v);
    /// Reads `{"dtype": "float32", "shape": [2], "base64": "..."}` or `{"tensor": "name"}`, of the file that `line` names.
    /// Throws aton::error at `v` if it is malformed, or its bytes are not those of its dtype and shape.
    [[nodiscard]] tensor read(pt2::json_value const& v, pt2::json_value const& line);

private:
    class file;

    [[nodiscard]] file const& open(pt2::json_value const& name);

    std::string folder_;
    std::map<std::string, std::unique_ptr<file>, std::less<>> files_;
};

} // namespace ATON_NAMESPACE::calls
