// SPDX-License-Identifier: MIT
// Complex tensors in a graph. While it is built, their values have a complex dtype and the shape of ATen's tensor; two nodes view them as
// reals and back. Lowering turns every complex value into reals with a trailing axis of 2, the real and the imaginary part.
// Internal header.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/shape.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::complex_ir {

/// The domain of the two nodes, which lowering removes.
inline constexpr std::string_view domain = "aton.complex";
/// AsComplex(x, real, imag): views x, reals with a trailing axis of 2, as complex. `real` and `imag` are its parts, if they are known.
inline constexpr std::string_view as_complex = "AsComplex";
/// AsReal(z): views complex values as reals with a trailing axis of 2.
inline constexpr std::string_view as_real = "AsReal";

/// The type of the reals that hold values of a complex type.
template <class Type = value_type>
Type lowered(Type type) {
    type.dtype = part_type(type.dtype);
    if (!type.shape.has_rank()) return type;
    std::vector<dim> sizes = type.shape.dims();
    sizes.emplace_back(2);
    type.shape = shape(std::move(sizes));
    return type;
}

/// A complex constant as reals with a trailing axis of 2; the bytes are the same.
template <class Tensor = tensor>
Tensor lowered_tensor(Tensor t) {
    t.type = part_type(t.type);
    t.sizes.push_back(2);
    return t;
}

/// Turns the complex values of a graph, of the graphs in its attributes and of its functions into reals with a trailing axis of 2.
template <class Graph>
void lower(Graph& graph) {
    for (auto& v : graph.values)
        if (is_complex(v.type.dtype)) v.type = lowered(std::move(v.type));
    for (auto& i : graph.initializers)
        if (i.stored == nullptr && is_complex(i.data.type)) i.data = lowered_tensor(std::move(i.data));
    for (auto& n : graph.nodes) {
        if (n.domain == domain) {
            n.domain.clear();
            n.op = "Identity";
            n.inputs.resize(1);
        }
        for (auto& a : n.attributes) {
            if (n.op == "Constant" && n.domain.empty())
                for (auto& t : a.tensors)
                    if (is_complex(t.type)) t = lowered_tensor(std::move(t));
            for (auto& inner : a.graphs) lower(inner);
        }
    }
    for (auto& f : graph.functions)
        for (auto& body : f.body) lower(body);
}

} // namespace ATON_NAMESPACE::complex_ir
