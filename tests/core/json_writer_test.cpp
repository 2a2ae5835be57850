// SPDX-License-Identifier: MIT
// JSON as Aton writes it: its layout, and that simdjson reads back what was written, whatever the strings contain.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <simdjson.h>

#include <aton/core/json_writer.hpp>

using namespace aton;

namespace {

/// What simdjson reads of a string literal.
std::string read_back(std::string const& literal) {
    simdjson::dom::parser parser;
    std::string_view const text = parser.parse(simdjson::padded_string("[" + literal + "]")).at(0).get_string();
    return std::string(text);
}

std::string const replacement = "\xEF\xBF\xBD";

} // namespace

TEST_CASE("a string is read back as it was, with every character of ASCII and of each length in UTF-8") {
    std::string ascii;
    for (char c = 0; c != 0x7f; ++c) ascii += c;
    ascii += '\x7f';
    for (std::string const& each : {ascii,
                                    std::string(),
                                    std::string("\0\0", 2),
                                    std::string(R"("\"\\"{}[]:,/)"),
                                    std::string("\r\n\t\b\f"),
                                    std::string("\xC2\x80\xDF\xBF"),                     // U+0080, U+07FF
                                    std::string("\xE0\xA0\x80\xED\x9F\xBF\xEF\xBF\xBF"), // U+0800, U+D7FF, U+FFFF
                                    std::string("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF")})    // U+10000, U+10FFFF
        CHECK(read_back(json_text(each)) == each);
    CHECK(json_text("a\"b\\c\n") == "\"a\\\"b\\\\c\\u000a\"");
}

TEST_CASE("a byte that is not part of UTF-8 becomes U+FFFD, and the bytes around it stay") {
    struct row {
        std::string_view text;
        int replaced; ///< of its bytes
    };
    for (row const& each : {row{"\x80", 1},
                            {"\xC3", 1},
                            {"\xC0\xAF", 2},         // "/" in two bytes
                            {"\xE2\x82", 2},         // the start of U+20AC
                            {"\xE0\x9F\xBF", 3},     // U+07FF in three bytes
                            {"\xED\xA0\x80", 3},     // a surrogate
                            {"\xF0\x8F\xBF\xBF", 4}, // U+FFFF in four bytes
                            {"\xF4\x90\x80\x80", 4}, // beyond U+10FFFF
                            {"\xF8", 1},
                            {"\xFF", 1}}) {
        std::string expected = "a";
        for (int i = 0; i != each.replaced; ++i) expected += replacement;
        CHECK(read_back(json_text("a" + std::string(each.text) + "\xC3\xA9")) == expected + "\xC3\xA9");
        CHECK(read_back(json_text("a" + std::string(each.text) + "\"")) == expected + "\"");
        CHECK(read_back(json_text("a" + std::string(each.text))) == expected);
    }
}

TEST_CASE("objects and arrays have commas between their members, nested and empty") {
    json_writer out;
    out.begin_object().field("name", "x").name("none").begin_array().end_array().name("sizes");
    out.array(std::vector<std::int64_t>{2, -1}).name("inner").begin_object().end_object();
    out.name("each").array(std::vector<bool>{true, false},
                           [&](bool b) { out.begin_object().field("is", b).end_object(); });
    out.name("nothing").null().name("a\"b").value(std::string_view()).end_object();
    CHECK(out.text() == R"({"name": "x", "none": [], "sizes": [2, -1], "inner": {}, )"
                        R"("each": [{"is": true}, {"is": false}], "nothing": null, "a\"b": ""})");
}

TEST_CASE("numbers: integers in full, doubles to their digits, null for what JSON does not have") {
    json_writer out;
    out.begin_array().value(std::numeric_limits<std::int64_t>::min()).value(std::numeric_limits<std::uint64_t>::max());
    out.value(0.1).value(2.0F).value(1e-5, 3).value(123456.0, 3).value(-0.0, 3).value(99.96, 3);
    out.value(std::numeric_limits<double>::infinity()).value(-std::numeric_limits<double>::infinity(), 3);
    out.value(std::nan("")).value('\1').value(true).end_array();
    CHECK(out.text() ==
          "[-9223372036854775808, 18446744073709551615, 0.10000000000000001, 2, 1e-05, 1.23e+05, -0, 100, "
          "null, null, null, 1, true]");
    simdjson::dom::parser parser;
    CHECK(parser.parse(simdjson::padded_string(out.text())).is_array());
}

TEST_CASE("lines break before an element, a name or a closing bracket") {
    json_writer lines;
    lines.begin_array();
    for (int const n : {1, 2}) lines.new_line("  ").begin_object().field("n", n).end_object();
    CHECK(lines.new_line().end_array().text() == "[\n  {\"n\": 1},\n  {\"n\": 2}\n]");

    json_writer rows;
    rows.begin_object().field("n", 2).new_line().name("each").array(std::vector<int>{1, 2},
                                                                    [&](int n) { rows.new_line().value(n); });
    CHECK(rows.end_object().text() == "{\"n\": 2,\n\"each\": [\n1, \n2]}");
}
