// SPDX-License-Identifier: MIT
#include "json_reader.hpp"

#include <limits>
#include <utility>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

/// Maximum memory of the parser in bytes; the 1 MB of ViT-B/16 needs less than 4 MB.
constexpr std::size_t max_memory = std::size_t{400} << 20U;
/// A nested graph adds eight levels.
constexpr std::size_t max_depth = 200;

std::string_view kind_of(simdjson::dom::element e) {
    switch (e.type()) {
    case simdjson::dom::element_type::ARRAY: return "a list";
    case simdjson::dom::element_type::OBJECT: return "an object";
    case simdjson::dom::element_type::INT64: return "an integer";
    case simdjson::dom::element_type::UINT64: return "an integer of more than 63 bits";
    case simdjson::dom::element_type::DOUBLE: return "a number";
    case simdjson::dom::element_type::STRING: return "a string";
    case simdjson::dom::element_type::BOOL: return "true or false";
    case simdjson::dom::element_type::NULL_VALUE: return "null";
    }
    return "something else";
}

std::string_view describe_error(simdjson::error_code code) {
    switch (code) {
    case simdjson::CAPACITY: return "is too large: reading it needs more than 400 MiB of memory";
    case simdjson::MEMALLOC: return "does not fit into memory";
    case simdjson::DEPTH_ERROR: return "is nested more than 200 levels deep";
    case simdjson::UTF8_ERROR: return "is not valid UTF-8";
    case simdjson::EMPTY: return "is empty";
    case simdjson::UNCLOSED_STRING: return "ends inside a string";
    case simdjson::UNESCAPED_CHARS: return "has a control character in a string";
    case simdjson::STRING_ERROR: return "has a malformed escape in a string";
    case simdjson::NUMBER_ERROR: return "has a malformed number, or an integer of more than 64 bits";
    default: return "is malformed or truncated";
    }
}

/// Memory that simdjson's DOM touches: two copies of the text (one for its strings), and for each token an index of 4 bytes and at
/// most 16 bytes of tape. Every second token is a separator.
std::size_t memory_needed(std::string_view text) {
    std::size_t tokens = 0;
    for (char c : text) tokens += c == ',' || c == ':' || c == '[' || c == '{' ? 1U : 0U;
    return 2 * text.size() + 24 * tokens;
}

simdjson::error_code parse_text(simdjson::dom::parser& parser, std::string_view text, simdjson::dom::element& root) {
    if (memory_needed(text) > max_memory) return simdjson::CAPACITY;
    if (text.empty()) return simdjson::EMPTY;
    if (auto const code = parser.allocate(text.size(), max_depth); code != simdjson::SUCCESS) return code;
    // Copies the text: the parser reads up to 64 bytes beyond it.
    return parser.parse(text.data(), text.size(), true).get(root);
}

} // namespace

std::string quote_bare_numbers(std::string_view json) {
    std::string out;
    std::size_t copied = 0;
    bool inside = false;
    for (std::size_t i = 0; i != json.size(); ++i) {
        char const c = json[i];
        if (c == '"') inside = !inside;
        if (inside && c == '\\' && i + 1 != json.size()) ++i;
        if (inside || (c != 'I' && c != 'N' && c != '-')) continue;
        for (std::string_view const token : {"-Infinity", "Infinity", "NaN"}) {
            if (!json.substr(i).starts_with(token)) continue;
            out.append(json.substr(copied, i - copied)).append("\"").append(token).append("\"");
            i += token.size() - 1;
            copied = i + 1;
            break;
        }
    }
    if (copied != 0) out.append(json.substr(copied));
    return out;
}

json_document::json_document(std::string_view text, std::string document_name, std::string_view advice) {
    place_.document = std::move(document_name);
    place_.advice = advice;
    simdjson::error_code code = parse_text(parser_, text, root_);
    bool const may_be_bare = code != simdjson::SUCCESS && code != simdjson::CAPACITY;
    // Python writes these tokens (torch 2.4 to 2.6), which simdjson refuses.
    if (std::string const quoted = may_be_bare ? quote_bare_numbers(text) : std::string(); !quoted.empty())
        code = parse_text(parser_, quoted, root_);
    if (code == simdjson::SUCCESS) return;
    std::string what = "the JSON ";
    what.append(describe_error(code)).append(advice);
    files::fail(place_.document, what);
}

void json_value::append_path(std::string& out) const {
    if (parent_ == nullptr) return;
    parent_->append_path(out);
    if (key_.empty()) {
        out.append("[").append(std::to_string(index_)).append("]");
        return;
    }
    if (!out.empty()) out += '.';
    std::string const quoted = files::in_quotes(key_);
    bool const plain = key_.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
                       std::string_view::npos;
    out += plain ? quoted.substr(1, quoted.size() - 2) : quoted;
}

void json_value::fail(std::string_view what) const {
    std::string path;
    append_path(path);
    std::string where = place_->document;
    if (!place_->node.empty()) where += ": node " + files::in_quotes(place_->node);
    if (!path.empty()) where += ": " + path;
    files::fail(where, what);
}

void json_value::fail_expected(std::string_view what) const {
    std::string message = "expected ";
    message.append(what).append(", found ").append(kind_of(element_)).append(place_->advice);
    fail(message);
}

std::string_view json_value::text() const {
    std::string_view out;
    if (element_.get(out) != simdjson::SUCCESS) fail_expected("a string");
    return out;
}

std::string_view json_value::name() const {
    std::string_view const out = text();
    if (out.empty()) fail("expected a name, found an empty string");
    for (char const c : out)
        if (static_cast<unsigned char>(c) < 0x20 || c == '\x7f')
            fail("expected a name, found " + files::in_quotes(out));
    return out;
}

std::int64_t json_value::integer() const {
    std::int64_t out = 0;
    if (!element_.is_int64() || element_.get(out) != simdjson::SUCCESS) fail_expected("an integer");
    return out;
}

double json_value::real() const {
    double out = 0;
    if (element_.get(out) == simdjson::SUCCESS) return out;
    std::string_view word;
    if (element_.get(word) == simdjson::SUCCESS) {
        if (word == "Infinity") return std::numeric_limits<double>::infinity();
        if (word == "-Infinity") return -std::numeric_limits<double>::infinity();
        if (word == "NaN") return std::numeric_limits<double>::quiet_NaN();
    }
    fail_expected(R"(a number, "Infinity", "-Infinity" or "NaN")");
}

bool json_value::boolean() const {
    bool out = false;
    if (element_.get(out) != simdjson::SUCCESS) fail_expected("true or false");
    return out;
}

simdjson::dom::array json_value::array() const {
    simdjson::dom::array out;
    if (element_.get(out) != simdjson::SUCCESS) fail_expected("a list");
    return out;
}

simdjson::dom::object json_value::object() const {
    simdjson::dom::object out;
    if (element_.get(out) != simdjson::SUCCESS) fail_expected("an object");
    return out;
}

std::size_t json_value::size() const { return element_.is_array() ? array().size() : object().size(); }

json_value json_value::member(std::string_view key) const& {
    simdjson::dom::element found;
    if (object().at_key(key).get(found) == simdjson::SUCCESS) return {found, *this, key, 0};
    std::string what = "has no member '";
    what.append(key).append("'").append(place_->advice);
    fail(what);
}

std::optional<json_value> json_value::optional_member(std::string_view key) const& {
    simdjson::dom::element found;
    if (object().at_key(key).get(found) != simdjson::SUCCESS || found.is_null()) return std::nullopt;
    return json_value(found, *this, key, 0);
}

json_value json_value::only_member() const& {
    simdjson::dom::object const all = object();
    if (all.size() != 1)
        fail("expected an object with one key, found " + std::to_string(all.size()) + " keys" +
             std::string(place_->advice));
    simdjson::dom::key_value_pair const only = *all.begin();
    return {only.value, *this, only.key, 0};
}

} // namespace ATON_NAMESPACE::pt2
