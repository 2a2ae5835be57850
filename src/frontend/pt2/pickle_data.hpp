// SPDX-License-Identifier: MIT
// The values that a pickle makes, in pools: what a pickle machine fills and the readers of pickles look into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/dtype.hpp>

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

struct pickle_data {
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
        subclass, ///< a tensor of a class of Python, by its attributes
        object,   ///< what another class or function makes, which nobody runs
        mark
    };
    struct value {
        kind is = kind::none;
        std::uint32_t length = 0; ///< of a text or tuple
        /// A number itself, the bits of a real one; otherwise an index into the pickle (text), items (tuple) or the vector of the kind.
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
    struct object {
        global type;
        value arguments;                          ///< a tuple
        value state;                              ///< a dict of attributes, or none
        dtype dtype_of_tensor = dtype::undefined; ///< of a subclass, like `sizes`
        value sizes;
    };

    pickle_data(std::string_view bytes, std::string place) : pickle(bytes), where(std::move(place)) {}

    [[nodiscard]] std::string_view text(value v) const {
        return pickle.substr(static_cast<std::size_t>(v.number), v.length);
    }
    [[nodiscard]] std::span<value const> items_of(value tuple) const {
        return std::span(items).subspan(static_cast<std::size_t>(tuple.number), tuple.length);
    }
    /// The items of a tuple, all integers. `name` is that of the tensor, for messages.
    [[nodiscard]] std::vector<std::int64_t> numbers(value tuple, std::string_view name) const;
    /// A value of kind tensor.
    [[nodiscard]] pickled_tensor tensor_of(value v, std::string_view name) const;

    std::string_view pickle;
    std::string where;
    std::vector<value> items; ///< of all tuples
    std::vector<storage> storages;
    std::vector<tensor> tensors;
    std::vector<object> objects; ///< and subclasses
    std::vector<global> globals;
    std::vector<std::vector<value>> containers; ///< items of lists; alternating keys and values of dicts
};

/// Whether the first values are of these kinds.
[[nodiscard]] bool begins_with(std::span<pickle_data::value const> values,
                               std::initializer_list<pickle_data::kind> kinds);

/// "torch.float32".
[[nodiscard]] std::string name_of(pickle_data::global const& g);

} // namespace ATON_NAMESPACE::pt2
