// SPDX-License-Identifier: MIT
#include "name_weights.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ATON_NAMESPACE::torchscript {

namespace {

bool lists_name(class_code const& type, std::string_view list, std::string_view name) {
    for (class_attribute const& each : type.attributes)
        if (each.name == list && each.value)
            for (expr const& item : each.value->items)
                if (item.text == name) return true;
    return false;
}

} // namespace

void name_weights(value const& module, library& code, heap& in, code_position const& at) {
    std::set<void const*> seen;
    struct place {
        value held;
        std::string path;
        program::input_kind role = program::input_kind::buffer;
    };
    std::vector<place> left{{module, {}}};
    while (!left.empty()) {
        place const now = std::move(left.back());
        left.pop_back();
        std::vector<place> inner;
        auto const below = [&](std::string const& name) { return now.path.empty() ? name : now.path + '.' + name; };
        if (now.path.size() > 4000) at.fail("the modules are nested too deeply");
        switch (now.held.is()) {
        case kind::weight: {
            weight& w = in.weights[now.held.weight()];
            if (w.name.empty()) {
                w.name = now.path;
                w.role = now.role;
            }
            break;
        }
        case kind::object: {
            instance& object = *now.held.object();
            if (!seen.insert(&object).second) break;
            object.path = now.path;
            object.type = code.find_class(object.class_name);
            for (auto const& [name, each] : object.attributes) {
                bool const is_parameter = object.type != nullptr && lists_name(*object.type, "__parameters__", name);
                inner.push_back(
                    {each, below(name), is_parameter ? program::input_kind::parameter : program::input_kind::buffer});
            }
            break;
        }
        case kind::list:
        case kind::tuple:
            if (!seen.insert(now.held.list()).second) break;
            for (std::size_t i = 0; i != now.held.list()->items.size(); ++i)
                inner.push_back({now.held.list()->items[i], below(std::to_string(i)), now.role});
            break;
        case kind::dict:
            if (!seen.insert(now.held.dict()).second) break;
            for (auto const& [key, each] : now.held.dict()->items)
                inner.push_back({each, below(text_of(key)), now.role});
            break;
        default: break;
        }
        std::move(inner.rbegin(), inner.rend(), std::back_inserter(left)); // in their order
    }
}

} // namespace ATON_NAMESPACE::torchscript
