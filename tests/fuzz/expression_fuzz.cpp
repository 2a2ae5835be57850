// SPDX-License-Identifier: MIT
// Reads arbitrary text as a size expression; its printed form must have the same value and be read in the same way.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <aton/frontend/pt2/read_program.hpp>

#include "fuzz_check.hpp"

using namespace aton::tests;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::map<std::string, std::int64_t, std::less<>> const symbols{{"s0", 7}, {"s53", 12}, {"s77", 64}, {"u0", -5}};
    expect_answer([&] {
        aton::program::expression const e = aton::pt2::parse_expression(text_of(data, size));
        require(!to_string(e).empty());
        require(e == aton::pt2::parse_expression(text_of(data, size)));
        require(evaluate(e, symbols) == evaluate(e, symbols));
    });
    return 0;
}
