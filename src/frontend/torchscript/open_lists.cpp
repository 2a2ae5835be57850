// SPDX-License-Identifier: MIT
#include "open_lists.hpp"

namespace ATON_NAMESPACE::torchscript {

value open_lists::row_of(value const& rows, value const& index) {
    return caller_.call_operator("aten::select",
                                 {{value::of(kind::tensor, rows.computed()), value::of(std::int64_t{0}), index}, {}});
}

std::optional<value> open_lists::call_on_rows(std::string_view name, std::vector<value> const& x) {
    if (x.empty() || x[0].is() != kind::rows) return {};
    program::value_index const tensor = x[0].computed();
    if (name == "len" && x.size() == 1) return values_.size_value(tensor, 0);
    if (name != "stack" && name != "cat" && name != "concat") return {};
    std::optional<value> const given =
        x.size() > 1 ? values_.constant_of(x[1]) : std::optional(value::of(std::int64_t{0}));
    if (x.size() > 2 || !given || !given->integer()) return {};
    bool const stacks = name == "stack";
    auto const rank = static_cast<std::int64_t>(types_.type_of(tensor).sizes.size());
    if (!stacks && rank == 1) at_.fail("concatenates tensors without dimensions");
    std::int64_t const dim = position_in(at_, *given, static_cast<std::size_t>(stacks ? rank : rank - 1));
    value out = value::of(kind::tensor, tensor);
    if (dim != 0) out = caller_.call_operator("aten::movedim", {{out, value::of(std::int64_t{0}), value::of(dim)}, {}});
    if (!stacks) return caller_.call_operator("aten::flatten", {{out, value::of(dim), value::of(dim + 1)}, {}});
    return caller_.call_operator("aten::clone", {{out}, {}}); // a new tensor
}

std::optional<value> open_lists::unbind(call_arguments const& given) {
    if (given.positional.empty() || !given.positional[0].acts_as_tensor() || !given.named.empty()) return {};
    std::optional<value> const along = given.positional.size() > 1 ? values_.constant_of(given.positional[1])
                                                                   : std::optional(value::of(std::int64_t{0}));
    program::value_index tensor = values_.tensor_of(given.positional[0]);
    inferred_type const type = types_.type_of(tensor);
    if (!along || !along->integer() || !type.has_rank || type.sizes.empty()) return {};
    std::int64_t const dim = position_in(at_, *along, type.sizes.size());
    std::optional<program::extent> const size = type.sizes[static_cast<std::size_t>(dim)];
    if (size && size->is_number()) return {};
    if (dim != 0)
        tensor = values_.tensor_of(caller_.call_operator(
            "aten::movedim", {{value::of(kind::tensor, tensor), value::of(dim), value::of(std::int64_t{0})}, {}}));
    return value::of(kind::rows, tensor);
}

std::optional<value> open_lists::split(std::string_view op, call_arguments const& given) {
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

value open_lists::part_of(value const& parts, std::int64_t index) {
    std::vector<value> const held = parts.list()->items;
    auto const end_of = [&](std::int64_t i) { return values_.arithmetic("_operator.mul", {held[2], value::of(i)}); };
    return caller_.call_operator(
        "aten::slice", {{held[0], held[1], end_of(index), end_of(index + 1), value::of(std::int64_t{1})}, {}});
}

std::optional<std::vector<value>> open_lists::unpacked(value const& v, std::size_t count) {
    if (v.is() != kind::parts && v.is() != kind::rows) return {};
    std::vector<value> out;
    for (std::size_t i = 0; i != count; ++i) {
        auto const index = static_cast<std::int64_t>(i);
        out.push_back(v.is() == kind::rows ? row_of(v, value::of(index)) : part_of(v, index));
    }
    return out;
}

} // namespace ATON_NAMESPACE::torchscript
