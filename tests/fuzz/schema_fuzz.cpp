// SPDX-License-Identifier: MIT
// Checks arbitrary text as a function schema, parses it with the cursors, reads its defaults, and prints it again.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <aton/aten/default_value.hpp>
#include <aton/aten/function_schema.hpp>
#include <aton/aten/schema_text.hpp>

#include "fuzz_check.hpp"

using namespace aton::aten;
using aton::tests::require;

namespace {

void read_default(schema_argument const& argument) {
    default_value const value = parse_default(argument);
    std::size_t characters = 0;
    auto const count = [&](char) { ++characters; };
    (void)value.as_bool();
    (void)value.as_int();
    (void)value.as_double();
    (void)value.real();
    (void)value.imaginary();
    unescape(value.text(), count);
    for (std::size_t i = 0; i < value.size() && i < 20; ++i) {
        (void)value.bool_at(i);
        (void)value.int_at(i);
        (void)value.double_at(i);
        unescape(value.element(i), count);
    }
    require(characters <= 21 * argument.default_text.size());
}

} // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const schema = aton::tests::text_of(data, size);
    parse_error_info const problem = check_syntax(schema);
    require(problem.offset <= schema.size());
    require(problem.what.empty() == describe_syntax_error(schema).empty());
    schema_argument argument;
    for (argument_cursor each{schema}; each.next(argument);) {
        read_default(argument);
        schema_argument found;
        int position = 0;
        (void)find_argument(schema, argument.name, found, position);
    }
    schema_return result;
    for (return_cursor each{schema}; each.next(result);) {
    }
    (void)argument_count(schema);
    (void)return_count(schema);
    (void)nearest_argument(schema, "slef");
    (void)find_schema(parse_head(schema).qualified);
    if (std::optional<function_schema> const parsed = parse_schema(schema)) {
        require(problem.what.empty());
        // The printed schema has the same meaning and prints the same.
        std::string const text = to_string(*parsed);
        std::optional<function_schema> const again = parse_schema(text);
        require(again.has_value() && to_string(*again) == text);
    }
    return 0;
}
