// SPDX-License-Identifier: MIT
// foreign MODEL: exports a module, and compares it with the file.
#include <cstdio>
#include <exception>

#include <torch/nn/functional/activation.h>
#include <torch/nn/modules/linear.h>

#include <aton/torch.hpp>

int main(int count, char** arguments) {
    if (count != 2) return 2;
    try {
        torch::nn::Linear layer(4, 2);
        auto const f = [&](at::Tensor const& x) { return layer->forward(x).relu(); };
        aton::torch::export_options options;
        options.module = layer.get();
        options.dims = {{"input", 0, "batch"}};
        aton::export_report const report = aton::torch::export_module(f, {at::randn({3, 4})}, arguments[1], options);
        aton::torch::check(f, {at::randn({5, 4})}, arguments[1]);
        std::printf("%zu nodes, %zu weights\n", report.nodes, report.weights);
        return 0;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
