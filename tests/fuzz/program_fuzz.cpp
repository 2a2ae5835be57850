// SPDX-License-Identifier: MIT
// Reads arbitrary bytes as the JSON of a program; weights are assumed to be as the program declares them.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "frontend/pt2/read_program_json.hpp"

#include "../frontend/program_holds.hpp"
#include "fuzz_check.hpp"

using namespace aton::tests;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    // The seeds' own: most sizes of the samples are found here, others are refused.
    auto const tensor = [](aton::pt2::tensor_role, std::string_view name) {
        aton::stored_tensor out;
        out.type = aton::dtype::float32;
        if (name.ends_with("weight")) out.sizes = {3, 4};
        else if (name.ends_with("bias")) out.sizes = {3};
        return out;
    };
    expect_answer([&] {
        aton::program::program const p = aton::pt2::read_program_json(text_of(data, size), "fuzz.json", tensor);
        require(holds(p));
        for (aton::program::node const& n : p.main.nodes) require(!describe(p, n).empty());
        for (aton::program::expression const& e : p.expressions) require(!to_string(e).empty());
    });
    return 0;
}
