// SPDX-License-Identifier: MIT
// Reads arbitrary bytes as the data.pkl of torch.save.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "frontend/pt2/pickle_reader.hpp"

#include "fuzz_check.hpp"

using namespace aton::tests;
using aton::pt2::pickled_tensor;
using aton::pt2::pickled_tensors;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    expect_answer([&] {
        pickled_tensors const tensors(text_of(data, size), "fuzz.pkl");
        for (std::string_view const name : tensors.names())
            expect_answer([&] {
                std::optional<pickled_tensor> const t = tensors.find(name);
                require(t.has_value() && t->sizes.size() == t->strides.size() && bits(t->type) >= 8);
                require(t->storage.empty() || t->storage.data() >= reinterpret_cast<char const*>(data));
            });
    });
    return 0;
}
