// SPDX-License-Identifier: MIT
// The container of a .pt2 file: members of a ZIP archive that stay mapped, the models in it, and where their weights lie.
// Format: PyTorchFileWriter of torch 2.8 and newer, the plain ZIP of torch 2.4 to 2.7 (torch/export/pt2_archive/_package.py).
// Public header.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/stored_tensor.hpp>

namespace ATON_NAMESPACE::pt2 {

/// What a tensor is looked up as: parameters and persistent buffers are weights.
enum class tensor_role : std::uint8_t { weight, constant };

/// An open .pt2 file. Everything that it hands out points into the mapped file and lives as long as `storage()` is held.
/// ```cpp
/// #include <aton/frontend/pt2/archive.hpp>
///
/// inline aton::stored_tensor bias(aton::pt2::archive const& file) {
///     return file.tensor("model", aton::pt2::tensor_role::weight, "fc.bias"); // valid while file.storage() is held
/// }
/// ```
class archive {
public:
    /// Opens and checks the container. Throws aton::error, one line that names the file: no archive, a compressed or
    /// overlapping member, or an archive of another kind (AOTInductor, ExecuTorch, TorchScript, a checkpoint), which it names.
    explicit archive(std::string const& path);
    archive(archive&&) noexcept;
    archive& operator=(archive&&) noexcept;
    ~archive();

    /// The same for bytes in memory, which must outlive the archive; `name` is what messages call it.
    /// Throws aton::error as the constructor does.
    static archive from_memory(std::string_view bytes, std::string_view name);

    /// The path of the file, or the name that `from_memory` was given.
    [[nodiscard]] std::string const& path() const;
    /// The names of the models, sorted: "model".
    [[nodiscard]] std::vector<std::string> const& models() const;
    /// The JSON of one model. Empty name: the only one, or the one called "model". Throws aton::error with the names that there are.
    [[nodiscard]] std::string_view program_json(std::string_view model) const;
    /// The name that an empty name stands for.
    /// Throws aton::error with the names that there are.
    [[nodiscard]] std::string resolve_model(std::string_view model) const;

    /// A tensor of a model by its name in the module, "fc.weight". Its strides may be any, every element is inside of the file.
    /// Weights that are not found are looked for among the constants and the other way round. Throws aton::error.
    /// Its one part spans the record of a whole storage: tensors that share one have the same bytes.data. Records of torch 2.9 and
    /// newer start at multiples of 64 bytes; older ones start anywhere.
    [[nodiscard]] stored_tensor tensor(std::string_view model, tensor_role role, std::string_view name) const;
    /// The names that a model has for one role, sorted; not all of them must be tensors.
    /// Throws aton::error for a model that the archive does not have, and for a directory of weights that cannot be read.
    [[nodiscard]] std::vector<std::string> tensor_names(std::string_view model, tensor_role role) const;

    /// What keeps the file open and mapped: hold it as long as anything that the archive returned.
    [[nodiscard]] std::shared_ptr<void const> storage() const;

private:
    struct state;
    explicit archive(std::shared_ptr<state> s);
    std::shared_ptr<state> state_;
};

/// dtype of a ScalarType number of the export schema (torch/_export/serde/schema.py); undefined: none.
[[nodiscard]] dtype dtype_of_scalar_type(std::int64_t code);

} // namespace ATON_NAMESPACE::pt2
