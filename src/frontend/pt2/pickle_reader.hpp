// SPDX-License-Identifier: MIT
// Reads the data.pkl of torch.save({name: tensor}): the layout of each tensor. Executes no Python: only the opcodes and functions
// that tensors need are supported, and all others are refused by name. Memory is linear in the pickle's size, and bounded.
// Format: Python's Lib/pickletools.py (protocols 2 to 5), torch/_utils.py (_rebuild_*), torch/serialization.py (persistent ids).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::pt2 {

/// As stored in the pickle: sizes, strides and offset are not checked against each other or against the storage.
struct pickled_tensor {
    dtype type = dtype::undefined;
    std::string_view storage;        ///< the member with its bytes: data/<storage>
    std::uint64_t storage_bytes = 0; ///< of the whole storage
    std::int64_t offset = 0;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
};

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
    friend class pickle_machine;

    enum class kind : std::uint8_t {
        none,
        boolean,
        number,
        real,
        text,
        tuple,
        list,
        dict,
        global,
        storage,
        tensor,
        mark
    };
    struct value {
        kind is = kind::none;
        std::uint32_t length = 0; ///< of a text or tuple
        /// A number itself; otherwise an index into the pickle (text), items_ (tuple) or the vector of the kind.
        std::int64_t number = 0;
    };
    struct global {
        std::string_view module;
        std::string_view name;
    };
    struct storage {
        dtype type = dtype::undefined; ///< undefined: bytes
        std::string_view key;
        std::int64_t count = 0; ///< elements
    };
    struct tensor {
        std::uint32_t storage = 0;
        dtype type = dtype::undefined;
        std::int64_t offset = 0;
        value sizes;
        value strides;
    };

    [[nodiscard]] std::string_view text(value v) const {
        return pickle_.substr(static_cast<std::size_t>(v.number), v.length);
    }
    [[nodiscard]] std::vector<std::int64_t> numbers(value tuple, std::string_view name) const;

    std::string_view pickle_;
    std::string where_;
    std::vector<value> items_; ///< of all tuples
    std::vector<storage> storages_;
    std::vector<tensor> tensors_;
    std::vector<std::pair<std::string_view, value>> entries_; ///< of the dict, sorted by name
};

} // namespace ATON_NAMESPACE::pt2
