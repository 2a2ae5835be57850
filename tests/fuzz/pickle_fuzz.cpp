// SPDX-License-Identifier: MIT
// Reads arbitrary bytes as the data.pkl of torch.save: as a dict of tensors, and as one tensor of a class.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "frontend/pt2/pickle_reader.hpp"

#include "fuzz_check.hpp"

using namespace aton::tests;
using aton::pt2::pickled_attribute;
using aton::pt2::pickled_subclass;
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
    expect_answer([&] {
        pickled_subclass const one(text_of(data, size), "fuzz.pkl");
        require(!one.type().empty() && bits(one.element_type()) != 0);
        require(one.sizes().size() <= 64);
        for (std::string_view const path :
             {"qdata", "scale", "_data._data", "act_quant_kwargs.scaling_mode.0", "0.0", ""})
            expect_answer([&] {
                std::optional<pickled_attribute> const a = one.find(path);
                if (a && a->tensor) require(a->is == pickled_attribute::kind::tensor && bits(a->tensor->type) >= 8);
            });
    });
    return 0;
}
