// SPDX-License-Identifier: MIT
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "read_program_json.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

namespace dom = simdjson::dom;

/// Longer keys are not readable as names.
constexpr std::size_t max_key_length = 512;

struct path_step {
    std::string text;
    bool is_index = false;
};

/// An element of a context as a key: dicts have strings, but Python also allows numbers. False if it is not a scalar.
bool read_key(dom::element e, std::string& out) {
    std::string_view text;
    std::int64_t number = 0;
    if (e.get(text) == simdjson::SUCCESS) out = text;
    else if (e.get(number) == simdjson::SUCCESS) out = std::to_string(number);
    else return false;
    return true;
}

/// One scalar per child, or nothing.
std::vector<std::string> read_keys(dom::element list, std::size_t count) {
    std::vector<std::string> out;
    dom::array items;
    if (list.get(items) != simdjson::SUCCESS || items.size() != count) return {};
    for (dom::element const each : items)
        if (!read_key(each, out.emplace_back())) return {};
    return out;
}

class treespec_reader {
public:
    explicit treespec_reader(std::optional<json_value> const& namedtuples) {
        if (!namedtuples) return;
        namedtuples->for_each_member([&](json_value const& each) { namedtuples_.emplace(each.key(), each); });
    }

    /// False if it is not a treespec of version 1.
    bool read(std::string_view treespec) {
        dom::element root;
        dom::array pair;
        std::int64_t version = 0;
        if (parser_.parse(treespec.data(), treespec.size(), true).get(root) != simdjson::SUCCESS) return false;
        if (root.get(pair) != simdjson::SUCCESS || pair.size() != 2) return false;
        if (pair.at(0).get(version) != simdjson::SUCCESS || version != 1) return false;
        std::vector<path_step> path;
        return visit(pair.at(1).value_unsafe(), path, 0);
    }

    /// Without leading indices if the keys remain distinct.
    [[nodiscard]] std::vector<std::string> keys() const {
        std::unordered_set<std::string> seen;
        bool distinct = true;
        for (std::string const& each : short_)
            if (!each.empty()) distinct = seen.insert(each).second && distinct;
        return distinct ? short_ : long_;
    }

    [[nodiscard]] std::vector<std::vector<std::string>> const& paths() const { return paths_; }

private:
    bool visit(dom::element node, std::vector<path_step>& path, int depth) {
        dom::object spec;
        dom::element type;
        dom::array children;
        if (depth > 100 || node.get(spec) != simdjson::SUCCESS) return false;
        if (spec["type"].get(type) != simdjson::SUCCESS) return false;
        if (type.is_null()) {
            add_leaf(path);
            return true;
        }
        if (spec["children_spec"].get(children) != simdjson::SUCCESS) return false;
        std::vector<std::string> keys = child_keys(type, spec, children.size());
        std::size_t i = 0;
        for (dom::element const child : children) {
            path.push_back(keys.empty() ? path_step{std::to_string(i), true} : path_step{std::move(keys[i]), false});
            if (!visit(child, path, depth + 1)) return false;
            path.pop_back();
            ++i;
        }
        return true;
    }

    /// Nothing if the children are identified by index.
    std::vector<std::string> child_keys(dom::element type, dom::object spec, std::size_t count) {
        std::string_view type_name;
        std::string_view context;
        dom::element held;
        if (spec["context"].get(held) != simdjson::SUCCESS || type.get(type_name) != simdjson::SUCCESS) return {};
        dom::element inner; // collections.defaultdict: an object, not a string
        if (held.is_object() && held["dict_context"].get(inner) == simdjson::SUCCESS) return read_keys(inner, count);
        if (held.get(context) != simdjson::SUCCESS) return {};
        if (type_name == "collections.namedtuple") return field_names(context, count);
        if (contexts_.parse(context.data(), context.size(), true).get(inner) != simdjson::SUCCESS) return {};
        std::vector<std::string> keys = read_keys(inner, count);
        if (!keys.empty()) return keys;
        dom::array fields; // a dataclass: [names, names of fields that are None]
        if (inner.get(fields) != simdjson::SUCCESS || fields.size() != 2) return {};
        return read_keys(fields.at(0).value_unsafe(), count);
    }

    [[nodiscard]] std::vector<std::string> field_names(std::string_view type, std::size_t count) const {
        auto const known = namedtuples_.find(type);
        std::vector<std::string> out;
        if (known == namedtuples_.end()) return out;
        json_value const names = known->second.member("field_names");
        names.for_each([&](json_value const& each, std::size_t) { out.emplace_back(each.text()); });
        if (out.size() != count) out.clear();
        return out;
    }

    void add_leaf(std::vector<path_step> const& path) {
        std::vector<std::string>& steps = paths_.emplace_back();
        for (path_step const& each : path) steps.push_back(each.text);
        std::string all;
        std::string without_indices;
        bool any_key = false;
        for (path_step const& each : path) {
            any_key = any_key || !each.is_index;
            if (all.size() + each.text.size() > max_key_length) any_key = false, all.clear();
            (all += all.empty() ? "" : ".") += each.text;
            if (any_key) (without_indices += without_indices.empty() ? "" : ".") += each.text;
        }
        long_.push_back(any_key ? all : std::string());
        short_.push_back(any_key ? without_indices : std::string());
    }

    std::unordered_map<std::string_view, json_value> namedtuples_; ///< field names by type name
    dom::parser parser_;
    dom::parser contexts_;
    std::vector<std::vector<std::string>> paths_;
    std::vector<std::string> long_;
    std::vector<std::string> short_;
};

} // namespace

std::vector<std::string> read_output_keys(std::string_view treespec, json_value const& module) {
    std::optional<json_value> const namedtuples = module.optional_member("treespec_namedtuple_fields");
    treespec_reader reader(namedtuples);
    return reader.read(treespec) ? reader.keys() : std::vector<std::string>{};
}

std::vector<std::vector<std::string>> read_leaf_paths(std::string_view treespec, json_value const& module) {
    std::optional<json_value> const namedtuples = module.optional_member("treespec_namedtuple_fields");
    treespec_reader reader(namedtuples);
    if (!reader.read(treespec)) return {};
    return reader.paths();
}

} // namespace ATON_NAMESPACE::pt2
