// SPDX-License-Identifier: MIT
// JSON values that know their position: every access is checked, and errors name the file, the node and the path of keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <simdjson.h>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::pt2 {

/// The end of messages about an archive whose JSON is not as expected.
inline constexpr std::string_view damaged_archive = "; the file is damaged or was not written by torch.export.save";

/// The prefix of messages about a document, in front of the path, and their end.
struct json_place {
    std::string document;  ///< "model.pt2: models/model.json"
    std::string_view node; ///< the node that is being read, if any
    std::string_view advice =
        damaged_archive; ///< if the document is malformed, or a value has another type than expected
};

/// A value inside a document. Its ancestors must outlive it: they form its path.
class json_value {
public:
    json_value(simdjson::dom::element element, json_place const& place) : element_(element), place_(&place) {}

    /// Throws aton::error: "model.pt2: node 'add': graph.nodes[0].inputs[1]: what".
    [[noreturn]] void fail(std::string_view what) const;

    [[nodiscard]] bool is_null() const { return element_.is_null(); }
    [[nodiscard]] bool is_text() const { return element_.is_string(); }
    [[nodiscard]] bool is_array() const { return element_.is_array(); }
    [[nodiscard]] bool is_object() const { return element_.is_object(); }
    [[nodiscard]] bool is_boolean() const { return element_.is_bool(); }
    [[nodiscard]] bool is_integer() const { return element_.is_int64(); }

    [[nodiscard]] std::string_view text() const;
    /// A string that is used as a name in messages and files: not empty, without control characters.
    [[nodiscard]] std::string_view name() const;
    [[nodiscard]] std::int64_t integer() const;
    /// A number, or one of "Infinity", "-Infinity", "NaN".
    [[nodiscard]] double real() const;
    [[nodiscard]] bool boolean() const;

    /// A required member. Linear in the number of keys.
    [[nodiscard]] json_value member(std::string_view key) const&;
    [[nodiscard]] json_value member(std::string_view key) const&& = delete;
    /// Nothing if the member is missing or null.
    [[nodiscard]] std::optional<json_value> optional_member(std::string_view key) const&;
    [[nodiscard]] std::optional<json_value> optional_member(std::string_view key) const&& = delete;

    /// The only member of a union; its key is the tag.
    [[nodiscard]] json_value only_member() const&;
    [[nodiscard]] json_value only_member() const&& = delete;
    /// The last key of the path.
    [[nodiscard]] std::string_view key() const { return key_; }

    [[nodiscard]] std::size_t size() const;
    /// Calls visit(json_value, index) for every element of an array.
    template <typename Visit>
    void for_each(Visit visit) const {
        std::size_t index = 0;
        for (simdjson::dom::element const each : array()) {
            visit(json_value(each, *this, {}, index), index);
            ++index;
        }
    }
    /// Calls visit(json_value) for every member of an object, in its order.
    template <typename Visit>
    void for_each_member(Visit visit) const {
        for (simdjson::dom::key_value_pair const each : object()) visit(json_value(each.value, *this, each.key, 0));
    }

private:
    json_value(simdjson::dom::element element, json_value const& parent, std::string_view key, std::size_t index)
        : element_(element),
          place_(parent.place_),
          parent_(&parent),
          key_(key),
          index_(index) {}

    [[nodiscard]] simdjson::dom::array array() const;
    [[nodiscard]] simdjson::dom::object object() const;
    [[noreturn]] void fail_expected(std::string_view what) const;
    void append_path(std::string& out) const;

    simdjson::dom::element element_;
    json_place const* place_;
    json_value const* parent_ = nullptr;
    std::string_view key_{}; ///< if empty, `index_` is used
    std::size_t index_ = 0;
};

/// A parsed document. Strings returned by its values are valid as long as the document.
class json_document {
public:
    /// Throws aton::error if the text is not JSON, too large, or nested too deeply. Bare Infinity and NaN are read as strings.
    json_document(std::string_view text, std::string document_name, std::string_view advice = damaged_archive);
    json_document(json_document const&) = delete;
    json_document& operator=(json_document const&) = delete;

    [[nodiscard]] json_value root() const { return {root_, place_}; }
    [[nodiscard]] json_place& place() { return place_; }

private:
    simdjson::dom::parser parser_;
    simdjson::dom::element root_;
    json_place place_;
};

/// Puts quotes around Infinity, -Infinity and NaN outside of strings. Returns an empty string if there are none.
[[nodiscard]] std::string quote_bare_numbers(std::string_view json);

} // namespace ATON_NAMESPACE::pt2
