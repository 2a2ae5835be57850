// SPDX-License-Identifier: MIT
// Reads arbitrary bytes as a safetensors file.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "frontend/weights/safetensors.hpp"

#include "fuzz_check.hpp"

using namespace aton::tests;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const bytes = text_of(data, size);
    expect_answer([&] {
        auto const source = aton::weights::read_safetensors({bytes, -1}, "fuzz.safetensors");
        require(!source->find("no such name \xff").has_value());
        for (std::string_view const name : source->names())
            expect_answer([&] {
                std::optional<aton::stored_tensor> const t = source->find(name);
                require(t.has_value() && t->parts.size() == 1 && !t->is_absent());
                if (t->element_count() == 0) return;
                aton::file_span const& span = t->parts[0].bytes;
                require(t->is_plain() && span.size == t->byte_count());
                require(span.position <= size && span.size <= size - span.position);
                require(reinterpret_cast<char const*>(span.data) == bytes.data() + span.position);
            });
    });
    return 0;
}
