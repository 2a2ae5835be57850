// SPDX-License-Identifier: MIT
// ATen arguments at run time.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/scalar.hpp>
#include <aton/dsl/value.hpp>

namespace ATON_NAMESPACE::dsl {

/// Arguments for the placement and layout of a tensor, which ONNX cannot express. A signature need not name them.
struct layout {
    std::string_view name; ///< "strided"; empty: None
};
/// ATen's `Device`, by its name. ONNX has no devices.
struct device {
    std::string_view name; ///< "cuda:0"
};
/// ATen's `MemoryFormat`, by its name. ONNX tensors are contiguous.
struct memory_format {
    std::string_view name; ///< "channels_last"
};
/// ATen's `Generator`, which has no value in an exported program.
struct generator {};

/// ATen's `Scalar` that may be a size computed by the graph (0-d int64), as in torch.arange(x.size(0)).
struct sym_scalar {
    scalar number;
    optional_value computed; ///< absent: use `number`
};

/// ATen's `bool[n]`; n is at most 16 in every schema.
class bool_list {
public:
    /// Appends an element. Throws unsupported_error for the 17th.
    void push_back(bool b) {
        if (size_ == sizeof(data_)) throw unsupported_error("a bool[] of more than 16 elements");
        data_[size_++] = b;
    }
    /// The elements in their order.
    [[nodiscard]] std::span<bool const> view() const { return {data_, size_}; }

private:
    bool data_[16]{};
    std::size_t size_ = 0;
};

/// One argument of an ATen call. A front end sets what the program gives; binding replaces missing ones by the schema's default.
struct argument {
    /// Which member holds the value; `missing` is an argument that the call does not give, `none` is Python's None.
    enum class kind : std::uint8_t {
        missing,
        none,
        tensor,
        tensors,
        number,
        sym_size,
        sizes,
        floats,
        numbers,
        bools,
        text,
        type,
        tag
    };

    kind is = kind::missing;
    std::string_view name; ///< in the schema; set by binding
    optional_value tensor;
    std::vector<optional_value> tensors; ///< Tensor[] and Tensor?[]
    std::vector<value> values;           ///< Tensor[]: the same, none absent
    scalar number;                       ///< Scalar, int, float, bool
    sym_int size;                        ///< SymInt
    std::vector<sym_int> sizes;          ///< SymInt[], int[]
    std::vector<std::int64_t> ints;      ///< the same, if all are constants
    std::vector<double> floats;
    std::vector<scalar> numbers;
    bool_list bools;
    std::string text; ///< str, and the name of a tag
    aton::dtype type = aton::dtype::undefined;

    /// The size as a number; refuses the conversion if the program computes it.
    [[nodiscard]] std::int64_t constant_size() const {
        if (!size.is_constant()) refuse_computed();
        return size.constant();
    }
    /// Throws unsupported_error: the graph computes this argument, and the mapping needs a constant.
    [[noreturn]] void refuse_computed() const {
        throw unsupported_error("argument '" + std::string(name) +
                                "' is computed by the program; the mapping needs a constant");
    }

    /// Python's None.
    template <class = void>
    static argument none() {
        return of(kind::none);
    }
    /// A tensor; None when `v` is absent.
    template <class = void>
    static argument of_tensor(optional_value v) {
        argument a = of(v ? kind::tensor : kind::none);
        a.tensor = v;
        return a;
    }
    /// A list of tensors, some of which may be absent.
    template <class = void>
    static argument of_tensors(std::vector<optional_value> v) {
        argument a = of(kind::tensors);
        a.tensors = std::move(v);
        return a;
    }
    /// A Scalar, int, float or bool.
    template <class = void>
    static argument of_number(scalar s) {
        argument a = of(kind::number);
        a.number = s;
        return a;
    }
    /// A SymInt: a number, or a value that the graph computes.
    template <class = void>
    static argument of_size(sym_int s) {
        argument a = of(kind::sym_size);
        a.size = s;
        return a;
    }
    /// A list of SymInt or int.
    template <class = void>
    static argument of_sizes(std::vector<sym_int> s) {
        argument a = of(kind::sizes);
        a.sizes = std::move(s);
        return a;
    }
    /// A list of float.
    template <class = void>
    static argument of_floats(std::vector<double> v) {
        argument a = of(kind::floats);
        a.floats = std::move(v);
        return a;
    }
    /// A list of Scalar.
    template <class = void>
    static argument of_numbers(std::vector<scalar> v) {
        argument a = of(kind::numbers);
        a.numbers = std::move(v);
        return a;
    }
    /// A list of bool.
    template <class = void>
    static argument of_bools(bool_list v) {
        argument a = of(kind::bools);
        a.bools = v;
        return a;
    }
    /// A string.
    template <class = void>
    static argument of_text(std::string s) {
        argument a = of(kind::text);
        a.text = std::move(s);
        return a;
    }
    /// A ScalarType; `dtype::undefined` is refused when the call is bound.
    template <class = void>
    static argument of_type(aton::dtype t) {
        argument a = of(kind::type);
        a.type = t;
        return a;
    }
    /// Layout, device or memory format, by name.
    template <class = void>
    static argument of_tag(std::string s) {
        argument a = of(kind::tag);
        a.text = std::move(s);
        return a;
    }

private:
    template <class = void>
    static argument of(kind k) {
        argument a;
        a.is = k;
        return a;
    }
};

} // namespace ATON_NAMESPACE::dsl
