// SPDX-License-Identifier: MIT
// Shrinks a failing call: arguments at their defaults, smaller sizes, then simpler elements.
#include "shrink.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

using runtime::tensor;

template <class Function>
void for_each_tensor(sample& s, Function const& f) {
    for (runtime::aten_argument& a : s.arguments) {
        if (a.tensor) f(a.tensor);
        for (tensor& t : a.tensors)
            if (t) f(t);
    }
}

class shrinker {
public:
    shrinker(sample const& s, std::function<bool(sample const&)> const& fails) : best_(s), fails_(fails) {}

    sample run() {
        for (bool smaller = true; smaller && calls_ < max_calls;) {
            smaller = arguments();
            smaller = sizes() || smaller;
        }
        elements();
        return std::move(best_);
    }

private:
    static constexpr int max_calls = 150;

    bool accept(sample candidate) {
        if (calls_++ >= max_calls || !fails_(candidate)) return false;
        best_ = std::move(candidate);
        return true;
    }

    bool arguments() {
        bool any = false;
        for (std::size_t i = best_.arguments.size(); i-- != 0;) {
            sample without = best_;
            without.arguments.erase(without.arguments.begin() + static_cast<std::ptrdiff_t>(i));
            any = accept(std::move(without)) || any;
        }
        return any;
    }

    /// Axes of the same size usually belong together: all of them are shrunk at once.
    bool sizes() {
        std::set<std::int64_t> all;
        for_each_tensor(best_, [&](tensor const& t) { all.insert(t.sizes().begin(), t.sizes().end()); });
        bool any = false;
        for (std::int64_t const size : all)
            for (std::int64_t const smaller : {std::int64_t{1}, std::int64_t{2}, size / 2, size - 1}) {
                if (smaller >= size || smaller < 1) continue;
                sample candidate = best_;
                for_each_tensor(candidate, [&](tensor& t) {
                    for (std::size_t axis = 0; axis != t.rank(); ++axis)
                        if (t.size(axis) == size) t = t.sliced(axis, 0, smaller);
                    t = t.contiguous();
                });
                if (accept(std::move(candidate))) {
                    any = true;
                    break;
                }
            }
        return any;
    }

    /// Sets all floats to 0, or else rounds them to integers.
    void elements() {
        for (bool const zero : {true, false}) {
            sample candidate = best_;
            for_each_tensor(candidate, [&](tensor& t) {
                if (!is_floating(t.dtype())) return;
                t = zero ? runtime::contiguous(runtime::full(0, t.dtype(), t.sizes())) : runtime::round(t);
            });
            if (accept(std::move(candidate))) return;
        }
    }

    sample best_;
    std::function<bool(sample const&)> const& fails_;
    int calls_ = 0;
};

} // namespace

sample shrink(sample const& s, std::function<bool(sample const&)> const& fails) { return shrinker(s, fails).run(); }

} // namespace ATON_NAMESPACE::verify
