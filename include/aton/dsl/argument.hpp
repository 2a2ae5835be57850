// SPDX-License-Identifier: MIT
// Arguments of ATen calls: as a front end gives them, and as the binder hands them to bodies.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <aton/aten/argument.hpp>
#include <aton/core/error.hpp>
#include <aton/core/scalar.hpp>
#include <aton/dsl/number.hpp>
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

/// An argument of an ATen call, for `convert`: `argument::of_tensor(x)`, `argument::of_number(0.5)`, `argument::of_numbers({2, n})`. A
/// default-constructed one is missing, and gets the default of the schema.
using argument = aten::basic_argument<optional_value, number>;
using aten::argument_kind;

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

/// An argument in the form of its schema type, with its name, and lists as the arrays that the parameters of bodies view. The binder makes
/// them; `g.context().argument("alpha")` shows them.
struct bound_argument : argument {
    std::vector<value> values = {};      ///< Tensor[]: `tensors`, none of which is absent
    std::vector<sym_int> sizes = {};     ///< int[] and SymInt[]: `numbers`
    std::vector<std::int64_t> ints = {}; ///< the same, if all are constants
    std::vector<double> floats = {};     ///< float[], if all are constants
    std::vector<scalar> scalars = {};    ///< Scalar[], if all are constants
    bool_list bools = {};                ///< bool[], if all are constants
};

} // namespace ATON_NAMESPACE::dsl
