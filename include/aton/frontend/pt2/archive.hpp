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

/// An attribute of a tensor of a class of Python.
struct subclass_attribute {
    /// `missing`: there is no such attribute; `none`: it is None; `object`: one of another class, by whose attributes it is known.
    enum class kind : std::uint8_t { missing, none, boolean, number, real, text, numbers, tensor, object };
    kind is = kind::missing;
    std::int64_t number = 0;           ///< also of a boolean: 0 or 1
    double real = 0;                   ///< a float of Python
    std::string text;                  ///< or the name of a class, function or dtype: "torch.int4"
    std::vector<std::int64_t> numbers; ///< a list or tuple of integers
    stored_tensor tensor;              ///< valid as those of archive::tensor()
};

/// A weight that is a tensor of a class of Python, such as a quantized weight of torchao: its attributes, read without Python.
class tensor_subclass {
public:
    tensor_subclass() = default;
    virtual ~tensor_subclass() = default;
    tensor_subclass(tensor_subclass const&) = delete;
    tensor_subclass& operator=(tensor_subclass const&) = delete;

    /// The class: "torchao.quantization.Int8Tensor".
    [[nodiscard]] virtual std::string const& type() const noexcept = 0;
    /// The dtype that programs see.
    [[nodiscard]] virtual dtype element_type() const noexcept = 0;
    /// The sizes that programs see.
    [[nodiscard]] virtual std::vector<std::int64_t> const& sizes() const noexcept = 0;
    /// The attribute at a path of names, "_data._data". Of an object that a call makes, "0" is the first argument of the call: the value of
    /// an enumeration. Throws aton::error for a damaged tensor.
    [[nodiscard]] virtual subclass_attribute find(std::string_view path) const = 0;
};

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
    /// A weight that is not found is looked up among the constants, and vice versa. The tensors in a weight of a class of Python have
    /// its name and theirs: "fc.weight.qdata". Throws aton::error.
    /// The single part spans the record of a whole storage: tensors that share a storage have the same bytes.data. Records are
    /// 64-byte aligned since torch 2.9 and unaligned before.
    [[nodiscard]] stored_tensor tensor(std::string_view model, tensor_role role, std::string_view name) const;
    /// The weight of this name, if it is a tensor of a class of Python; otherwise null. Valid as tensors are. Throws aton::error.
    [[nodiscard]] std::shared_ptr<tensor_subclass const> subclass(std::string_view model, tensor_role role,
                                                                  std::string_view name) const;
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
