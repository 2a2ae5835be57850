// SPDX-License-Identifier: MIT
// What C++ programs do beside calling layers: exported, and compared with libtorch at several sizes on Aton's runtime.
#include <filesystem>
#include <string>

#include <ATen/record_function.h>
#include <doctest/doctest.h>
#include <torch/torch.h>

#include <aton/torch.hpp>

namespace {

using torch::Tensor;
using tensors = std::vector<Tensor>;

aton::torch::export_options batch_of_all(std::size_t inputs) {
    aton::torch::export_options options;
    for (std::size_t i = 0; i != inputs; ++i) {
        options.input_names.push_back("x" + std::to_string(i));
        options.dims.push_back({options.input_names.back(), 0, "batch"});
    }
    return options;
}

/// Exports with a dynamic first dimension, and checks at these inputs. Returns the message of a failure.
template <class F>
std::string failure(F f, tensors const& example, std::vector<tensors> const& others,
                    aton::torch::export_options const& options) {
    auto const path = (std::filesystem::temp_directory_path() / "aton_torch_capture.onnx").string();
    std::string out;
    try {
        aton::torch::export_module(f, example, path, options);
        aton::torch::check(f, example, path);
        for (tensors const& each : others) aton::torch::check(f, each, path);
    } catch (aton::error const& e) {
        out = e.what();
    }
    std::filesystem::remove(path);
    return out;
}

template <class F>
std::string failure(F f, std::vector<std::int64_t> sizes = {4, 6}, at::ScalarType type = torch::kFloat) {
    std::vector<tensors> others;
    auto const draw = [&](std::int64_t batch) {
        sizes[0] = batch;
        return tensors{(torch::randn(sizes) * 5).to(type)};
    };
    tensors const example = draw(sizes[0]);
    for (std::int64_t const batch : {1, 2, 7}) others.push_back(draw(batch));
    return failure(f, example, others, batch_of_all(1));
}

struct twice : torch::autograd::Function<twice> {
    static Tensor forward(torch::autograd::AutogradContext* context, Tensor const& x) {
        context->save_for_backward({x});
        return x * 2 + 1;
    }
    static torch::autograd::tensor_list backward(torch::autograd::AutogradContext*, torch::autograd::tensor_list g) {
        return {g[0] * 2};
    }
};

} // namespace

TEST_CASE("in-place operators and views") {
    CHECK(failure([](Tensor const& x) {
              Tensor y = x.t().contiguous();
              y.unsqueeze_(0).squeeze_(0).t_().mul_(2);
              return y;
          }) == "");
    CHECK(failure([](Tensor const& x) {
              Tensor y = torch::zeros({x.size(0), 6});
              for (std::int64_t i = 0; i != 6; ++i) y.select(1, i).copy_(x.select(1, 5 - i) * static_cast<double>(i));
              return y;
          }) == "");
    CHECK(failure([](Tensor const& x) {
              Tensor y = x.clone();
              Tensor const part = y.view({-1, 2, 3}).permute({2, 0, 1}).narrow(0, 1, 2);
              y.add_(1);
              part.div_(3);
              return std::make_tuple(y, part.sum(0), x);
          }) == "");
    CHECK(failure([](Tensor x) {
              x += 1;
              Tensor const y = x.detach();
              x.mul_(y);
              return std::make_pair(x, y);
          }) == "");
    CHECK(failure([](Tensor const& x) {
              Tensor y = torch::empty_like(x);
              torch::add_out(y, x, x, 3);
              return y;
          }) == "");
    CHECK(failure([](Tensor const& x) {
              Tensor y = torch::empty({0});
              torch::add_out(y, x, x, 3);
              return y;
          }) == "");
    CHECK(failure([](Tensor const& x) { return x.as_strided({x.size(0), 2}, {6, 3}, 1); }) == "");
    CHECK(failure([](Tensor const& x) { return x.masked_fill(x > 0, -1).index_fill(1, torch::tensor({0, 2}), 9); }) ==
          "");
    CHECK(failure([](Tensor const& x) {
              return x.index({torch::indexing::Slice(), torch::indexing::Slice(1, torch::indexing::None, 2)});
          }) == "");
}

TEST_CASE("dtypes") {
    auto const f = [](Tensor const& x) {
        return std::make_tuple(x + 1, x * 2, x.sum(), x > 1, x.to(torch::kDouble) / 3);
    };
    for (at::ScalarType const type :
         {torch::kFloat, torch::kDouble, torch::kInt, torch::kLong, torch::kShort, torch::kByte, torch::kHalf}) {
        CAPTURE(c10::toString(type));
        CHECK(failure(f, {4, 6}, type) == "");
    }
    CHECK(
        failure([](Tensor const& x) { return std::make_tuple(x.logical_not(), x & x.flip(1), torch::where(x, 1, 2)); },
                {4, 6},
                torch::kBool) == "");
    CHECK(failure([](Tensor const& x) { return torch::fft::rfft(x).abs(); }) == "");
    CHECK(failure([](Tensor const& x) { return torch::complex(x, x + 1) * c10::complex<double>(0, 1); }) == "");
}

TEST_CASE("inputs and outputs") {
    CHECK(failure([](Tensor const& x) { return x; }) == "");
    CHECK(failure([](Tensor const& x) { return tensors{x, x * 2, x}; }) == "");
    CHECK(failure([](Tensor const& x) {
              return std::make_pair(std::optional<Tensor>(), std::optional<Tensor>(x * 2));
          }) == "");
    CHECK(failure([](tensors const& x) { return x[0] * 2; }) == "");
    Tensor const twin = torch::randn({4, 3}); // given twice, they are still two inputs
    CHECK(failure([](Tensor const& a, Tensor const& b) { return a.add_(1) - b; },
                  {twin, twin},
                  {{torch::randn({5, 3}), torch::randn({5, 3})}},
                  batch_of_all(2)) == "");
    CHECK(failure([] { return torch::arange(5); }, {}, {}, {}) == "");
    Tensor const weight = torch::randn({3, 6});
    CHECK(failure([&](Tensor const& x) { return std::make_tuple(weight, x.sum() + weight); }) == "");
    // Strides of the example have no effect: transposed, expanded, sliced.
    auto const f = [](Tensor const& a, Tensor const& b, Tensor const& c) {
        return a.reshape(-1) + b.reshape(-1) * c.reshape(-1);
    };
    auto const draw = [](std::int64_t n) {
        return tensors{torch::randn({3, n}).t(),
                       torch::randn({n, 1}).expand({n, 3}),
                       torch::randn({2 * n, 6}).slice(0, 0, n).slice(1, 0, 6, 2)};
    };
    CHECK(failure(f, draw(4), {draw(1), draw(5)}, batch_of_all(3)) == "");
    auto const scalar = [](Tensor const& a, Tensor const& b) { return a * b; };
    auto options = batch_of_all(2);
    options.dims.pop_back();
    CHECK(
        failure(scalar, {torch::randn({3}), torch::tensor(2.5)}, {{torch::randn({5}), torch::tensor(-1.0)}}, options) ==
        "");
}

TEST_CASE("what is around the calls") {
    CHECK(failure([](Tensor const& x) { return twice::apply(x) * 3; }) == "");
    CHECK(failure([](Tensor const& x) {
              RECORD_FUNCTION("a range with a name", {});
              return x * 3;
          }) == "");
    CHECK(failure([](Tensor const& x) {
              try {
                  return torch::mm(x, x.narrow(1, 0, 3));
              } catch (c10::Error const&) {
                  return x * 3;
              }
          }) == "");
    CHECK(failure([](Tensor const& x) {
              torch::AutoGradMode const with_gradients(true);
              return (x * 3).requires_grad_().detach() + 1;
          }) == "");
    CHECK(failure([](Tensor const& x) {
              return x * torch::linspace(0, 1, 6) + torch::eye(6)[2] + torch::full_like(x, 2.5) -
                     torch::ones({6}).fill_(3);
          }) == "");
    CHECK(failure([](Tensor const& x) { return x.sum(0, true).expand_as(x) + x.new_zeros({x.size(0), 1}); }) == "");
}

TEST_CASE("functions of TorchScript") {
    auto const unit = torch::jit::compile(
        "def f(x):\n    y = torch.relu(x) * 2\n    y += x.size(0)\n    return y.view([x.size(0), 2, -1])\n");
    CHECK(failure([&](Tensor const& x) { return unit->run_method("f", x).toTensor(); }) == "");
    auto const linear = torch::jit::compile(
        "def f(x, w):\n    for i in range(3):\n        x = torch.linear(x, w)\n    return x.view([-1, x.size(0)])\n");
    Tensor const weight = torch::randn({6, 6});
    CHECK(failure([&](Tensor const& x) { return linear->run_method("f", x, weight).toTensor(); }) == "");
}

TEST_CASE("memory that is shared outside of operators") {
    CHECK(failure([](Tensor const& x) {
              return torch::from_blob(x.data_ptr(), {2}).clone();
          }).find("is not the same in all runs") != std::string::npos);
    Tensor const table = torch::randn({4, 6});
    CHECK(failure([&](Tensor const& x) {
              return x + torch::from_blob(table.data_ptr(), {2, 6})[1] + table.variable_data()[0];
          }) == "");
    CHECK(failure([](Tensor const& x) {
              (void)aton::torch::trace([](Tensor const& y) { return y; }, {torch::randn({2})});
              return x * 2;
          }).find("is recorded while another") != std::string::npos);
}

TEST_CASE("state that is not a buffer") {
    Tensor count = torch::zeros({1});
    std::string const text = failure([&](Tensor const& x) {
        count.add_(1);
        return x * count;
    });
    CHECK(count[0].item<float>() == 0);
    CHECK(text == "");
}
