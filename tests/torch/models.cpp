// SPDX-License-Identifier: MIT
// Recurrent layers, attention, containers, whole models, and functions whose capture is difficult.
#include "cases.hpp"

namespace torch_test {

namespace nn = torch::nn;

namespace {

struct BlockImpl : nn::Module {
    BlockImpl(std::int64_t in, std::int64_t out, std::int64_t stride)
        : first(register_module("first",
                                nn::Conv2d(nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false)))),
          first_norm(register_module("first_norm", nn::BatchNorm2d(out))),
          second(register_module("second", nn::Conv2d(nn::Conv2dOptions(out, out, 3).padding(1).bias(false)))),
          second_norm(register_module("second_norm", nn::BatchNorm2d(out))) {
        if (stride != 1 || in != out)
            shortcut =
                register_module("shortcut",
                                nn::Sequential(nn::Conv2d(nn::Conv2dOptions(in, out, 1).stride(stride).bias(false)),
                                               nn::BatchNorm2d(out)));
    }
    Tensor forward(Tensor const& x) {
        Tensor y = first_norm(first(x));
        y.relu_();
        y = second_norm(second(y));
        y += shortcut.is_empty() ? x : shortcut->forward(x);
        return torch::relu_(y);
    }
    nn::Conv2d first;
    nn::BatchNorm2d first_norm;
    nn::Conv2d second;
    nn::BatchNorm2d second_norm;
    nn::Sequential shortcut{nullptr};
};
TORCH_MODULE(Block);

struct ResNetImpl : nn::Module {
    ResNetImpl()
        : start(register_module("start", nn::Sequential(nn::Conv2d(nn::Conv2dOptions(3, 8, 7).stride(2).padding(3)),
                                                        nn::BatchNorm2d(8), nn::ReLU(nn::ReLUOptions(true)),
                                                        nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1))))),
          blocks(register_module("blocks",
                                 nn::Sequential(Block(8, 8, 1), Block(8, 16, 2), Block(16, 16, 1), Block(16, 32, 2)))),
          end(register_module("end", nn::Linear(32, 10))) {}
    Tensor forward(Tensor x) {
        x = blocks->forward(start->forward(x));
        x = torch::adaptive_avg_pool2d(x, {1, 1});
        return end(x.view({x.size(0), -1}));
    }
    nn::Sequential start;
    nn::Sequential blocks;
    nn::Linear end;
};
TORCH_MODULE(ResNet);

/// A decoder over token ids: a mask and positions that are made from sizes.
struct DecoderImpl : nn::Module {
    DecoderImpl()
        : tokens(register_module("tokens", nn::Embedding(17, 16))),
          positions(register_module("positions", nn::Embedding(64, 16))),
          body(register_module(
              "body",
              nn::TransformerEncoder(
                  nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(16, 4).dim_feedforward(24)), 2))),
          head(register_module("head", nn::Linear(16, 17))) {}
    Tensor forward(Tensor const& ids) {
        std::int64_t const length = ids.size(1);
        Tensor x = tokens(ids) + positions(torch::arange(length, torch::kLong)).unsqueeze(0);
        Tensor const mask = torch::full({length, length}, -1e9).triu(1);
        return head(body(x.transpose(0, 1), mask)).transpose(0, 1);
    }
    nn::Embedding tokens;
    nn::Embedding positions;
    nn::TransformerEncoder body;
    nn::Linear head;
};
TORCH_MODULE(Decoder);

} // namespace

void add_sequences(exporter& to) {
    auto const steps = [](std::int64_t n) { return tensors{torch::randn({5, n, 4})}; };
    to.add("RNN", nn::RNN(nn::RNNOptions(4, 3).num_layers(2)), steps, {.axis = 1});
    to.add("GRU", nn::GRU(nn::GRUOptions(4, 3).bidirectional(true)), steps, {.axis = 1});
    to.add("GRU_batch_first", nn::GRU(nn::GRUOptions(4, 3).batch_first(true)), floats({5, 4}));
    to.add("LSTM", nn::LSTM(nn::LSTMOptions(4, 3).num_layers(2).bidirectional(true)), steps, {.axis = 1});
    to.add("LSTM_dynamic_length",
           nn::LSTM(nn::LSTMOptions(4, 3).batch_first(true)),
           floats({5, 4}),
           {.dims = {{"x0", 1, "length"}}});
    to.add("RNNCell", nn::RNNCell(nn::RNNCellOptions(4, 3)), floats({4}));
    to.add("GRUCell", nn::GRUCell(nn::GRUCellOptions(4, 3)), [](std::int64_t n) {
        return tensors{torch::randn({n, 4}), torch::randn({n, 3})};
    });
    to.add("LSTMCell", nn::LSTMCell(nn::LSTMCellOptions(4, 3)), floats({4}));
    nn::LSTM lstm(nn::LSTMOptions(4, 3));
    to.add(
        "LSTM_with_state",
        [lstm](Tensor const& x, Tensor const& h, Tensor const& c) mutable {
            return lstm->forward(x, std::make_tuple(h, c));
        },
        [](std::int64_t n) {
            return tensors{torch::randn({5, n, 4}), torch::randn({1, n, 3}), torch::randn({1, n, 3})};
        },
        {.axis = 1, .module = lstm.get()});
    auto const three = [](std::int64_t n) {
        return tensors{torch::randn({5, n, 8}), torch::randn({6, n, 8}), torch::randn({6, n, 8})};
    };
    to.add("MultiheadAttention", nn::MultiheadAttention(8, 2), three, {.axis = 1});
    to.add("MultiheadAttention_dynamic_length",
           nn::MultiheadAttention(8, 2),
           three,
           {.axis = 1, .dims = {{"x0", 0, "target"}, {"x1", 0, "source"}, {"x2", 0, "source"}}});
    auto const two = [](std::int64_t n) { return tensors{torch::randn({5, n, 8}), torch::randn({6, n, 8})}; };
    to.add("TransformerEncoderLayer",
           nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(12)),
           [](std::int64_t n) { return tensors{torch::randn({5, n, 8})}; },
           {.axis = 1});
    to.add("TransformerDecoderLayer",
           nn::TransformerDecoderLayer(nn::TransformerDecoderLayerOptions(8, 2).dim_feedforward(12)),
           two,
           {.axis = 1});
    to.add(
        "Transformer",
        nn::Transformer(nn::TransformerOptions(8, 2).num_encoder_layers(2).num_decoder_layers(2).dim_feedforward(12)),
        two,
        {.axis = 1, .dims = {{"x0", 0, "source"}, {"x1", 0, "target"}}});
}

void add_models(exporter& to) {
    to.add("Sequential",
           nn::Sequential(nn::Linear(4, 6), nn::ReLU(), nn::BatchNorm1d(6), nn::Linear(6, 2), nn::Softmax(1)),
           floats({4}));
    to.add("ResNet", ResNet(), floats({3, 40, 48}));
    to.add("ResNet_dynamic_image", ResNet(), floats({3, 40, 48}), {.dims = {{"x0", 2, "height"}, {"x0", 3, "width"}}});
    to.add("ResNet_in_training", ResNet(), floats({3, 40, 48}), {.training = true});
    to.add("Decoder",
           Decoder(),
           [](std::int64_t n) { return tensors{torch::randint(0, 17, {n, 6}, torch::kLong)}; },
           {.dims = {{"x0", 1, "length"}}});
}

void add_functions(exporter& to) {
    to.add(
        "f_in_place_on_views",
        [](Tensor const& x) {
            Tensor y = x.clone();
            y.select(1, 0).mul_(3);
            y.slice(1, 1, 4, 2).add_(x.select(1, 2).unsqueeze(1));
            y.transpose(0, 1)[2].zero_();
            y.index_put_({torch::tensor({0, 2})}, torch::tensor(7.5f));
            return y;
        },
        floats({5}));
    to.add(
        "f_writes_to_input",
        [](Tensor const& x) {
            x.add_(1);
            return x * 2;
        },
        floats({5}));
    to.add(
        "f_several_dtypes",
        [](Tensor const& x) {
            Tensor const i = (x * 10).to(torch::kInt);
            return std::make_tuple(
                i % 3, i.to(torch::kDouble) / 7, x > 0.5, i.to(torch::kHalf), i / 2, 1 - x, 2.5 / (x.abs() + 1));
        },
        floats({5}));
    to.add(
        "f_constants",
        [held = torch::randn({5})](Tensor const& x) {
            Tensor const made = torch::tensor({1.0f, -2.0f, 3.0f, 4.0f, 0.5f});
            float const numbers[] = {3, 1, 4, 1, 5};
            return x * held + made.flip(0) + torch::from_blob(const_cast<float*>(numbers), {5}).clone();
        },
        floats({5}));
    to.add(
        "f_sizes",
        [](Tensor const& x) {
            std::int64_t const n = x.size(0);
            std::int64_t const c = x.size(1);
            Tensor const y = x.reshape({n * c, 1}).repeat({1, 2}).view({2 * n, c});
            return std::make_tuple(y,
                                   torch::zeros({n + 1, 3}),
                                   torch::arange(3 * n - 2),
                                   x.expand({2, n, c}),
                                   torch::cat({x, x.narrow(0, 0, n - 1)}));
        },
        floats({4}));
    to.add("f_two_sizes",
           [](Tensor const& x) {
               return x.view({x.size(0) * x.size(1), 2}).sum(1).view({x.size(1), x.size(0)}) +
                      static_cast<double>(x.size(2));
           },
           floats({5, 2}),
           {.dims = {{"x0", 1, "length"}}});
    to.add(
        "f_lists",
        [](Tensor const& x) {
            std::vector<Tensor> parts = x.chunk(3, 1);
            return std::map<std::string, Tensor>{{"first", parts[0]}, {"stacked", torch::stack(parts, -1)}};
        },
        floats({6}));
    to.add(
        "f_data_variable_data_and_detach",
        [](Tensor const& x) {
            Tensor y = x * 2;
            Tensor const other = y.variable_data();
            y.add_(1);
            return other + y.detach();
        },
        floats({6}));
    to.add(
        "f_filled_empty",
        [](Tensor const& x) {
            Tensor y = torch::empty_like(x);
            y.copy_(x * 2);
            Tensor const out = torch::empty({0});
            Tensor z = torch::empty({x.size(0), 2});
            z.fill_(4);
            return std::make_tuple(y, z + 1);
        },
        floats({6}));
    to.add(
        "f_masked",
        [](Tensor const& x) {
            Tensor const kept = x.masked_select(x > 0);
            return std::make_tuple(kept * 2, torch::where(x > 0, x, torch::zeros_like(x)), (x > 0).nonzero());
        },
        floats({6}));
}

} // namespace torch_test
