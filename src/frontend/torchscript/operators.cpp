// SPDX-License-Identifier: MIT
// Calls of operators: those that are other operators on the values of the code, or none. All others are nodes.
#include "interpreter.hpp"

#include <algorithm>

#include <aton/aten/scalar_type.hpp>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::torchscript {

using files::in_quotes;

value interpreter::call_operator(std::string const& op, call_arguments const& operands) {
    if (std::optional<value> out = quantized_.call(op, operands)) return *std::move(out);
    call_arguments const given = autocast_.cast(op, operands);
    if (op.ends_with('_') && !op.ends_with("__") && !given.positional.empty() &&
        given.positional[0].is_number_as_tensor() && !given.positional[0].is_weak()) {
        // Traced code has a variable for each result, so that the old one is not read again.
        std::string const functional = op.substr(0, op.size() - 1);
        return call_path("torch." + functional.substr(functional.find("::") + 2), given);
    }
    if (op == "aten::to" && given.positional.size() >= 2 && given.positional[0].acts_as_tensor() &&
        given.positional[1].is() == kind::device) {
        // The device has no meaning in a graph; only the dtype is left.
        bool const has_type = given.positional.size() > 2 && given.positional[2].is() == kind::integer;
        call_arguments rest{{given.positional[0]}, {}};
        bool const copies = given.positional.size() > 4 && given.positional[4].is_true();
        if (copies) rest.positional[0] = call_operator("aten::clone", rest);
        bool const is_same_type = has_type && types_.type_of(values_.tensor_of(rest.positional[0])).type ==
                                                  aten::scalar_type(*given.positional[2].integer());
        if (!has_type || is_same_type) return rest.positional[0]; // torch returns the tensor itself
        rest.positional.push_back(given.positional[2]);
        return call_operator(op, rest);
    }
    if (op == "aten::to" && given.named.empty() && conversions_.has_type_already(given.positional))
        return given.positional[0];
    if ((op == "aten::tensor" || op == "aten::as_tensor") && !given.positional.empty() &&
        !given.positional[0].acts_as_tensor())
        return conversions_.make_tensor(given);
    if (op == "aten::as_tensor") return conversions_.convert_type(given);
    if (op == "aten::unbind")
        if (std::optional<value> rows = open_lists_.unbind(given)) return *std::move(rows);
    if (std::optional<value> parts = open_lists_.split(op, given)) return *std::move(parts);
    if (op == "aten::_pad_packed_sequence" && given.positional.size() == 5 &&
        given.positional[4].is() == kind::symbol && given.positional[1].is() == kind::tensor) {
        // pad_packed_sequence() without total_length gives the number of batch_sizes, which is what 0 stands for.
        inferred_type const steps = types_.type_of(given.positional[1].computed());
        if (steps.sizes.size() == 1 && steps.sizes[0] == build_.extent_of(given.positional[4])) {
            call_arguments longest = given;
            longest.positional[4] = value::of(std::int64_t{0});
            return call_operator(op, longest);
        }
    }
    if (op == "aten::cpu" || op == "aten::cuda") return call_operator("aten::alias", {{given.positional.at(0)}, {}});
    if (op == "aten::as_strided_" || op == "aten::set_" || op == "aten::resize_" || op == "aten::resize_as_")
        at_.fail("calls " + in_quotes(op) +
                 ", which depends on the memory layout of tensors; archives do not record it");
    bool const writes = op.ends_with('_') && !op.ends_with("__");
    if (writes && !given.positional.empty() && given.positional[0].is() != kind::tensor &&
        given.positional[0].is() != kind::weight)
        at_.fail("calls " + in_quotes(op) + ", which would write to " + std::string(describe(given.positional[0])));
    return operators_.add(op, given);
}

} // namespace ATON_NAMESPACE::torchscript
