// SPDX-License-Identifier: MIT
// Tensors of test numbers, and the same ones in other layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <aton/runtime/kernels.hpp>

namespace aton::tests {

/// A tensor whose elements are a function of their index in row-major order.
template <class T>
runtime::tensor filled(dtype t, runtime::sizes of, std::function<T(std::int64_t)> const& f) {
    runtime::tensor x = runtime::tensor::empty(t, std::move(of));
    for (std::int64_t i = 0; i != x.count(); ++i) x.data<T>()[i] = f(i);
    return x;
}

inline runtime::tensor doubles(runtime::sizes of, std::function<double(std::int64_t)> const& f) {
    return filled<double>(dtype::float64, std::move(of), f);
}
inline runtime::tensor floats(std::vector<float> const& values) {
    return filled<float>(dtype::float32, {static_cast<std::int64_t>(values.size())}, [&](std::int64_t i) {
        return values[static_cast<std::size_t>(i)];
    });
}
inline runtime::tensor integers(std::vector<std::int64_t> const& values) {
    return runtime::tensor::of_integers(values);
}

/// The elements of any view, in row-major order.
template <class T>
std::vector<T> elements(runtime::tensor const& x) {
    std::vector<T> out;
    for (std::int64_t i = 0; i != x.count(); ++i) {
        std::int64_t rest = i;
        std::int64_t at = 0;
        for (std::size_t k = x.rank(); k-- != 0; rest /= x.size(k)) at += rest % x.size(k) * x.strides()[k];
        out.push_back(x.data<T>()[at]);
    }
    return out;
}

/// The same elements without adjacent ones: every second one of a larger tensor, with dimensions in reverse order.
inline runtime::tensor scattered(runtime::tensor const& x) {
    runtime::sizes larger;
    for (std::size_t i = x.rank(); i-- != 0;) larger.push_back(2 * x.size(i) + 1);
    runtime::tensor const storage = runtime::tensor::empty(x.dtype(), larger);
    std::vector<std::size_t> reverse;
    for (std::size_t i = x.rank(); i-- != 0;) reverse.push_back(i);
    runtime::tensor view = storage.permuted(reverse);
    for (std::size_t i = 0; i != x.rank(); ++i) view = view.sliced(i, 2 * x.size(i) - 1, x.size(i), -2);
    runtime::cpu_kernels().copy(x, view);
    return view;
}

/// The same elements, with the first dimension innermost.
inline runtime::tensor first_innermost(runtime::tensor const& x) {
    if (x.rank() < 2) return x;
    std::vector<std::size_t> there;
    std::vector<std::size_t> back{x.rank() - 1};
    for (std::size_t i = 1; i != x.rank(); ++i) {
        there.push_back(i);
        back.push_back(i - 1);
    }
    there.push_back(0);
    return x.permuted(there).contiguous().permuted(back);
}

inline std::vector<runtime::tensor> layouts(runtime::tensor const& x) { return {x, scattered(x), first_innermost(x)}; }

} // namespace aton::tests
