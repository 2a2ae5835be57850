// SPDX-License-Identifier: MIT
// Reads arbitrary bytes as a .pt2 file or, if they start with '{', as the weights' config of one.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <aton/frontend/pt2/archive.hpp>

#include "../frontend/small_archive.hpp"
#include "fuzz_check.hpp"

using namespace aton::tests;
using aton::pt2::archive;
using aton::pt2::tensor_role;

namespace {

/// Checks that the span is inside the file, and the first and the last element are inside the span.
void check_tensor(aton::stored_tensor const& t, std::string_view file) {
    require(t.parts.size() == 1);
    aton::stored_part const& part = t.parts[0];
    if (t.is_absent()) return require(part.bytes.size == 0 && part.sizes == t.sizes);
    require(part.bytes.position <= file.size() && part.bytes.size <= file.size() - part.bytes.position);
    require(reinterpret_cast<char const*>(part.bytes.data) == file.data() + part.bytes.position);
    require(part.sizes == t.sizes && part.strides.size() == part.sizes.size());
    if (t.element_count() == 0) return;
    std::int64_t last = part.offset;
    for (std::size_t i = 0; i != part.sizes.size(); ++i) last += (part.sizes[i] - 1) * part.strides[i];
    std::uint64_t const width = bits(t.type) / 8;
    require(width > 0 && part.offset >= 0 && last >= part.offset);
    require((static_cast<std::uint64_t>(last) + 1) * width <= part.bytes.size);
    (void)part.bytes.data[static_cast<std::uint64_t>(last) * width];
    (void)t.byte_count();
    (void)t.is_plain();
}

void read_everything(std::string_view file) {
    archive const a = archive::from_memory(file, "fuzz.pt2");
    for (std::string const& model : a.models()) {
        require(a.resolve_model(model) == model || model.empty());
        expect_answer([&] { (void)a.program_json(model); });
        for (tensor_role const role : {tensor_role::weight, tensor_role::constant})
            expect_answer([&] {
                for (std::string const& name : a.tensor_names(model, role))
                    expect_answer([&] { check_tensor(a.tensor(model, role, name), file); });
                (void)a.tensor(model, role, "no such name");
            });
    }
}

} // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const bytes = text_of(data, size);
    if (bytes.starts_with('{')) {
        std::string const file = archive_with_config(bytes);
        expect_answer([&] { read_everything(file); });
    } else {
        expect_answer([&] { read_everything(bytes); });
    }
    return 0;
}
