// SPDX-License-Identifier: MIT
// chunk and split along a dynamic dimension: a list of as many parts as the model decides. An unpacking into k variables, or a constant
// index, says which of them are asked for.
#include "frontend/files/text.hpp"
#include "interpreter.hpp"

namespace ATON_NAMESPACE::torchscript {

/// The parts of a tensor along a dimension of dynamic size; nothing if the size, and so their number, is known.
std::optional<value> interpreter::open_parts(std::string_view op, call_arguments const& given) {
    std::vector<value> const& x = given.positional;
    if ((op != "aten::chunk" && op != "aten::split") || x.size() < 2 || !x[0].acts_as_tensor() || !given.named.empty())
        return {};
    if (!x[1].is_any_number()) return {}; // a list of sizes
    value const dim = x.size() > 2 ? x[2] : value::of(std::int64_t{0});
    inferred_type const type = types_.type_of(values_.tensor_of(x[0]));
    if (!dim.integer() || !type.has_rank || type.sizes.empty()) return {};
    std::int64_t const axis = position_in(at_, dim, type.sizes.size());
    value const size = values_.size_value(values_.tensor_of(x[0]), static_cast<std::size_t>(axis));
    if (size.is() != kind::symbol) return {};
    value step = x[1];
    if (op == "aten::chunk") { // the size of all chunks but the last: size / count, rounded up
        value const more = values_.arithmetic("_operator.sub", {x[1], value::of(std::int64_t{1})});
        step = values_.arithmetic("_operator.floordiv", {values_.arithmetic("_operator.add", {size, more}), x[1]});
    }
    return value::of(kind::parts, heap_.tuple({x[0], value::of(axis), step}).list());
}

/// One of the parts: the slice from index * step to (index + 1) * step.
value interpreter::part_of(value const& parts, std::int64_t index) {
    std::vector<value> const held = parts.list()->items;
    auto const end_of = [&](std::int64_t i) { return values_.arithmetic("_operator.mul", {held[2], value::of(i)}); };
    return call_operator("aten::slice",
                         {{held[0], held[1], end_of(index), end_of(index + 1), value::of(std::int64_t{1})}, {}});
}

/// The items that an unpacking into `count` variables gets, if the model decides how many there are; torch raises an exception if there are
/// more or less.
std::optional<std::vector<value>> interpreter::unpacked(value const& v, std::size_t count) {
    if (v.is() != kind::parts && v.is() != kind::rows) return {};
    std::vector<value> out;
    for (std::size_t i = 0; i != count; ++i) {
        auto const index = static_cast<std::int64_t>(i);
        out.push_back(v.is() == kind::rows ? row_of(v, value::of(index)) : part_of(v, index));
    }
    return out;
}

} // namespace ATON_NAMESPACE::torchscript
