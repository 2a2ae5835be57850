// SPDX-License-Identifier: MIT
// A language model in PyTorch's C++ front end: trained for ten steps, exported with a dynamic batch and length, and checked.
#include <cstdio>

#include <torch/torch.h>

#include <aton/torch.hpp>

namespace nn = torch::nn;

struct LanguageModelImpl : nn::Module {
    LanguageModelImpl(std::int64_t words, std::int64_t width)
        : tokens(register_module("tokens", nn::Embedding(words, width))),
          positions(register_module("positions", nn::Embedding(128, width))),
          layers(register_module(
              "layers",
              nn::TransformerEncoder(nn::TransformerEncoderLayer(
                                         nn::TransformerEncoderLayerOptions(width, 4).dim_feedforward(64).dropout(0)),
                                     2))),
          head(register_module("head", nn::Linear(width, words))) {}

    torch::Tensor forward(torch::Tensor const& ids) {
        std::int64_t const length = ids.size(1);
        torch::Tensor const x = tokens(ids) + positions(torch::arange(length, torch::kLong));
        torch::Tensor const future = torch::full({length, length}, -1e9).triu(1);
        return head(layers(x.transpose(0, 1), future)).transpose(0, 1);
    }

    nn::Embedding tokens;
    nn::Embedding positions;
    nn::TransformerEncoder layers;
    nn::Linear head;
};
TORCH_MODULE(LanguageModel);

int main() {
    torch::manual_seed(0);
    LanguageModel model(50, 32);
    torch::Tensor const ids = torch::randint(50, {8, 12}, torch::kLong);
    torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(0.01));
    for (int step = 0; step != 10; ++step) {
        torch::Tensor const scores = model(ids.slice(1, 0, -1));
        torch::Tensor const loss = nn::functional::cross_entropy(scores.reshape({-1, 50}), ids.slice(1, 1).reshape(-1));
        std::printf("step %d: loss %.4f\n", step, loss.item<double>());
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
    }

    model->eval();
    aton::torch::export_options options;
    options.input_names = {"ids"};
    options.dims = {{"ids", 0, "batch"}, {"ids", 1, "length"}};
    aton::torch::export_module(model, {ids}, "transformer.onnx", options);

    aton::torch::check(model, {torch::randint(50, {3, 20}, torch::kLong)}, "transformer.onnx");
    std::puts("transformer.onnx computes what the module does");
}
