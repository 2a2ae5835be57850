// SPDX-License-Identifier: MIT
// Layers with weights, normalizations, activations.
#include "cases.hpp"

namespace torch_test {

namespace nn = torch::nn;

void add_layers(exporter& to) {
    to.add("Linear", nn::Linear(5, 3), floats({5}));
    to.add("Linear_without_bias", nn::Linear(nn::LinearOptions(5, 3).bias(false)), floats({2, 5}));
    to.add("Identity", nn::Identity(), floats({5}));
    to.add("Flatten", nn::Flatten(), floats({2, 3, 4}));
    to.add("Unflatten", nn::Unflatten(nn::UnflattenOptions(1, {2, 3})), floats({6, 2}));
    to.add("Bilinear", nn::Bilinear(4, 5, 3), [](std::int64_t n) {
        return tensors{torch::randn({n, 4}), torch::randn({n, 5})};
    });
    to.add("Conv1d", nn::Conv1d(nn::Conv1dOptions(4, 6, 3).stride(2).padding(1)), floats({4, 9}));
    to.add("Conv2d", nn::Conv2d(nn::Conv2dOptions(4, 6, {3, 2}).dilation(2).groups(2)), floats({4, 9, 8}));
    to.add("Conv2d_same", nn::Conv2d(nn::Conv2dOptions(3, 2, 4).padding(torch::kSame)), floats({3, 7, 6}));
    to.add("Conv2d_reflect",
           nn::Conv2d(nn::Conv2dOptions(3, 2, 3).padding(2).padding_mode(torch::kReflect)),
           floats({3, 7, 6}));
    to.add("Conv3d", nn::Conv3d(nn::Conv3dOptions(2, 3, 2).bias(false)), floats({2, 4, 5, 3}));
    to.add("ConvTranspose1d", nn::ConvTranspose1d(nn::ConvTranspose1dOptions(4, 3, 3).stride(2)), floats({4, 6}));
    to.add("ConvTranspose2d",
           nn::ConvTranspose2d(nn::ConvTranspose2dOptions(4, 3, 3).stride(2).output_padding(1).padding(1)),
           floats({4, 5, 6}));
    to.add("ConvTranspose3d", nn::ConvTranspose3d(nn::ConvTranspose3dOptions(2, 3, 2)), floats({2, 3, 4, 5}));
    auto const ids = [](std::int64_t n) { return tensors{torch::randint(0, 11, {n, 4}, torch::kLong)}; };
    to.add("Embedding", nn::Embedding(nn::EmbeddingOptions(11, 5).padding_idx(2)), ids);
    to.add("EmbeddingBag", nn::EmbeddingBag(nn::EmbeddingBagOptions(11, 5).mode(torch::kMean)), ids);
    to.add("BatchNorm1d", nn::BatchNorm1d(4), floats({4, 5}));
    to.add("BatchNorm2d", nn::BatchNorm2d(4), floats({4, 5, 3}));
    to.add("BatchNorm3d", nn::BatchNorm3d(nn::BatchNorm3dOptions(4).affine(false)), floats({4, 2, 5, 3}));
    to.add("BatchNorm2d_in_training", nn::BatchNorm2d(4), floats({4, 5, 3}), {.training = true});
    to.add("InstanceNorm1d", nn::InstanceNorm1d(nn::InstanceNorm1dOptions(4).affine(true)), floats({4, 6}));
    to.add("InstanceNorm2d", nn::InstanceNorm2d(4), floats({4, 6, 5}));
    to.add("InstanceNorm3d", nn::InstanceNorm3d(nn::InstanceNorm3dOptions(2).affine(true)), floats({2, 3, 4, 5}));
    to.add("LayerNorm", nn::LayerNorm(nn::LayerNormOptions({4, 5})), floats({3, 4, 5}));
    to.add("GroupNorm", nn::GroupNorm(2, 6), floats({6, 5, 3}));
    to.add("LocalResponseNorm", nn::LocalResponseNorm(3), floats({6, 5, 3}));
    to.add("CrossMapLRN2d", nn::CrossMapLRN2d(3), floats({6, 5, 3}));
    to.add("Dropout", nn::Dropout(0.5), floats({5}));
    to.add("Dropout2d", nn::Dropout2d(0.5), floats({5, 2, 2}));
    to.add("Dropout3d", nn::Dropout3d(0.5), floats({5, 2, 2, 3}));
    to.add("AlphaDropout", nn::AlphaDropout(0.5), floats({5}));
    to.add("FeatureAlphaDropout", nn::FeatureAlphaDropout(0.5), floats({5, 3}));
    to.add("PixelShuffle", nn::PixelShuffle(2), floats({8, 3, 2}));
    to.add("PixelUnshuffle", nn::PixelUnshuffle(2), floats({2, 6, 4}));
    to.add("Upsample_nearest",
           nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>{2, 3})),
           floats({2, 3, 4}));
    to.add("Upsample_bilinear",
           nn::Upsample(
               nn::UpsampleOptions().size(std::vector<std::int64_t>{7, 5}).mode(torch::kBilinear).align_corners(false)),
           floats({2, 3, 4}));
    to.add("Fold", nn::Fold(nn::FoldOptions({4, 5}, {2, 2})), floats({8, 12}));
    to.add("Unfold", nn::Unfold(nn::UnfoldOptions({2, 3}).padding(1)), floats({2, 5, 6}));
    to.add("CosineSimilarity", nn::CosineSimilarity(nn::CosineSimilarityOptions().dim(1)), [](std::int64_t n) {
        return tensors{torch::randn({n, 4}), torch::randn({n, 4})};
    });
    to.add("PairwiseDistance", nn::PairwiseDistance(nn::PairwiseDistanceOptions().p(3)), [](std::int64_t n) {
        return tensors{torch::randn({n, 4}), torch::randn({n, 4})};
    });
}

void add_activations(exporter& to) {
    to.add("ELU", nn::ELU(nn::ELUOptions().alpha(0.7)), floats({5}));
    to.add("SELU", nn::SELU(), floats({5}));
    to.add("SELU_in_place", nn::SELU(nn::SELUOptions(true)), floats({5}));
    to.add("Hardshrink", nn::Hardshrink(0.3), floats({5}));
    to.add("Hardtanh", nn::Hardtanh(nn::HardtanhOptions().min_val(-0.5).max_val(0.7)), floats({5}));
    to.add("LeakyReLU", nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2).inplace(true)), floats({5}));
    to.add("LogSigmoid", nn::LogSigmoid(), floats({5}));
    to.add("Softmax", nn::Softmax(1), floats({5, 3}));
    to.add("Softmin", nn::Softmin(2), floats({5, 3}));
    to.add("LogSoftmax", nn::LogSoftmax(-1), floats({5, 3}));
    to.add("Softmax2d", nn::Softmax2d(), floats({5, 3, 2}));
    to.add("PReLU", nn::PReLU(nn::PReLUOptions().num_parameters(4)), floats({4, 3}));
    to.add("ReLU", nn::ReLU(nn::ReLUOptions(true)), floats({5}));
    to.add("ReLU6", nn::ReLU6(), floats({5}));
    to.add("RReLU", nn::RReLU(), floats({5}));
    to.add("CELU", nn::CELU(nn::CELUOptions().alpha(1.3)), floats({5}));
    to.add("GLU", nn::GLU(1), floats({6, 3}));
    to.add("GELU", nn::GELU(), floats({5}));
    to.add("GELU_tanh", nn::GELU(nn::GELUOptions().approximate("tanh")), floats({5}));
    to.add("SiLU", nn::SiLU(), floats({5}));
    to.add("Mish", nn::Mish(), floats({5}));
    to.add("Sigmoid", nn::Sigmoid(), floats({5}));
    to.add("Softplus", nn::Softplus(nn::SoftplusOptions().beta(2)), floats({5}));
    to.add("Softshrink", nn::Softshrink(0.3), floats({5}));
    to.add("Softsign", nn::Softsign(), floats({5}));
    to.add("Tanh", nn::Tanh(), floats({5}));
    to.add("Tanhshrink", nn::Tanhshrink(), floats({5}));
    to.add("Threshold", nn::Threshold(nn::ThresholdOptions(0.1, -2)), floats({5}));
}

} // namespace torch_test
