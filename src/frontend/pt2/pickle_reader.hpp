// SPDX-License-Identifier: MIT
// Reads the data.pkl of torch.save: the layout of each tensor in a dict, or one tensor of a class of Python by its attributes. Executes no
// Python: only the opcodes and functions that tensors need are supported. In a dict of tensors, all others are refused by name; around the
// attributes of a tensor, they become objects that nobody runs. Memory is linear in the pickle's size, and bounded.
// Format: Python's Lib/pickletools.py (protocols 2 to 5), torch/_utils.py (_rebuild_*), torch/serialization.py (persistent ids).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

#include "pickle_data.hpp"

namespace ATON_NAMESPACE::pt2 {

/// A pickle has an object that is not a dense tensor. It is not damaged.
class unsupported_object : public error {
public:
    using error::error;
};

class pickled_tensors {
public:
    /// Reads a pickle of a dict or OrderedDict with string keys; `pickle` must outlive it. Throws aton::error, "where: ...",
    /// and unsupported_object.
    pickled_tensors(std::string_view pickle, std::string where);

    /// Sorted.
    [[nodiscard]] std::vector<std::string_view> names() const;
    /// Nothing if the name does not exist. Throws aton::error if it does not name a dense tensor.
    [[nodiscard]] std::optional<pickled_tensor> find(std::string_view name) const;

private:
    pickle_data data_;
    std::vector<std::pair<std::string_view, pickle_data::value>> entries_; ///< of the dict, sorted by name
};

/// An attribute of a pickled tensor.
struct pickled_attribute {
    enum class kind : std::uint8_t { none, boolean, number, real, text, numbers, tensor, object };
    kind is = kind::none;
    std::int64_t number = 0; ///< also 0 or 1 for a boolean
    double real = 0;
    std::string text;                  ///< a text, or the name of a class, function, dtype: "torch.int4"
    std::vector<std::int64_t> numbers; ///< a list or tuple of integers
    std::optional<pickled_tensor> tensor;
};

/// One pickled tensor of a class of Python, such as a quantized weight of torchao.
class pickled_subclass {
public:
    /// Reads a pickle of one tensor; `pickle` must outlive it. Throws aton::error, "where: ...", and unsupported_object if it is something
    /// else than a tensor of a class with attributes.
    pickled_subclass(std::string_view pickle, std::string where);

    /// "torchao.quantization.Int8Tensor".
    [[nodiscard]] std::string type() const { return name_of(self().type); }
    /// What the tensor is to programs.
    [[nodiscard]] dtype element_type() const { return self().dtype_of_tensor; }
    [[nodiscard]] std::vector<std::int64_t> sizes() const { return data_.numbers(self().sizes, "the tensor"); }

    /// The attribute at a path of names with periods, "_data._data"; nullopt if there is none. The attribute 0 of an object is the first argument
    /// of the call that makes it: that of an enumeration is its value. Throws aton::error for a damaged tensor.
    [[nodiscard]] std::optional<pickled_attribute> find(std::string_view path) const;

private:
    [[nodiscard]] pickle_data::object const& self() const {
        return data_.objects[static_cast<std::size_t>(root_.number)];
    }
    [[nodiscard]] std::optional<pickle_data::value> member(pickle_data::value of, std::string_view name) const;
    [[nodiscard]] pickled_attribute describe(pickle_data::value v, std::string_view path) const;

    pickle_data data_;
    pickle_data::value root_;
};

} // namespace ATON_NAMESPACE::pt2
