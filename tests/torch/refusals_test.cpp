// SPDX-License-Identifier: MIT
// What cannot be recorded is refused with one sentence, and recording leaves no trace in the module.
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <torch/torch.h>

#include <aton/model_io/model_io.hpp>
#include <aton/torch.hpp>

namespace {

using torch::Tensor;
using tensors = std::vector<Tensor>;
namespace nn = torch::nn;

aton::torch::export_options dynamic(std::vector<aton::dim_name> dims = {{"input", 0, "batch"}}) {
    aton::torch::export_options options;
    options.dims = std::move(dims);
    return options;
}

/// The refusal of a function; empty if it is exported.
template <class F>
std::string refusal(F f, tensors const& inputs, aton::torch::export_options const& options = {}) {
    try {
        (void)aton::torch::trace(f, inputs, options);
    } catch (aton::error const& e) {
        std::string const text = e.what();
        CHECK(text.find('\n') == std::string::npos);
        CHECK(text.size() < 500);
        return text;
    }
    return {};
}

bool has(std::string const& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// A file that is removed.
struct temporary {
    std::string path;
    explicit temporary(std::string const& name) : path((std::filesystem::temp_directory_path() / name).string()) {}
    ~temporary() { std::filesystem::remove(path); }
};

} // namespace

TEST_CASE("numbers that are read from tensors are refused") {
    auto const one = [](auto f) { return refusal(f, {torch::randn({4, 3})}); };
    CHECK(has(one([](Tensor const& x) { return x * x.sum().item<double>(); }), "'aten::item'"));
    CHECK(has(one([](Tensor const& x) { return x.sum().item<float>() > 0 ? x : -x; }), "'aten::item'"));
    CHECK(has(one([](Tensor const& x) { return (x > 0).any().is_nonzero() ? x : -x; }), "'aten::is_nonzero'"));
    CHECK(has(one([](Tensor const& x) { return torch::equal(x, x + 1) ? x : -x; }), "'aten::equal'"));
    CHECK(has(one([](Tensor const& x) { return torch::allclose(x, x + 1) ? x : -x; }), "'aten::allclose'"));
    // A tensor that a write made depend on the input.
    CHECK(has(one([](Tensor const& x) {
                  Tensor y = torch::zeros({3});
                  y.slice(0, 1, 2).copy_(x[0].slice(0, 0, 1));
                  return x * y[1].item<double>();
              }),
              "'aten::item'"));
    // Those of constants, and of a tensor with itself, are known.
    CHECK(one([](Tensor const& x) { return x * torch::arange(5).sum().item<double>(); }).empty());
    CHECK(one([](Tensor const& x) { return torch::equal(x, x) ? x : -x; }).empty());
}

TEST_CASE("a number that C++ computes from elements is refused") {
    auto const x = tensors{torch::randn({4, 3})};
    CHECK(has(refusal([](Tensor const& t) { return t * static_cast<double>(t.data_ptr<float>()[1]); }, x),
              "depends on the elements"));
    CHECK(has(
        refusal([](Tensor const& t) { return t + torch::tensor(std::vector<float>{t.data_ptr<float>()[0], 1, 2}); }, x),
        "is not the same in all runs"));
    CHECK(has(refusal(
                  [](Tensor const& t) {
                      Tensor y = t * 2;
                      y.data_ptr<float>()[3] = 7;
                      return y + 1;
                  },
                  x),
              "do not give output 'output'"));
    CHECK(has(refusal(
                  [](Tensor const& t) {
                      Tensor y = t * 2;
                      std::thread([&] { y.add_(1); }).join();
                      return y * 3;
                  },
                  x),
              "another thread"));
}

TEST_CASE("numbers that depend on sizes in an unknown way are refused") {
    tensors const x{torch::randn({8, 6})};
    auto const all = dynamic({{"input", 0, "batch"}, {"input", 1, "width"}});
    CHECK(has(refusal([](Tensor const& t) { return t.narrow(0, 0, t.size(0) / 2); }, x, dynamic()),
              "neither a constant nor"));
    CHECK(
        has(refusal([](Tensor const& t) { return t.narrow(0, 0, std::min<std::int64_t>(t.size(0), 9)); }, x, dynamic()),
            "neither a constant nor"));
    CHECK(has(refusal([](Tensor const& t) { return t / std::sqrt(static_cast<double>(t.size(0))); }, x, dynamic()),
              "only integers"));
    CHECK(has(refusal([](Tensor const& t) { return torch::zeros({t.size(0) * t.size(0) * t.size(0)}); }, x, dynamic()),
              "neither a constant nor"));
    CHECK(has(
        refusal([](Tensor const& t) { return t + torch::tensor(std::vector<float>(6, static_cast<float>(t.size(0)))); },
                x,
                dynamic()),
        "is not the same in all runs"));
    CHECK(has(refusal([](Tensor const& t) { return t.size(0) % 2 == 0 ? t : -t; }, x, dynamic()), "control flow"));
    CHECK(has(refusal([](Tensor const& t) { return torch::stack(t.unbind(0)).sum(); }, x, dynamic()), "control flow"));
    CHECK(has(refusal(
                  [](Tensor t) {
                      for (std::int64_t i = 0; i != t.size(0); ++i) t = t + 1;
                      return t;
                  },
                  x,
                  dynamic()),
              "control flow"));
    // What is said has numbers of the runs.
    CHECK(has(refusal([](Tensor const& t) { return t.narrow(0, 0, t.size(0) / 2); }, x, dynamic()),
              "batch is 8, 9 and 19"));
    // Linear numbers, products and sums are fine.
    CHECK(
        refusal([](Tensor const& t) { return torch::zeros({t.size(0) * 3 - 2, t.size(0) * t.size(0)}); }, x, dynamic())
            .empty());
    CHECK(refusal([](Tensor const& t) { return torch::zeros({t.size(0) * t.size(1) * 5, t.size(0) - t.size(1) + 40}); },
                  x,
                  all)
              .empty());
}

TEST_CASE("a dimension that is named wrongly is refused") {
    tensors const x{torch::randn({4, 3}), torch::randn({5, 3})};
    auto const f = [](Tensor const& a, Tensor const& b) { return torch::mm(a, b.t()); };
    CHECK(has(refusal(f, x, dynamic({{"x", 0, "n"}})), "there is no input 'x'; the inputs are: input_0, input_1"));
    CHECK(has(refusal(f, x, dynamic({{"input_0", 2, "n"}})), "dimension 2 of input 'input_0' does not exist"));
    CHECK(has(refusal(f, x, dynamic({{"input_0", 0, "n"}, {"input_1", 0, "n"}})), "another dimension named 'n' is 4"));
    CHECK(has(refusal(f, x, dynamic({{"input_0", 0, "n"}, {"input_0", -2, "m"}})), "has two names"));
    CHECK(has(refusal(f, {torch::randn({0, 3}), x[1]}, dynamic({{"input_0", 0, "n"}})), "is empty"));
    auto few = dynamic({{"input_0", 0, "n"}});
    few.sizes["n"] = {2, 3, 3};
    CHECK(has(refusal(f, x, few), "at least 3 different"));
    few.sizes = {{"m", {2, 3, 4}}};
    CHECK(has(refusal(f, x, few), "names no dimension"));
}

TEST_CASE("names that nothing has are refused") {
    aton::torch::export_options options;
    options.input_names = {"a", "b"};
    CHECK(has(refusal(nn::Linear(3, 2), {torch::randn({4, 3})}, options), "2 names of inputs, but 1"));
    options.input_names.clear();
    options.output_names = {"a", "b"};
    CHECK(has(refusal(nn::Linear(3, 2), {torch::randn({4, 3})}, options), "2 names of outputs, but 1"));
}

TEST_CASE("what a module does not accept is refused with its words") {
    nn::Embedding positions(10, 4);
    auto const f = [&](Tensor const& x) { return x + positions(torch::arange(x.size(0), torch::kLong)); };
    tensors const x{torch::randn({6, 4})};
    CHECK(has(refusal(f, x, dynamic()), "at batch=15"));
    auto options = dynamic();
    options.sizes["batch"] = {6, 10, 3};
    CHECK(refusal(f, x, options).empty());
    options.sizes.clear();
    options.examples = {{torch::randn({10, 4})}, {torch::randn({3, 4})}};
    CHECK(refusal(f, x, options).empty());
    options.examples = {{torch::randn({10, 4})}};
    CHECK(has(refusal(f, x, options), "at least 2 more examples"));
    options.examples = {{torch::randn({10, 4})}, {torch::randn({6, 4})}};
    CHECK(has(refusal(f, x, options), "at least 3 different sizes"));
    options.examples = {{torch::randn({10, 4})}, {}};
    CHECK(has(refusal(f, x, options), "0 inputs instead of 1"));
    CHECK(has(refusal(nn::Linear(3, 2), {torch::randn({4, 5})}), "the module fails: mat1 and mat2"));
    CHECK(has(refusal(nn::Linear(3, 2), {torch::randn({4, 3}), torch::randn({4, 3})}),
              "cannot be called with 2 tensors"));
    CHECK(
        has(refusal([](Tensor const& t) -> Tensor { throw std::runtime_error("no\nsecond line " + t.toString()); }, x),
            "fails: no"));
}

TEST_CASE("the attention of torch asks whether its arguments are equal") {
    nn::MultiheadAttention attention(8, 2);
    attention->eval();
    auto const f = [&](Tensor const& q, Tensor const& k) { return std::get<0>(attention(q, k, k)); };
    tensors const x{torch::randn({5, 3, 8}), torch::randn({5, 3, 8})};
    CHECK(has(refusal(f, x), "give `module`"));
    aton::torch::export_options options;
    options.module = attention.get();
    temporary const file("aton_torch_attention.onnx");
    aton::torch::export_module(f, x, file.path, options);
    CHECK_NOTHROW(aton::torch::check(f, x, file.path));
    CHECK_NOTHROW(aton::torch::check(f, {x[0], x[0]}, file.path)); // equal at run time: the same numbers
    CHECK(has(refusal(f, {x[0], x[0].clone()}, options), "'aten::equal'"));
}

TEST_CASE("sizes of data are not frozen") {
    tensors const x{torch::tensor({1, 0, 2, 0}), torch::randn({4})};
    auto const f = [](Tensor const& mask, Tensor const& values) {
        Tensor const kept = values.index({mask > 0});
        return torch::cat({kept, kept * 2}).view({2, kept.size(0)});
    };
    CHECK(has(refusal(f, x), "is 2 in all runs"));
    aton::torch::export_options options;
    options.examples = {{torch::tensor({1, 0, 2, 1}), torch::randn({4})},
                        {torch::tensor({1, 0, 0, 0}), torch::randn({4})}};
    aton::program::program const p = aton::torch::trace(f, x, options);
    auto const& out = p.values[p.main.outputs[0].tensor.index];
    CHECK(out.sizes[0].number == 2);
    CHECK_FALSE(out.sizes[1].is_number());
    temporary const file("aton_torch_mask.onnx");
    aton::torch::export_module(f, x, file.path, options);
    for (tensors const& each : {x,
                                tensors{torch::tensor({0, 1, 1, 1}), torch::randn({4})},
                                tensors{torch::tensor({0, 0, 0, 0}), torch::randn({4})}})
        CHECK_NOTHROW(aton::torch::check(f, each, file.path));
    auto const one = [](auto g) { return refusal(g, {torch::tensor({1, 0, 2, 2})}); };
    CHECK(has(one([](Tensor const& t) { return torch::one_hot(t); }), "is 3 in all runs"));
    CHECK(one([](Tensor const& t) { return torch::one_hot(t, 4); }).empty());
    CHECK(has(one([](Tensor const& t) { return torch::where(t > 1)[0]; }), "is 2 in all runs"));
    CHECK(has(one([](Tensor const& t) { return torch::repeat_interleave(torch::ones({4}), t); }), "is 5 in all runs"));
    CHECK(has(one([](Tensor const& t) { return std::get<0>(torch::_unique2(t)); }), "is 3 in all runs"));
    CHECK(has(one([](Tensor const& t) { return torch::bincount(t); }), "is 3 in all runs"));
    CHECK(has(one([](Tensor const& t) { return torch::argwhere(t); }), "is 3 in all runs"));
    CHECK(
        has(one([](Tensor const& t) {
                return nn::utils::rnn::pack_padded_sequence(torch::ones({4, 3}), t.slice(0, 2, 4), false, false).data();
            }),
            "in all runs"));
    // Examples have the sizes of the inputs where no dimension is dynamic.
    options.examples = {{torch::tensor({1, 0}), torch::randn({2})}};
    CHECK(has(refusal(f, x, options), "name it in `dims`"));
}

TEST_CASE("recording changes neither the module, nor its inputs, nor the random generator") {
    torch::manual_seed(3);
    nn::BatchNorm1d norm(3);
    nn::Embedding table(nn::EmbeddingOptions(5, 3).max_norm(0.5));
    auto const state = [&] {
        tensors out;
        for (auto const& t : norm->buffers()) out.push_back(t.clone());
        for (auto const& t : norm->parameters()) out.push_back(t.clone());
        out.push_back(table->weight.clone());
        return out;
    };
    Tensor x = torch::randn({4, 3});
    Tensor const before = x.clone();
    tensors const old = state();
    Tensor const generator = at::detail::getDefaultCPUGenerator().get_state();
    auto const f = [&](Tensor const& input) {
        input.mul_(2);
        return torch::dropout(norm(input), 0.5, true) + table(torch::arange(3, torch::kLong)).sum();
    };
    temporary const file("aton_torch_state.onnx");
    aton::torch::export_options options;
    options.module = norm.get();
    aton::torch::export_module(f, {x}, file.path, options);
    CHECK(torch::equal(x, before));
    tensors const now = state();
    for (std::size_t i = 0; i != old.size(); ++i) CHECK(torch::equal(old[i], now[i]));
    CHECK(torch::equal(generator, at::detail::getDefaultCPUGenerator().get_state()));
    // The parameters still get gradients, and keep their memory.
    norm(torch::randn({4, 3})).sum().backward();
    CHECK(norm->bias.grad().defined());
}

TEST_CASE("weights have the names of the module, shared ones once") {
    struct net : nn::Module {
        nn::Linear first = register_module("first", nn::Linear(40, 40));
        nn::Linear second = register_module("second", nn::Linear(40, 40));
        Tensor scale = register_buffer("scale", torch::full({40}, 2.0));
        net() { second->weight = register_parameter("tied", first->weight); }
        Tensor forward(Tensor const& x) {
            return second(first(x) * scale) + torch::nn::functional::linear(x, first->weight);
        }
    };
    auto const module = std::make_shared<net>();
    temporary const file("aton_torch_names.onnx");
    auto options = dynamic();
    options.optimize = false;
    options.output_names = {"y"};
    aton::torch::export_module(module, {torch::randn({3, 40})}, file.path, options);
    aton::model const m = aton::read_model(file.path);
    int large = 0;
    bool has_scale = false;
    for (auto const& i : m.graph.initializers) {
        large += i.data.bytes.size() == std::size_t{6400};
        has_scale = has_scale || m.graph.values[i.value].name == "scale";
    }
    CHECK(large == 1);
    CHECK(has_scale);
    CHECK(m.graph.values[m.graph.outputs[0]].name == "y");
    CHECK(m.graph.values[m.graph.inputs[0]].type.shape[0].symbol() == "batch");
    CHECK_NOTHROW(aton::torch::check(module, {torch::randn({1, 40})}, file.path));
}

TEST_CASE("check finds a model that differs") {
    nn::Linear layer(3, 2);
    temporary const file("aton_torch_check.onnx");
    aton::torch::export_module(layer, {torch::randn({4, 3})}, file.path, dynamic());
    CHECK_NOTHROW(aton::torch::check(layer, {torch::randn({9, 3})}, file.path));
    {
        torch::NoGradGuard const no_gradients;
        layer->bias[1] += 1e-3;
    }
    CHECK_THROWS_WITH_AS(aton::torch::check(layer, {torch::randn({1, 3})}, file.path),
                         doctest::Contains("output 'output': 1 of 2"),
                         aton::error);
    CHECK_THROWS_AS(aton::torch::check(layer, {torch::randn({1, 3})}, "missing.onnx"), aton::error);
    // What cannot be recorded can be compared.
    auto const reads = [&](Tensor const& x) { return x.sum().item<double>() < 1e9 ? layer(x) : x; };
    CHECK_THROWS_WITH_AS(
        aton::torch::check(reads, {torch::randn({1, 3})}, file.path), doctest::Contains("1 of 2"), aton::error);
    {
        torch::NoGradGuard const no_gradients;
        layer->bias[1] -= 1e-3;
    }
    CHECK_NOTHROW(aton::torch::check(reads, {torch::randn({1, 3})}, file.path));
}

TEST_CASE("a batch of 1 runs, and an example of 1 is exported") {
    nn::Sequential net(nn::Conv2d(2, 3, 3), nn::BatchNorm2d(3), nn::ReLU(nn::ReLUOptions(true)));
    net->eval();
    temporary const file("aton_torch_one.onnx");
    aton::torch::export_module(net, {torch::randn({1, 2, 5, 6})}, file.path, dynamic());
    for (std::int64_t const batch : {1, 2, 7})
        CHECK_NOTHROW(aton::torch::check(net, {torch::randn({batch, 2, 5, 6})}, file.path));
}

TEST_CASE("failed exports leave no file") {
    temporary const file("aton_torch_failed.onnx");
    std::filesystem::remove(file.path);
    CHECK_THROWS_AS(aton::torch::export_module(
                        [](Tensor const& x) { return x * x.sum().item<double>(); }, {torch::randn({2})}, file.path),
                    aton::error);
    aton::torch::export_options options;
    options.weights = aton::weight_mode::reference;
    CHECK_THROWS_WITH_AS(aton::torch::export_module(nn::Linear(3, 2), {torch::randn({4, 3})}, file.path, options),
                         doctest::Contains("weights are in memory"),
                         aton::error);
    CHECK_FALSE(std::filesystem::exists(file.path));
}
