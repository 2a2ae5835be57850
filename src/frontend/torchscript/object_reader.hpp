// SPDX-License-Identifier: MIT
// Reads data.pkl and constants.pkl: objects of classes of the archive, lists, dicts, numbers and tensors. Executes no Python.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <aton/core/stored_tensor.hpp>

#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

/// The bytes of a storage by its key in the pickle.
using storage_lookup = std::function<file_span(std::string_view key)>;

/// The object of a pickle. Its containers and weights are added to `to`. Throws aton::error, "where: the pickle at byte N: ...".
[[nodiscard]] value read_object(std::string_view pickle, std::string where, storage_lookup const& storage, heap& to);

} // namespace ATON_NAMESPACE::torchscript
