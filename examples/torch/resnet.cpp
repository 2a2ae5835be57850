// SPDX-License-Identifier: MIT
// A ResNet in PyTorch's C++ front end: trained for ten steps, exported with a dynamic batch, and checked.
#include <cstdio>

#include <torch/torch.h>

#include <aton/torch.hpp>

namespace nn = torch::nn;

struct BlockImpl : nn::Module {
    BlockImpl(std::int64_t in, std::int64_t out, std::int64_t stride)
        : first(register_module("first",
                                nn::Conv2d(nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false)))),
          first_norm(register_module("first_norm", nn::BatchNorm2d(out))),
          second(register_module("second", nn::Conv2d(nn::Conv2dOptions(out, out, 3).padding(1).bias(false)))),
          second_norm(register_module("second_norm", nn::BatchNorm2d(out))),
          shortcut(register_module("shortcut", nn::Conv2d(nn::Conv2dOptions(in, out, 1).stride(stride)))) {}

    torch::Tensor forward(torch::Tensor const& x) {
        torch::Tensor y = second_norm(second(torch::relu(first_norm(first(x)))));
        y += shortcut(x);
        return y.relu_();
    }

    nn::Conv2d first;
    nn::BatchNorm2d first_norm;
    nn::Conv2d second;
    nn::BatchNorm2d second_norm;
    nn::Conv2d shortcut;
};
TORCH_MODULE(Block);

struct ResNetImpl : nn::Module {
    explicit ResNetImpl(std::int64_t classes)
        : start(register_module("start", nn::Conv2d(nn::Conv2dOptions(3, 16, 3).padding(1)))),
          blocks(register_module("blocks", nn::Sequential(Block(16, 16, 1), Block(16, 32, 2), Block(32, 64, 2)))),
          end(register_module("end", nn::Linear(64, classes))) {}

    torch::Tensor forward(torch::Tensor const& images) {
        torch::Tensor const x = blocks->forward(torch::relu(start(images)));
        return end(x.mean({2, 3}));
    }

    nn::Conv2d start;
    nn::Sequential blocks;
    nn::Linear end;
};
TORCH_MODULE(ResNet);

int main() {
    torch::manual_seed(0);
    ResNet model(10);
    torch::Tensor const images = torch::randn({8, 3, 32, 32});
    torch::Tensor const classes = torch::randint(10, {8}, torch::kLong);
    torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
    for (int step = 0; step != 10; ++step) {
        torch::Tensor const loss = nn::functional::cross_entropy(model(images), classes);
        std::printf("step %d: loss %.4f\n", step, loss.item<double>());
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
    }

    model->eval();
    aton::torch::export_options options;
    options.input_names = {"images"};
    options.dims = {{"images", 0, "batch"}};
    aton::torch::export_module(model, {images}, "resnet.onnx", options);

    aton::torch::check(model, {torch::randn({3, 3, 32, 32})}, "resnet.onnx");
    std::puts("resnet.onnx computes what the module does");
}
