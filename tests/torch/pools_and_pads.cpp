// SPDX-License-Identifier: MIT
// Layers without weights: pooling and padding, losses.
#include "cases.hpp"

namespace torch_test {

namespace nn = torch::nn;

void add_pools_and_pads(exporter& to) {
    to.add("AvgPool1d", nn::AvgPool1d(nn::AvgPool1dOptions(3).padding(1).ceil_mode(true)), floats({2, 8}));
    to.add("AvgPool2d",
           nn::AvgPool2d(nn::AvgPool2dOptions({3, 2}).count_include_pad(false).padding(1)),
           floats({2, 8, 7}));
    to.add("AvgPool3d", nn::AvgPool3d(nn::AvgPool3dOptions(2)), floats({2, 4, 5, 6}));
    to.add("MaxPool1d", nn::MaxPool1d(nn::MaxPool1dOptions(3).stride(2)), floats({2, 8}));
    to.add("MaxPool2d", nn::MaxPool2d(nn::MaxPool2dOptions(3).dilation(2)), floats({2, 8, 7}));
    to.add("MaxPool3d", nn::MaxPool3d(nn::MaxPool3dOptions(2)), floats({2, 4, 5, 6}));
    to.add("AdaptiveAvgPool1d", nn::AdaptiveAvgPool1d(4), floats({2, 8}));
    to.add("AdaptiveAvgPool2d", nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({3, 2})), floats({2, 7, 5}));
    to.add("AdaptiveAvgPool3d", nn::AdaptiveAvgPool3d(nn::AdaptiveAvgPool3dOptions({1, 2, 3})), floats({2, 4, 4, 6}));
    to.add("AdaptiveMaxPool1d", nn::AdaptiveMaxPool1d(4), floats({2, 8}));
    to.add("AdaptiveMaxPool2d", nn::AdaptiveMaxPool2d(nn::AdaptiveMaxPool2dOptions({3, 2})), floats({2, 9, 4}));
    to.add("AdaptiveMaxPool3d", nn::AdaptiveMaxPool3d(nn::AdaptiveMaxPool3dOptions({1, 2, 3})), floats({2, 4, 4, 6}));
    to.add("LPPool1d", nn::LPPool1d(nn::LPPool1dOptions(2, 3)), floats({2, 9}));
    to.add("LPPool2d", nn::LPPool2d(nn::LPPool2dOptions(3, {2, 3})), floats({2, 6, 9}));
    to.add("LPPool3d", nn::LPPool3d(nn::LPPool3dOptions(2, 2)), floats({2, 4, 4, 6}));
    auto const pooled = [](std::int64_t n) {
        auto [y, at] = torch::max_pool2d_with_indices(torch::randn({n, 2, 6, 4}), 2);
        return tensors{y, at};
    };
    to.add("MaxUnpool2d", nn::MaxUnpool2d(nn::MaxUnpool2dOptions(2)), pooled);
    to.add("MaxUnpool1d", nn::MaxUnpool1d(nn::MaxUnpool1dOptions(2)), [](std::int64_t n) {
        auto [y, at] = torch::max_pool1d_with_indices(torch::randn({n, 2, 6}), 2);
        return tensors{y, at};
    });
    to.add("ConstantPad1d", nn::ConstantPad1d(nn::ConstantPad1dOptions({1, 2}, 3.5)), floats({2, 5}));
    to.add("ConstantPad2d", nn::ConstantPad2d(nn::ConstantPad2dOptions({1, 2, 0, -1}, 3.5)), floats({2, 5, 4}));
    to.add("ConstantPad3d", nn::ConstantPad3d(nn::ConstantPad3dOptions({1, 2, 0, 1, 1, 0}, -1)), floats({2, 5, 4, 3}));
    to.add("ZeroPad1d", nn::ZeroPad1d(nn::ZeroPad1dOptions({1, 2})), floats({2, 5}));
    to.add("ZeroPad2d", nn::ZeroPad2d(nn::ZeroPad2dOptions({1, 2, 3, 0})), floats({2, 5, 4}));
    to.add("ReflectionPad1d", nn::ReflectionPad1d(nn::ReflectionPad1dOptions({1, 2})), floats({2, 5}));
    to.add("ReflectionPad2d", nn::ReflectionPad2d(nn::ReflectionPad2dOptions({1, 2, 3, 0})), floats({2, 5, 4}));
    to.add("ReplicationPad1d", nn::ReplicationPad1d(nn::ReplicationPad1dOptions({1, 2})), floats({2, 5}));
    to.add("ReplicationPad2d", nn::ReplicationPad2d(nn::ReplicationPad2dOptions({1, 2, 3, 0})), floats({2, 5, 4}));
    to.add("ReplicationPad3d",
           nn::ReplicationPad3d(nn::ReplicationPad3dOptions({1, 2, 3, 0, 1, 1})),
           floats({2, 5, 4, 3}));
}

void add_losses(exporter& to) {
    auto const pair = [](std::int64_t n) { return tensors{torch::randn({n, 5}), torch::randn({n, 5})}; };
    auto const chances = [](std::int64_t n) { return tensors{torch::rand({n, 5}), torch::rand({n, 5})}; };
    auto const classes = [](std::int64_t n) {
        return tensors{torch::randn({n, 5}), torch::randint(0, 5, {n}, torch::kLong)};
    };
    auto const signs = [](std::int64_t n) {
        return tensors{torch::randn({n, 5}), torch::randint(0, 2, {n, 5}) * 2 - 1};
    };
    to.add("L1Loss", nn::L1Loss(), pair);
    to.add("MSELoss", nn::MSELoss(nn::MSELossOptions(torch::kSum)), pair);
    to.add("SmoothL1Loss", nn::SmoothL1Loss(), pair);
    to.add("HuberLoss", nn::HuberLoss(nn::HuberLossOptions().delta(0.5)), pair);
    to.add("KLDivLoss", nn::KLDivLoss(nn::KLDivLossOptions().reduction(torch::kBatchMean)), chances);
    to.add("BCELoss", nn::BCELoss(), chances);
    to.add("BCEWithLogitsLoss", nn::BCEWithLogitsLoss(), chances);
    to.add("CrossEntropyLoss", nn::CrossEntropyLoss(nn::CrossEntropyLossOptions().label_smoothing(0.1)), classes);
    to.add("NLLLoss", nn::NLLLoss(nn::NLLLossOptions().ignore_index(2)), classes);
    to.add("PoissonNLLLoss", nn::PoissonNLLLoss(), chances);
    to.add("HingeEmbeddingLoss", nn::HingeEmbeddingLoss(), signs);
    to.add("SoftMarginLoss", nn::SoftMarginLoss(), signs);
    to.add("MultiMarginLoss", nn::MultiMarginLoss(), classes);
    to.add("MultiLabelSoftMarginLoss", nn::MultiLabelSoftMarginLoss(), chances);
    to.add("MarginRankingLoss", nn::MarginRankingLoss(), [](std::int64_t n) {
        return tensors{torch::randn({n}), torch::randn({n}), torch::randint(0, 2, {n}) * 2 - 1};
    });
    to.add("CosineEmbeddingLoss",
           nn::CosineEmbeddingLoss(nn::CosineEmbeddingLossOptions().margin(0.2)),
           [](std::int64_t n) {
               return tensors{torch::randn({n, 4}), torch::randn({n, 4}), torch::randint(0, 2, {n}) * 2 - 1};
           });
    to.add("TripletMarginLoss", nn::TripletMarginLoss(), [](std::int64_t n) {
        return tensors{torch::randn({n, 4}), torch::randn({n, 4}), torch::randn({n, 4})};
    });
    to.add("TripletMarginWithDistanceLoss", nn::TripletMarginWithDistanceLoss(), [](std::int64_t n) {
        return tensors{torch::randn({n, 4}), torch::randn({n, 4}), torch::randn({n, 4})};
    });
}

} // namespace torch_test
