// SPDX-License-Identifier: MIT
// Writes calls of ATen's operators into a program: what a weight of a class stands for.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/aten/schema_table.hpp>
#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::pt2 {

/// Values are written as indices; the results of the calls have no recorded types.
class call_writer {
public:
    using value = program::value_index;

    /// Nodes are added to `to`, with the origin of `user`. Names start with `name`.
    call_writer(program::program& in, std::vector<program::node>& to, std::uint32_t origin, std::string name)
        : program_(in),
          to_(to),
          origin_(origin),
          name_(std::move(name)) {}

    /// The first argument is the tensor.
    value call(std::string_view op, value x, std::vector<program::argument> more = {}) {
        std::vector<program::argument> all = {program::argument::of_tensor(program::value_ref(x))};
        for (program::argument& each : more) all.push_back(std::move(each));
        return write(op, std::move(all));
    }
    value call(std::string_view op, value x, double number) {
        return call(op, x, {program::argument::of_number(number)});
    }
    value call(std::string_view op, value x, value y) {
        return call(op, x, {program::argument::of_tensor(program::value_ref(y))});
    }
    /// An operator of integers and an integer.
    value integers(std::string_view op, value x, std::int64_t number) {
        return call(op, x, {program::argument::of_number(number)});
    }
    value cast(value x, dtype to) { return call("aten::to.dtype", x, {program::argument::of_type(to)}); }
    value reshape(value x, std::vector<std::int64_t> const& sizes) {
        return call("aten::reshape", x, {program::argument::of_numbers({sizes.begin(), sizes.end()})});
    }
    value permute(value x, std::vector<std::int64_t> const& dims) {
        return call("aten::permute", x, {program::argument::of_numbers({dims.begin(), dims.end()})});
    }
    /// The first `count` along a dimension.
    value first(value x, std::int64_t dim, std::int64_t count) {
        return call("aten::slice.Tensor",
                    x,
                    {program::argument::of_number(dim),
                     program::argument::of_number(std::int64_t{0}),
                     program::argument::of_number(count)});
    }
    /// aten::stack or aten::cat along a dimension.
    value join(std::string_view op, std::initializer_list<value> parts, std::int64_t dim) {
        std::vector<program::value_ref> all(parts.begin(), parts.end());
        return write(op, {program::argument::of_tensors(std::move(all)), program::argument::of_number(dim)});
    }
    /// x where the condition holds, else y.
    value choose(value condition, value x, value y) {
        return call(
            "aten::where.self",
            condition,
            {program::argument::of_tensor(program::value_ref(x)), program::argument::of_tensor(program::value_ref(y))});
    }

private:
    value write(std::string_view op, std::vector<program::argument> arguments) {
        program::node made;
        made.op = op;
        made.schema = aten::find_schema(op);
        aten::argument_cursor names{made.schema};
        for (program::argument& each : arguments) {
            aten::schema_argument declared;
            if (names.next(declared)) made.arguments.push_back(std::move(each).named(std::string(declared.name)));
        }
        made.origin = origin_;
        auto const out = static_cast<value>(program_.values.size());
        program::value& result = program_.values.emplace_back();
        result.name = name_ + "_" + std::to_string(program_.values.size());
        made.name = result.name;
        made.results.push_back({{out}, false});
        to_.push_back(std::move(made));
        return out;
    }

    program::program& program_;
    std::vector<program::node>& to_;
    std::uint32_t origin_;
    std::string name_;
};

} // namespace ATON_NAMESPACE::pt2
