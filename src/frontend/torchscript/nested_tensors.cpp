// SPDX-License-Identifier: MIT
// Nested tensors of nn.TransformerEncoder: a padded tensor and the mask of what is not padding. Its layers compute the padded tensor, with
// the mask in their attention; at the end, padded places are zero.
#include "nested_tensors.hpp"

#include <algorithm>
#include <iterator>

namespace ATON_NAMESPACE::torchscript {

/// `x` where the mask [batch, length] holds, and 0 elsewhere.
value nested_tensors::without_padding(value const& x, value const& mask) {
    value const places = caller_.call_operator("aten::unsqueeze", {{mask, value::of(std::int64_t{-1})}, {}});
    value const none = caller_.call_operator("aten::logical_not", {{places}, {}});
    return caller_.call_operator("aten::masked_fill", {{x, none, value::of(0.0)}, {}});
}

std::optional<value> nested_tensors::call(std::string_view name, std::vector<value> const& x) {
    if (name == "_nested_tensor_from_mask_left_aligned" && x.size() == 2) {
        // Padding is at the end of each sequence. If it is not, nn.TransformerEncoder computes padded places too.
        build_.drop("torch._nested_tensor_from_mask_left_aligned");
        return value::of(true);
    }
    if (name == "_nested_tensor_from_mask" && x.size() >= 2 && x[0].acts_as_tensor() && x[1].acts_as_tensor()) {
        value const dense = without_padding(x[0], x[1]);
        masks_[values_.tensor_of(dense)] = x[1];
        return dense;
    }
    if (x.empty() || x[0].is() != kind::tensor) return {};
    auto const found = masks_.find(x[0].computed());
    if (found == masks_.end()) return {};
    value const mask = found->second;
    if (name == "is_nested") return value::of(true);
    if (name == "to_padded_tensor") return without_padding(x[0], mask);
    constexpr std::size_t place_of_mask = 18;
    if (name == "_transformer_encoder_layer_fwd" && x.size() > place_of_mask && x[place_of_mask].is() == kind::none) {
        std::vector<value> padded(x.begin(), x.begin() + place_of_mask);
        padded.push_back(caller_.call_operator("aten::logical_not", {{mask}, {}}));
        padded.push_back(value::of(std::int64_t{1})); // a mask of padding
        value const out = caller_.call_operator("aten::_transformer_encoder_layer_fwd", {std::move(padded), {}});
        masks_[out.computed()] = mask;
        return out;
    }
    constexpr std::string_view questions[] = {"dtype",
                                              "device",
                                              "dim",
                                              "layout",
                                              "requires_grad",
                                              "is_cuda",
                                              "is_cpu",
                                              "is_floating_point",
                                              "__is__",
                                              "__isnot__",
                                              "unchecked_cast",
                                              "unchecked_unwrap_optional"};
    if (std::find(std::begin(questions), std::end(questions), name) != std::end(questions)) return {};
    at_.fail("calls '" + std::string(name) + "' on a nested tensor, which is not supported");
}

} // namespace ATON_NAMESPACE::torchscript
