// SPDX-License-Identifier: MIT
#include "other_forms.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <set>

#include <aton/core/error.hpp>
#include <aton/dsl/thrown.hpp>
#include <aton/runtime/onnx_model.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

/// The axes whose sizes can be dynamic: every axis at once, then each of them.
std::set<int> dynamic_axes(sample const& s) {
    std::set<int> out;
    auto const add = [&](runtime::tensor const& x) {
        if (!x) return;
        runtime::sizes const& sizes = x.sizes();
        for (std::size_t i = 0; i != sizes.size(); ++i)
            if (sizes[i] > 1) out.insert({call_types::every_axis, static_cast<int>(i)});
    };
    for (runtime::aten_argument const& a : s.arguments) {
        if (std::ranges::find(s.constants, a.name) != s.constants.end()) continue;
        add(a.tensor);
        std::ranges::for_each(a.tensors, add);
    }
    return out;
}

/// Removes the bodies of operators for which ONNX Runtime, and the runtime that checks rows, have a kernel. Returns the first of these.
std::string remove_bodies_beside_kernels(graph_data& g) {
    std::string first;
    std::erase_if(g.functions, [&](graph_function const& f) {
        if (!runtime::has_kernel(f.domain, f.name)) return false;
        if (first.empty()) first = f.domain + "::" + f.name;
        return true;
    });
    return first;
}

} // namespace

std::string difference_in_other_forms(translation const& graph, sample const& s,
                                      std::span<runtime::value const> results,
                                      std::function<translation(call_types const&)> const& convert,
                                      std::function<std::string(translation const&)> const& difference) {
    if (!graph.graph.functions.empty()) {
        translation with_kernels = graph;
        std::string const op = remove_bodies_beside_kernels(with_kernels.graph);
        if (std::string const why = op.empty() ? std::string() : difference(with_kernels); !why.empty())
            return "with the kernel of " + op + ", which ONNX Runtime calls instead of the body: " + why;
    }
    for (int const axis : dynamic_axes(s)) {
        std::string why;
        try {
            why = difference(convert({axis, results}));
        } catch (refused const&) {
            continue;
        } catch (std::exception const&) {
            why = describe_thrown();
        }
        if (why.empty()) continue;
        return "with dynamic sizes" + (axis < 0 ? std::string() : " along axis " + std::to_string(axis)) + ": " + why;
    }
    return {};
}

} // namespace ATON_NAMESPACE::verify
