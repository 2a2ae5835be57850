// SPDX-License-Identifier: MIT
// JSON that a test can change anywhere, also into documents that no writer produces: duplicate keys, numbers of the wrong kind.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <simdjson.h>

namespace aton::tests {

struct json_tree {
    char kind = 'v';               ///< 'o' object, 'a' array, 's' string, 'n' number, 'v' other
    std::string text;              ///< the JSON of a scalar
    std::vector<std::string> keys; ///< of objects, one per value
    std::vector<json_tree> values;
};

/// Appends to an object, even if the key exists, or to an array if the key is empty.
inline void add(json_tree& to, std::string_view key, json_tree value) {
    if (to.kind == 'o') to.keys.emplace_back(key);
    to.values.push_back(std::move(value));
}

/// Removes the value at an index of an object or array.
inline void drop(json_tree& from, std::size_t place) {
    if (from.kind == 'o') from.keys.erase(from.keys.begin() + static_cast<std::ptrdiff_t>(place));
    from.values.erase(from.values.begin() + static_cast<std::ptrdiff_t>(place));
}

/// Removes a key of an object, if it exists.
inline void drop(json_tree& from, std::string_view key) {
    for (std::size_t i = from.keys.size(); i-- != 0;)
        if (from.keys[i] == key) drop(from, i);
}

inline std::string in_json(std::string_view text) {
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') (out += '\\') += c;
        else if (c == '\n') out += "\\n";
        else out += c;
    }
    out += '"';
    return out;
}

inline json_tree make_tree(simdjson::dom::element e) {
    json_tree out;
    if (simdjson::dom::object o; e.get(o) == simdjson::SUCCESS) {
        out.kind = 'o';
        for (auto const [key, value] : o) add(out, key, make_tree(value));
    } else if (simdjson::dom::array a; e.get(a) == simdjson::SUCCESS) {
        out.kind = 'a';
        for (auto const each : a) add(out, {}, make_tree(each));
    } else if (std::string_view s; e.get(s) == simdjson::SUCCESS) {
        out.kind = 's';
        out.text = in_json(s);
    } else {
        out.kind = e.is_number() ? 'n' : 'v';
        out.text = simdjson::to_string(e);
    }
    return out;
}

inline json_tree parse_tree(std::string_view json) {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    REQUIRE(parser.parse(json.data(), json.size(), true).get(root) == simdjson::SUCCESS);
    return make_tree(root);
}

inline void print_tree(json_tree const& t, std::string& out) {
    if (t.kind != 'o' && t.kind != 'a') {
        out += t.text;
        return;
    }
    out += t.kind == 'o' ? '{' : '[';
    for (std::size_t i = 0; i != t.values.size(); ++i) {
        if (i != 0) out += ", ";
        if (t.kind == 'o') (out += in_json(t.keys[i])) += ": ";
        print_tree(t.values[i], out);
    }
    out += t.kind == 'o' ? '}' : ']';
}

inline std::string print_tree(json_tree const& t) {
    std::string out;
    print_tree(t, out);
    return out;
}

/// Calls visit(value, path) for every value below `t`; `path` looks like "graph.nodes[3].name", as in messages.
/// visit() may change the value if it restores it.
template <typename Visit>
void for_each_value(json_tree& t, std::string const& path, Visit visit) {
    for (std::size_t i = 0; i != t.values.size(); ++i) {
        std::string inner = path;
        if (t.kind == 'a') inner.append("[").append(std::to_string(i)).append("]");
        else inner.append(path.empty() ? "" : ".").append(t.keys[i]);
        visit(t.values[i], inner);
        for_each_value(t.values[i], inner, visit);
    }
}

/// The value at a path of for_each_value().
inline json_tree& at_path(json_tree& t, std::string_view wanted) {
    json_tree* found = nullptr;
    for_each_value(t, "", [&](json_tree& each, std::string const& path) {
        if (path == wanted) found = &each;
    });
    REQUIRE_MESSAGE(found != nullptr, std::string(wanted));
    return *found;
}

} // namespace aton::tests
