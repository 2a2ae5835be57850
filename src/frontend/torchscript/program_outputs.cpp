// SPDX-License-Identifier: MIT
#include "program_outputs.hpp"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace ATON_NAMESPACE::torchscript {

void add_output(value const& v, program_builder& build, program_values& values, code_position& at,
                std::string const& path, int depth) {
    at.spend(1);
    if (depth > 100) at.fail("the outputs are nested more than 100 levels deep");
    auto const below = [&](std::string const& name) { return path.empty() ? name : path + '.' + name; };
    auto const add = [&](program::argument a) { build.add_output(std::move(a), {program::output_kind::user, path}); };
    switch (v.is()) {
    case kind::none: break;
    case kind::tensor:
    case kind::weight: add(program::argument::of_tensor(values.tensor_of(v))); break;
    case kind::boolean:
    case kind::integer:
    case kind::real:
    case kind::symbol:
        if (v.is_number_as_tensor()) add(program::argument::of_tensor(values.tensor_of(v)));
        else add(program::argument::of_number(values.number_of(v)));
        break;
    case kind::list:
    case kind::tuple: {
        std::vector<std::string> names;
        if (v.list()->fields != nullptr)
            for (class_attribute const& each : v.list()->fields->attributes)
                if (each.type) names.push_back(each.name);
        for (std::size_t i = 0; i != v.list()->items.size(); ++i)
            add_output(v.list()->items[i],
                       build,
                       values,
                       at,
                       i < names.size() ? below(names[i])
                       : path.empty()   ? path
                                        : below(std::to_string(i)),
                       depth + 1);
        break;
    }
    case kind::dict:
        for (auto const& [key, each] : v.dict()->items)
            add_output(each, build, values, at, below(text_of(key)), depth + 1);
        break;
    default: at.fail("returns " + std::string(describe(v)) + ", which a graph cannot");
    }
}

} // namespace ATON_NAMESPACE::torchscript
