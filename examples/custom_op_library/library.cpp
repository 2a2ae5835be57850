// SPDX-License-Identifier: MIT
// The kernels as operators of torch: their schemas, CPU implementations, and the shapes of their results.
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include <ATen/ATen.h>
#include <torch/library.h>

#include "kernels.hpp"

namespace {

std::span<float const> elements(at::Tensor const& x) {
    return {x.const_data_ptr<float>(), static_cast<std::size_t>(x.numel())};
}
std::span<float> elements_of(at::Tensor& x) {
    return {x.mutable_data_ptr<float>(), static_cast<std::size_t>(x.numel())};
}

/// A dimension as torch's users write it; a negative one counts from the end.
std::size_t wrapped(at::Tensor const& x, std::int64_t dim) {
    TORCH_CHECK(-x.dim() <= dim && dim < x.dim(), "dim ", dim, " of a tensor of rank ", x.dim());
    return static_cast<std::size_t>(dim < 0 ? dim + x.dim() : dim);
}

// On the CPU.

at::Tensor foo_forward(at::Tensor const& input1, at::Tensor const& input2, double attr1, std::int64_t attr2) {
    TORCH_CHECK(input1.sizes() == input2.sizes(), "foo_forward: the inputs have different shapes");
    at::Tensor const a = input1.contiguous();
    at::Tensor const b = input2.contiguous();
    at::Tensor out = at::empty_like(a);
    custom_ops::foo_forward(elements(a), elements(b), attr1, attr2, elements_of(out));
    return out;
}

at::Tensor swiglu(at::Tensor const& x, double alpha, double limit) {
    TORCH_CHECK(x.dim() > 0 && x.size(-1) % 2 == 0, "swiglu: the last dimension holds gates and as many values");
    std::vector<std::int64_t> sizes = x.sizes().vec();
    sizes.back() /= 2;
    at::Tensor const rows = x.contiguous();
    at::Tensor out = rows.new_empty(sizes);
    custom_ops::swiglu(elements(rows), static_cast<std::size_t>(sizes.back()), alpha, limit, elements_of(out));
    return out;
}

std::tuple<at::Tensor, at::Tensor> rms_norm(at::Tensor const& x, std::optional<at::Tensor> const& weight, double eps,
                                            std::int64_t dim) {
    std::size_t const at = wrapped(x, dim);
    std::vector<std::int64_t> sizes = x.sizes().vec();
    custom_ops::dimension over{1, static_cast<std::size_t>(sizes[at]), 1};
    for (std::size_t i = 0; i != sizes.size(); ++i)
        if (i != at) (i < at ? over.outer : over.inner) *= static_cast<std::size_t>(sizes[i]);
    sizes[at] = 1;
    at::Tensor const input = x.contiguous();
    at::Tensor const gain = weight.has_value() ? weight->contiguous() : at::Tensor();
    at::Tensor y = at::empty_like(input);
    at::Tensor inverse_rms = input.new_empty(sizes);
    custom_ops::rms_norm(elements(input),
                         over,
                         gain.defined() ? elements(gain) : std::span<float const>(),
                         eps,
                         elements_of(y),
                         elements_of(inverse_rms));
    return {y, inverse_rms};
}

// On the meta device, with which torch.export traces: only shapes, whose sizes may be symbols.

at::Tensor foo_forward_shape(at::Tensor const& input1, at::Tensor const&, double, std::int64_t) {
    return at::empty_like(input1);
}

at::Tensor swiglu_shape(at::Tensor const& x, double, double) {
    std::vector<c10::SymInt> sizes = x.sym_sizes().vec();
    sizes.back() = sizes.back() / 2;
    return x.new_empty_symint(sizes);
}

std::tuple<at::Tensor, at::Tensor> rms_norm_shape(at::Tensor const& x, std::optional<at::Tensor> const&, double,
                                                  std::int64_t dim) {
    std::vector<c10::SymInt> sizes = x.sym_sizes().vec();
    sizes[wrapped(x, dim)] = 1;
    return {at::empty_like(x), x.new_empty_symint(sizes)};
}

} // namespace

TORCH_LIBRARY(custom_ops, m) {
    m.def("foo_forward(Tensor input1, Tensor input2, float attr1, int attr2) -> Tensor");
    m.def("swiglu(Tensor x, float alpha=1.702, float limit=7.0) -> Tensor");
    m.def("rms_norm(Tensor x, Tensor? weight=None, float eps=1e-06, int dim=-1) -> (Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(custom_ops, CPU, m) {
    m.impl("foo_forward", &foo_forward);
    m.impl("swiglu", &swiglu);
    m.impl("rms_norm", &rms_norm);
}

TORCH_LIBRARY_IMPL(custom_ops, Meta, m) {
    m.impl("foo_forward", &foo_forward_shape);
    m.impl("swiglu", &swiglu_shape);
    m.impl("rms_norm", &rms_norm_shape);
}
