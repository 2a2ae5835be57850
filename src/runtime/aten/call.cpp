// SPDX-License-Identifier: MIT
// Arguments of a call, checked on access; type promotion.
#include "call.hpp"

#include <string>

#include <aton/aten/promotion.hpp>
#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

using kind = aten::argument_kind;

[[noreturn]] void refuse(aten_argument const& a, std::string_view expected) {
    throw error("argument '" + a.name + "' is not " + std::string(expected));
}

} // namespace

bool call::has_argument(std::string_view name) const {
    for (aten_argument const& a : bound_)
        if (a.name == name) return true;
    return false;
}

aten_argument const& call::argument(std::string_view name) const {
    for (aten_argument const& a : bound_)
        if (a.name == name) return a;
    throw error("the operator does not have an argument '" + std::string(name) + "'");
}

bool call::given(std::string_view name) const { return argument(name).kind != kind::none; }

tensor call::t(std::string_view name) const {
    aten_argument const& a = argument(name);
    if (a.kind == kind::number) return constant(*this, a.number, aton::aten::number_dtype(a.number));
    if (a.kind != kind::tensor) refuse(a, "a tensor");
    return a.tensor;
}

std::vector<tensor> const& call::tensors(std::string_view name) const {
    aten_argument const& a = argument(name);
    if (a.kind != kind::tensors) refuse(a, "a list of tensors");
    return a.tensors;
}

scalar call::number(std::string_view name) const {
    aten_argument const& a = argument(name);
    if (a.kind == kind::tensor) return to_host(a.tensor).item(); // a 0-d tensor counts as its number
    if (a.kind != kind::number) refuse(a, "a number");
    return a.number;
}

std::optional<std::int64_t> call::maybe_i(std::string_view name) const {
    return given(name) ? std::optional(i(name)) : std::nullopt;
}
std::optional<double> call::maybe_f(std::string_view name) const {
    return given(name) ? std::optional(f(name)) : std::nullopt;
}

std::vector<std::int64_t> call::ints(std::string_view name) const {
    aten_argument const& a = argument(name);
    if (a.kind == kind::number) return {a.number.to_saturated<std::int64_t>()};
    if (a.kind == kind::none || (a.kind == kind::tensors && a.tensors.empty())) return {};
    if (a.kind != kind::numbers) refuse(a, "a list of integers");
    std::vector<std::int64_t> out;
    for (scalar const& s : a.numbers) out.push_back(s.to_saturated<std::int64_t>());
    return out;
}

std::vector<double> call::floats(std::string_view name) const {
    aten_argument const& a = argument(name);
    if (a.kind == kind::number) return {a.number.to<double>()};
    if (a.kind == kind::none || (a.kind == kind::tensors && a.tensors.empty())) return {};
    if (a.kind != kind::numbers) refuse(a, "a list of numbers");
    std::vector<double> out;
    for (scalar const& s : a.numbers) out.push_back(s.to<double>());
    return out;
}

std::string_view call::text(std::string_view name) const {
    aten_argument const& a = argument(name);
    if (a.kind != kind::text && a.kind != kind::tag) refuse(a, "a string");
    return a.text;
}

dtype call::type(std::string_view name) const {
    aten_argument const& a = argument(name);
    if (a.kind == kind::none) return dtype::undefined;
    if (a.kind != kind::type) refuse(a, "a dtype");
    return a.type;
}
dtype call::type(std::string_view name, dtype otherwise) const {
    dtype const t = type(name);
    return t == dtype::undefined ? otherwise : t;
}

dtype result_type(call const& c, std::initializer_list<std::string_view> names) {
    aten::promotion types;
    for (std::string_view const name : names) {
        aten_argument const& a = c.argument(name);
        switch (a.kind) {
        case kind::number: types.add_number(a.number); break;
        case kind::tensor: types.add_tensor(a.tensor.dtype(), a.tensor.rank() != 0); break;
        case kind::tensors:
            for (tensor const& each : a.tensors)
                if (each) types.add_tensor(each.dtype(), each.rank() != 0);
            break;
        default: break;
        }
    }
    return types.result();
}

tensor operand(call const& c, std::string_view name, dtype as) {
    aten_argument const& a = c.argument(name);
    if (a.kind == kind::number) return constant(c, a.number, as);
    return cast(c.t(name), as);
}

tensor constant(call const& c, scalar const& value, dtype as) {
    return to_device(tensor::of_scalar(value, as), c.where());
}

namespace {

operand_pair operands_of(call const& c, std::string_view x, std::string_view y, dtype type, bool rounds_second) {
    dtype const in = compute_type(type);
    tensor const second = rounds_second ? cast(operand(c, y, type), in) : operand(c, y, in);
    return {cast(operand(c, x, type), in), second, type};
}

} // namespace

operand_pair promoted(call const& c, std::string_view x, std::string_view y) {
    return operands_of(c, x, y, result_type(c, {x, y}), true);
}
operand_pair promoted_to_real(call const& c, std::string_view x, std::string_view y) {
    return operands_of(c, x, y, to_real(result_type(c, {x, y})), true);
}
operand_pair promoted_factors(call const& c, std::string_view x, std::string_view y) {
    return operands_of(c, x, y, result_type(c, {x, y}), false);
}
operand_pair promoted_real_factors(call const& c, std::string_view x, std::string_view y) {
    return operands_of(c, x, y, to_real(result_type(c, {x, y})), false);
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
