// SPDX-License-Identifier: MIT
#include "attribute_lookup.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::torchscript {

using files::in_quotes;

value attribute_lookup::attribute_of(value const& v, std::string const& name) {
    switch (v.is()) {
    case kind::path: return resolve_path(v.name() + '.' + name);
    case kind::type: return resolve_path(v.type()->qualified + '.' + name);
    case kind::object: {
        instance const& object = *v.object();
        if (auto const found = object.attributes.find(name); found != object.attributes.end()) return found->second;
        if (object.type != nullptr) {
            for (function_code const& f : object.type->methods)
                if (f.name == name) return value::of(&f, v.object());
            for (class_attribute const& each : object.type->attributes)
                if (each.name == name && each.value) return runner_.evaluate(*each.value);
        }
        at_.fail("an object of " + in_quotes(object.class_name) + " has no attribute " + in_quotes(name));
    }
    case kind::tuple:
        if (v.list()->fields != nullptr) {
            std::size_t i = 0;
            for (class_attribute const& each : v.list()->fields->attributes) {
                if (!each.type) continue;
                if (each.name == name && i < v.list()->items.size()) return v.list()->items[i];
                ++i;
            }
        }
        break;
    case kind::text:
        if (std::optional<value> out = attribute_of_member(*v.text(), name)) return *std::move(out);
        break;
    default: break;
    }
    at_.fail(std::string(describe(v)) + " has no attribute " + in_quotes(name));
}

std::optional<value> attribute_lookup::attribute_of_member(std::string const& member, std::string const& name) {
    for (std::size_t dot = member.find('.'); dot != std::string::npos; dot = member.find('.', dot + 1)) {
        class_code const* const type = code_.find_class(std::string_view(member).substr(0, dot));
        if (type == nullptr || type->base != "Enum") continue;
        for (class_attribute const& each : type->attributes) {
            if (!each.value) continue;
            value const held = runner_.evaluate(*each.value);
            if (text_of(constant_in(at_, held, "the value of an enumeration")) != member.substr(dot + 1)) continue;
            if (name == "value") return held;
            if (name == "name") return value::of(kind::text, each.name);
        }
    }
    return {};
}

value attribute_lookup::resolve_path(std::string path) {
    if (path.starts_with("CONSTANTS.c")) {
        std::size_t index = 0;
        for (char const c : path.substr(11)) {
            if (c < '0' || c > '9' || index > 100'000'000) at_.fail("unknown constant " + in_quotes(path));
            index = index * 10 + static_cast<std::size_t>(c - '0');
        }
        if (constants_.is() != kind::tuple || index >= constants_.list()->items.size() || path.size() == 11)
            at_.fail("the archive has no constant " + in_quotes(path));
        value out = constants_.list()->items[index];
        if (out.is() == kind::weight) {
            stored_tensor const& t = heap_.weights[out.weight()].data;
            if (t.sizes.empty() && (t.type == dtype::float64 || t.type == dtype::int64)) return out.as_weak();
        }
        return out;
    }
    if (path.starts_with("__torch__.")) {
        if (function_code const* const f = code_.find_function(path)) return value::of(f);
        if (class_code const* const c = code_.find_class(path)) return value::of(c);
        // A member of an enumeration is a string, as in data.pkl.
        std::size_t const dot = path.rfind('.');
        class_code const* const owner = code_.find_class(path.substr(0, dot));
        if (owner != nullptr)
            for (class_attribute const& each : owner->attributes)
                if (each.value && each.name == path.substr(dot + 1))
                    return value::of(
                        kind::text,
                        owner->qualified + '.' +
                            text_of(constant_in(at_, runner_.evaluate(*each.value), "the value of an enumeration")));
    }
    return value::of(kind::path, std::move(path));
}

} // namespace ATON_NAMESPACE::torchscript
