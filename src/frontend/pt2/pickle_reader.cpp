// SPDX-License-Identifier: MIT
#include "pickle_reader.hpp"

#include <algorithm>
#include <bit>

#include "frontend/files/text.hpp"
#include "pickle_machine.hpp"

namespace ATON_NAMESPACE::pt2 {

pickled_tensors::pickled_tensors(std::string_view pickle, std::string where) : data_(pickle, std::move(where)) {
    entries_ = pickle_machine(data_).run_dict();
    std::sort(entries_.begin(), entries_.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
    auto const duplicate = std::adjacent_find(
        entries_.begin(), entries_.end(), [](auto const& a, auto const& b) { return a.first == b.first; });
    if (duplicate != entries_.end()) files::fail(data_.where, "duplicate key " + files::in_quotes(duplicate->first));
}

std::vector<std::string_view> pickled_tensors::names() const {
    std::vector<std::string_view> out;
    out.reserve(entries_.size());
    for (auto const& e : entries_) out.push_back(e.first);
    return out;
}

std::optional<pickled_tensor> pickled_tensors::find(std::string_view name) const {
    auto const found = std::lower_bound(
        entries_.begin(), entries_.end(), name, [](auto const& entry, std::string_view n) { return entry.first < n; });
    if (found == entries_.end() || found->first != name) return std::nullopt;
    if (found->second.is != pickle_data::kind::tensor)
        files::fail(data_.where, files::in_quotes(name) + " is not a tensor");
    return data_.tensor_of(found->second, name);
}

pickled_subclass::pickled_subclass(std::string_view pickle, std::string where)
    : data_(pickle, std::move(where)),
      root_(pickle_machine(data_).run_object()) {}

std::optional<pickle_data::value> pickled_subclass::member(pickle_data::value of, std::string_view name) const {
    if (of.is != pickle_data::kind::subclass && of.is != pickle_data::kind::object) return std::nullopt;
    pickle_data::object const& object = data_.objects[static_cast<std::size_t>(of.number)];
    if (name == "0") {
        if (object.arguments.is != pickle_data::kind::tuple || object.arguments.length == 0) return std::nullopt;
        return data_.items_of(object.arguments)[0];
    }
    if (object.state.is != pickle_data::kind::dict) return std::nullopt;
    std::vector<pickle_data::value> const& all = data_.containers[static_cast<std::size_t>(object.state.number)];
    std::optional<pickle_data::value> out; // of a name that is set twice, the last
    for (std::size_t i = 0; i + 1 < all.size(); i += 2)
        if (all[i].is == pickle_data::kind::text && data_.text(all[i]) == name) out = all[i + 1];
    return out;
}

std::optional<pickled_attribute> pickled_subclass::find(std::string_view path) const {
    pickle_data::value at = root_;
    for (std::string_view rest = path;;) {
        std::size_t const dot = std::min(rest.find('.'), rest.size());
        std::optional<pickle_data::value> const found = member(at, rest.substr(0, dot));
        if (!found) return std::nullopt;
        at = *found;
        if (dot == rest.size()) return describe(at, path);
        rest.remove_prefix(dot + 1);
    }
}

pickled_attribute pickled_subclass::describe(pickle_data::value v, std::string_view path) const {
    using is = pickled_attribute::kind;
    pickled_attribute out;
    auto const list_numbers = [&](auto const& items) {
        out.is = is::numbers;
        for (pickle_data::value const& each : items) {
            if (each.is != pickle_data::kind::number) out.is = is::object;
            out.numbers.push_back(each.number);
        }
    };
    switch (v.is) {
    case pickle_data::kind::none: break;
    case pickle_data::kind::boolean:
    case pickle_data::kind::number:
        out.is = v.is == pickle_data::kind::boolean ? is::boolean : is::number;
        out.number = v.number;
        break;
    case pickle_data::kind::real:
        out.is = is::real;
        out.real = std::bit_cast<double>(v.number);
        break;
    case pickle_data::kind::text:
        out.is = is::text;
        out.text = data_.text(v);
        break;
    case pickle_data::kind::tuple: list_numbers(data_.items_of(v)); break;
    case pickle_data::kind::list: list_numbers(data_.containers[static_cast<std::size_t>(v.number)]); break;
    case pickle_data::kind::global:
        out.is = is::text;
        out.text = name_of(data_.globals[static_cast<std::size_t>(v.number)]);
        break;
    case pickle_data::kind::tensor:
        out.is = is::tensor;
        out.tensor = data_.tensor_of(v, path);
        break;
    case pickle_data::kind::subclass:
    case pickle_data::kind::object:
        out.is = is::object;
        out.text = name_of(data_.objects[static_cast<std::size_t>(v.number)].type);
        break;
    case pickle_data::kind::dict:
    case pickle_data::kind::storage:
    case pickle_data::kind::mark: out.is = is::object; break;
    }
    return out;
}

} // namespace ATON_NAMESPACE::pt2
