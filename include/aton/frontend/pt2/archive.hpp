// SPDX-License-Identifier: MIT
// The container of a .pt2 file: a mapped ZIP archive, the models in it, and the locations of their weights.
// Format: PyTorchFileWriter in torch 2.8 and newer, plain ZIP in torch 2.4 to 2.7 (torch/export/pt2_archive/_package.py).
// Public header.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/stored_tensor.hpp>

namespace ATON_NAMESPACE::pt2 {

/// Where to look up a tensor. Parameters and persistent buffers are weights.
enum class tensor_role : std::uint8_t { weight, constant };

/// An open .pt2 file. Everything it returns points into the mapped file and is valid while `storage()` is held.
/// ```cpp
/// #include <aton/frontend/pt2/archive.hpp>
///
/// inline aton::stored_tensor bias(aton::pt2::archive const& file) {
///     return file.tensor("model", aton::pt2::tensor_role::weight, "fc.bias"); // valid while file.storage() is held
/// }
/// ```
class archive {
public:
    /// Opens and checks the container. Throws aton::error, one line that names the file, if it is not an archive, has compressed
    /// or overlapping members, or is another kind of archive (AOTInductor, ExecuTorch, TorchScript, a checkpoint), which is named.
    explicit archive(std::string const& path);
    archive(archive&&) noexcept;
    archive& operator=(archive&&) noexcept;
    ~archive();

    /// The same for bytes in memory, which must outlive the archive. Messages use `name` as the file name.
    /// Throws aton::error as the constructor does.
    static archive from_memory(std::string_view bytes, std::string_view name);

    /// The path of the file, or the name that `from_memory` was given.
    [[nodiscard]] std::string const& path() const;
    /// The names of the models, sorted: "model".
    [[nodiscard]] std::vector<std::string> const& models() const;
    /// The JSON of one model. An empty name selects the only model, or the one called "model". Throws aton::error, which lists the
    /// available names.
    [[nodiscard]] std::string_view program_json(std::string_view model) const;
    /// The name of the selected model; resolves an empty name.
    /// Throws aton::error with the names that there are.
    [[nodiscard]] std::string resolve_model(std::string_view model) const;

    /// A tensor of a model by its name in the module, "fc.weight". Strides are arbitrary; every element is inside the file.
    /// A weight that is not found is looked up among the constants, and vice versa. Throws aton::error.
    /// The single part spans the record of a whole storage: tensors that share a storage have the same bytes.data. Records are
    /// 64-byte aligned since torch 2.9 and unaligned before.
    [[nodiscard]] stored_tensor tensor(std::string_view model, tensor_role role, std::string_view name) const;
    /// The names of one role in a model, sorted; some may not be tensors.
    /// Throws aton::error for a model that the archive does not have, and for a directory of weights that cannot be read.
    [[nodiscard]] std::vector<std::string> tensor_names(std::string_view model, tensor_role role) const;

    /// What keeps the file open and mapped: hold it as long as anything that the archive returned.
    [[nodiscard]] std::shared_ptr<void const> storage() const;

private:
    struct state;
    explicit archive(std::shared_ptr<state> s);
    std::shared_ptr<state> state_;
};

/// The dtype of a ScalarType number of the export schema (torch/_export/serde/schema.py); undefined if unknown.
[[nodiscard]] dtype dtype_of_scalar_type(std::int64_t code);

} // namespace ATON_NAMESPACE::pt2
