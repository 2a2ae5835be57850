// SPDX-License-Identifier: MIT
#include "hostile_json.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "../changed_bytes.hpp"
#include "../runtime/changed_graph.hpp"

namespace aton::tests {

namespace {

using random = std::mt19937_64;

template <class List>
auto const& one_of(List const& list, random& rng) {
    return list[up_to<std::size_t>(rng, std::size(list) - 1)];
}

/// A part of the text.
struct span {
    std::size_t first = 0;
    std::size_t last = 0;
};

/// Every value of `key` that is a number, a name, or a string without escapes.
std::vector<span> values_of(std::string const& json, std::string_view key) {
    std::vector<span> out;
    for (std::size_t at = json.find(key); at != std::string::npos; at = json.find(key, at + 1)) {
        std::size_t const first = at + key.size();
        std::size_t const last = json.find_first_of(",]}", first);
        if (last != std::string::npos) out.push_back({first, last});
    }
    return out;
}

void replace_one(std::string& json, std::string_view key, std::string const& by, random& rng) {
    std::vector<span> const all = values_of(json, key);
    if (all.empty()) return;
    span const s = one_of(all, rng);
    json.replace(s.first, s.last - s.first, by);
}

void replace_all(std::string& json, std::string const& from, std::string const& to) {
    for (std::size_t at = json.find(from); at != std::string::npos; at = json.find(from, at + to.size()))
        json.replace(at, from.size(), to);
}

/// The names of values, each in quotes.
std::vector<std::string> names_in(std::string const& json) {
    std::vector<std::string> out;
    for (span const s : values_of(json, R"("name": )")) {
        std::string const name = json.substr(s.first, s.last - s.first);
        if (name.size() > 2 && (name[1] == 't' || name[1] == 'n')) out.push_back(name);
    }
    return out;
}

void rename(std::string& json, random& rng) {
    static std::string const odd[] = {R"("")",
                                      R"("a b")",
                                      R"("\u0000")",
                                      R"("\n")",
                                      R"("\u00e9\ud83d\ude00")",
                                      R"("a/b::c%d{}")",
                                      R"("..")",
                                      R"("\"")",
                                      R"("0")",
                                      '"' + std::string(3000, 'n') + '"'};
    std::vector<std::string> const names = names_in(json);
    if (!names.empty()) replace_all(json, one_of(names, rng), one_of(odd, rng));
}

/// Replaces a reference to a value by another one, which may be defined later or not at all.
void redirect(std::string& json, random& rng) {
    std::vector<std::string> const names = names_in(json);
    if (names.empty()) return;
    std::string const by = up_to(rng, 7) == 0 ? R"("nowhere")" : one_of(names, rng);
    replace_one(json, R"({"name": )", by, rng);
}

void change_kind(std::string& json, random& rng) {
    static constexpr std::string_view tags[] = {"as_int",
                                                "as_float",
                                                "as_bool",
                                                "as_none",
                                                "as_string",
                                                "as_ints",
                                                "as_floats",
                                                "as_bools",
                                                "as_sym_ints",
                                                "as_sym_int",
                                                "as_sym_float",
                                                "as_sym_bool",
                                                "as_tensor",
                                                "as_tensors",
                                                "as_optional_tensors",
                                                "as_nested_tensors",
                                                "as_name",
                                                "as_expr",
                                                "as_scalar_type",
                                                "as_graph",
                                                "as_custom_obj",
                                                "as_complex"};
    std::vector<std::size_t> places;
    for (std::size_t at = json.find("\"as_"); at != std::string::npos; at = json.find("\"as_", at + 1))
        places.push_back(at + 1);
    if (places.empty()) return;
    std::size_t const at = one_of(places, rng);
    json.replace(at, json.find('"', at) - at, one_of(tags, rng));
}

void change_number(std::string& json, random& rng) {
    static constexpr std::string_view keys[] = {R"("as_int": )",
                                                R"("as_int": )",
                                                R"("as_int": )",
                                                R"("dtype": )",
                                                R"("min_val": )",
                                                R"("max_val": )",
                                                R"("layout": )"};
    std::string_view const key = one_of(keys, rng);
    bool const is_text = up_to(rng, 9) == 0;
    replace_one(json, key, is_text ? std::string("null") : std::to_string(strange_integer(rng)), rng);
}

/// Duplicates or removes the last element of a list.
void change_length(std::string& json, random& rng) {
    std::vector<std::size_t> places;
    for (std::size_t at = json.find(", "); at != std::string::npos; at = json.find(", ", at + 1)) places.push_back(at);
    if (places.empty()) return;
    std::size_t const at = one_of(places, rng);
    std::size_t const last = json.find_first_of(",[]{}", at + 1);
    if (last == std::string::npos || json[last] != ']') return;
    if (up_to(rng, 1) == 0) json.erase(at, last - at);
    else json.insert(last, json.substr(at, last - at));
}

} // namespace

void change_json(std::string& json, std::mt19937_64& rng) {
    for (int n = up_to(rng, 1); n >= 0; --n) {
        switch (up_to(rng, 7)) {
        case 0: rename(json, rng); break;
        case 1:
        case 2: redirect(json, rng); break;
        case 3: change_kind(json, rng); break;
        case 4: change_length(json, rng); break;
        default: change_number(json, rng);
        }
    }
}

} // namespace aton::tests
