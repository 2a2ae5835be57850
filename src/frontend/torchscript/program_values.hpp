// SPDX-License-Identifier: MIT
// Values of the code as numbers and tensors of the program. Constants are computed; what depends on a dynamic size becomes nodes of Python's
// arithmetic, as in programs of torch.export.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/program/program.hpp>

#include "calls.hpp"
#include "code_position.hpp"
#include "constant_elements.hpp"
#include "gradients.hpp"
#include "program_builder.hpp"
#include "result_types.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class program_values {
public:
    program_values(program_builder& build, result_types& types, heap& in, gradients& require,
                   constant_elements& elements, code_position& at, caller& calls)
        : build_(build),
          types_(types),
          heap_(in),
          gradients_(require),
          elements_(elements),
          at_(at),
          caller_(calls) {}

    /// The number that a value is: a constant, or the element of a constant tensor with one element. Other tensors of the module may change.
    [[nodiscard]] std::optional<value> constant_of(value const& v);
    /// Whether a condition holds, if that does not depend on data.
    [[nodiscard]] std::optional<bool> decide(value const& condition);
    /// The dtype of a number as a 0-d tensor, if that of a float is `real`.
    [[nodiscard]] dtype type_of_number(value const& v, dtype real) const;
    /// A number that a function of 0-d tensors of these dtypes computes, as a tensor of the dtype to which torch promotes them.
    [[nodiscard]] value as_result_of(std::vector<dtype> const& types, value const& number) const;

    /// A function of Python's module operator, of torch.sym_* or of math on numbers.
    [[nodiscard]] value arithmetic(std::string_view op, std::vector<value> const& x);
    /// int(), float() and bool() of a value, and "item", the number that it is.
    [[nodiscard]] value convert_number(std::string_view type, value const& v);
    /// `a and b` of two conditions: a bool, or a number of the program.
    [[nodiscard]] value both(value const& a, value const& b);
    [[nodiscard]] value negated(value const& condition);
    [[nodiscard]] value add_python_node(std::string_view op, std::vector<value> const& x, program::value_kind k,
                                        std::optional<program::extent> size);

    [[nodiscard]] program::number number_of(value const& v);
    /// The value of the program that a tensor is. A number becomes a 0-d tensor.
    [[nodiscard]] program::value_index tensor_of(value const& v, std::optional<dtype> wanted = {});
    [[nodiscard]] program::value_index use_weight(std::size_t index);
    /// The same in a branch, or a body, that has these nodes.
    [[nodiscard]] program::value_index tensor_in(std::vector<program::node>& nodes, value const& v);
    /// A condition as an argument: a 0-d bool tensor, or a SymBool.
    [[nodiscard]] program::argument condition_argument(value const& condition);
    /// The kind of a number that is one of two numbers.
    [[nodiscard]] program::value_kind common_kind(value const& a, value const& b) const;

    /// The size of a dimension: a number, or a node that reads it.
    [[nodiscard]] value size_value(program::value_index tensor, std::size_t axis);
    /// The nodes that read sizes, by the tensor and the axis.
    using known_sizes = std::map<std::pair<program::value_index, std::size_t>, program::value_index>;
    [[nodiscard]] known_sizes const& sizes() const { return sizes_; }
    void set_sizes(known_sizes const& of) { sizes_ = of; }

private:
    [[nodiscard]] std::optional<bool> compare_symbols(std::string_view op, std::vector<value> const& x);

    program_builder& build_;
    result_types& types_;
    heap& heap_;
    gradients& gradients_;
    constant_elements& elements_;
    code_position& at_;
    caller& caller_;
    known_sizes sizes_;
};

} // namespace ATON_NAMESPACE::torchscript
