// SPDX-License-Identifier: MIT
#include "tensor_conversions.hpp"

#include <algorithm>

#include <aton/aten/scalar_type.hpp>

#include "scalar_codes.hpp"

namespace ATON_NAMESPACE::torchscript {

value tensor_conversions::make_tensor(call_arguments const& given) {
    std::optional<std::int64_t> type;
    if (given.positional.size() > 1) type = given.positional[1].integer();
    for (auto const& [name, each] : given.named)
        if (name == "dtype" && each.integer()) type = each.integer();
    value const& from = given.positional[0];
    if (from.is() == kind::list || from.is() == kind::tuple) {
        if (from.list()->items.empty()) {
            call_arguments zeros{{heap_.list({value::of(std::int64_t{0})})}, {}};
            dtype const element = from.list()->element;
            if (type) zeros.named.emplace_back("dtype", value::of(*type));
            else if (element != dtype::undefined) zeros.named.emplace_back("dtype", value::of(code_of(element)));
            return caller_.call_operator("aten::zeros", zeros);
        }
        std::vector<value> rows;
        for (value const& each : from.list()->items) {
            call_arguments row{{each}, {}};
            if (type) row.named.emplace_back("dtype", value::of(*type));
            rows.push_back(each.acts_as_tensor() ? each : make_tensor(row));
        }
        return caller_.call_operator("aten::stack", {{heap_.list(std::move(rows))}, {}});
    }
    // A float becomes float32 before it becomes another dtype, as in torch: 1e300 is infinity.
    value const number = from.is() == kind::real ? value::of(static_cast<double>(from.number()->to<float>())) : from;
    value made = value::of(kind::tensor, values_.tensor_of(number));
    if (!type) return made;
    if (aten::scalar_type(*type) == types_.type_of(made.computed()).type) return made;
    return caller_.call_operator("aten::to", {{made, value::of(*type)}, {}});
}

bool tensor_conversions::has_type_already(std::vector<value> const& x) const {
    if (x.size() < 2 || !x[1].integer() || x[1].is_number_as_tensor()) return false;
    auto const is_false = [](value const& v) {
        return v.is() == kind::none || (v.is() == kind::boolean && !v.is_true());
    };
    if (!std::all_of(x.begin() + 2, x.end(), is_false)) return false;
    dtype const wanted = aten::scalar_type(*x[1].integer());
    if (x[0].is() == kind::weight) return heap_.weights[x[0].weight()].data.type == wanted;
    return x[0].is() == kind::tensor && types_.type_of(x[0].computed()).type == wanted;
}

value tensor_conversions::convert_type(call_arguments const& given) {
    value const& x = given.positional[0];
    std::vector<value> asked(given.positional.begin() + 1, given.positional.end());
    for (auto const& [name, each] : given.named)
        if (name == "dtype") asked.push_back(each);
    for (value const& each : asked)
        if (each.integer() && types_.type_of(values_.tensor_of(x)).type != aten::scalar_type(*each.integer()))
            return caller_.call_operator("aten::to", {{x, each}, {}});
    return x;
}

call_arguments tensor_conversions::without_weak_types(call_arguments const& given) {
    auto const& x = given.positional;
    dtype type = dtype::float32;
    bool is_alone = true;
    for (value const& each : x) {
        if (each.is_weak() || (each.is() != kind::tensor && each.is() != kind::weight)) continue;
        dtype const other = types_.type_of(values_.tensor_of(each)).type;
        if (is_alone || is_floating(other)) type = is_floating(other) ? other : dtype::float32;
        is_alone = false;
    }
    call_arguments out = given;
    if (is_alone) return out;
    for (value& each : out.positional) {
        if (!each.is_weak()) continue;
        std::optional<value> const number = values_.constant_of(each);
        if (!number || number->is() != kind::real) continue;
        each = value::of(kind::tensor, values_.tensor_of(*number, type));
    }
    return out;
}

} // namespace ATON_NAMESPACE::torchscript
