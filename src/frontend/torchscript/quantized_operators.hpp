// SPDX-License-Identifier: MIT
// Operators on tensors of quantized dtypes, which the interpreter holds as the floats that they stand for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/program/program.hpp>

#include "calls.hpp"
#include "code_position.hpp"
#include "program_builder.hpp"
#include "quantized_values.hpp"
#include "tensor_aliases.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class quantized_operators {
public:
    quantized_operators(program_builder& build, tensor_aliases const& aliases, heap& in, code_position& at,
                        caller& calls)
        : build_(build),
          aliases_(aliases),
          heap_(in),
          at_(at),
          caller_(calls) {}

    /// Runs __setstate__ of the objects that have it: a convolution keeps its weight in its state, and packs it there.
    void restore_states();
    /// Operators that make quantized tensors, and those of quantized tensors; nothing for all others.
    [[nodiscard]] std::optional<value> call(std::string const& op, call_arguments const& given);
    /// Refuses to return a quantized tensor, which ONNX does not have.
    void expect_plain(value const& result, int depth = 0) const;

private:
    [[nodiscard]] value known_parameter(value const& v);
    [[nodiscard]] quantization quantization_of(value const& scale, value const& zero, std::int64_t code);
    [[nodiscard]] value quantize(value const& x, quantization const& q);
    [[nodiscard]] value rounded(value const& x, std::vector<value> const& parameters);
    [[nodiscard]] value quantize_channels(std::vector<value> const& x);
    [[nodiscard]] value requantized(value const& y, value const& x);
    [[nodiscard]] value dequantized_weight(value const& w);
    [[nodiscard]] packed_weight packed_of(value const& packed) const;
    [[nodiscard]] value pack(call_arguments const& given);
    [[nodiscard]] value packed_product(value const& x, packed_weight const& p, std::string_view name);
    [[nodiscard]] value call_product(std::string_view name, std::vector<value> const& x);
    [[nodiscard]] std::optional<value> call_on_quantized(std::string const& op, call_arguments const& given);

    program_builder& build_;
    tensor_aliases const& aliases_;
    heap& heap_;
    code_position& at_;
    caller& caller_;
    std::map<program::value_index, quantization> parameters_; ///< of quantized tensors, by their floats
    bool is_inside_ = false;                                  ///< what follows are operators of those floats
};

} // namespace ATON_NAMESPACE::torchscript
