// SPDX-License-Identifier: MIT
// Complex tensors of a mapping: `complex_value`, and the functions of `graph` that make and take them apart.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/error.hpp>
#include <aton/core/shape.hpp>
#include <aton/dsl/attr.hpp>
#include <aton/dsl/number.hpp>
#include <aton/dsl/value.hpp>
#include <aton/ir/complex.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::dsl {

/// A complex tensor. It is not a `value`: ONNX has no operators on complex numbers, so a body computes with its parts, which are reals of the
/// same shape. A model holds it as reals with a trailing axis of 2, as PyTorch's exporters do.
/// ```cpp
/// inline constexpr auto reciprocal = symbolic<"aten::reciprocal(self)">([](graph<13> g, complex_value z) {
///     value const re = g.real(z);
///     value const im = g.imag(z);
///     value const norm = g.op<"Add">(g.op<"Mul">(re, re), g.op<"Mul">(im, im));
///     return g.complex(g.op<"Div">(re, norm), g.op<"Div">(g.op<"Neg">(im), norm));
/// });
/// ```
class complex_value {
public:
    complex_value() = default;
    /// From a tensor of the program: a complex one, or a real one, whose imaginary part is 0.
    explicit complex_value(value v) : whole_(v) {}
    /// From parts of one dtype and shape; use `g.complex`, which checks the dtypes.
    complex_value(value real, value imaginary) : real_(real), imaginary_(imaginary) {}

    /// complex32, complex64 or complex128.
    [[nodiscard]] aton::dtype dtype() const { return to_complex(tensor().dtype()); }
    /// The tensor that it was made from, for type promotion: its dtype may be real. Of a number that was made from parts, the real part.
    [[nodiscard]] value const& tensor() const { return is_pair() ? real_ : whole_; }
    /// The shape of the parts, which may lack the rank or single sizes.
    [[nodiscard]] aton::shape const& shape() const { return tensor().shape(); }
    /// The number of dimensions; refuses the conversion if it is unknown.
    [[nodiscard]] std::int64_t rank() const { return tensor().rank(); }

    // Internal.
    [[nodiscard]] bool is_pair() const { return whole_.id() == no_value; }
    [[nodiscard]] value const& pair_part(std::size_t i) const { return i == 0 ? real_ : imaginary_; }

private:
    value whole_; ///< unset: made from parts
    value real_;
    value imaginary_;
};

namespace detail {

/// Appends AsComplex or AsReal, of which `inputs` are the operands.
template <class Graph>
value append_view(Graph& graph, std::string_view op, std::initializer_list<value> inputs, value_type type) {
    auto const index = static_cast<std::int64_t>(graph.nodes.size());
    value_id const id = graph.add_value(std::move(type));
    graph.values[id].producer = index;
    typename Graph::node_type node;
    node.domain = complex_ir::domain;
    node.op = op;
    for (value const& v : inputs) node.inputs.push_back(graph.capture(v.owner(), v.id()));
    node.outputs.push_back(id);
    node.source = graph.context.overload;
    node.origin = graph.context.origin;
    graph.nodes.push_back(std::move(node));
    return {graph, id};
}

/// The AsComplex node that makes a complex value; nullptr if another node does.
template <class Value>
auto const* complex_view(Value const& v) {
    auto const& graph = v.owner();
    std::int64_t const producer = graph.values[v.id()].producer;
    auto const* const node = producer < 0 ? nullptr : &graph.nodes[static_cast<std::size_t>(producer)];
    return node != nullptr && node->domain == complex_ir::domain && node->op == complex_ir::as_complex ? node : nullptr;
}

template <class Graph>
class part_of_call;

} // namespace detail

/// The functions of `graph` for complex tensors, which it inherits.
template <class Graph>
class complex_operations {
    friend class detail::part_of_call<Graph>;

public:
    /// The real part.
    [[nodiscard]] value real(complex_value const& z) const { return part(z, 0); }
    /// The imaginary part; zeros if the tensor is real.
    [[nodiscard]] value imag(complex_value const& z) const { return part(z, 1); }
    /// A complex tensor from its parts, which have the same shape. Refuses parts that are not both float16, float32 or float64.
    [[nodiscard]] complex_value complex(value real, value imaginary) const {
        expect_part(real);
        if (real.dtype() != imaginary.dtype())
            throw unsupported_error("the parts of a complex tensor are " + std::string(name(real.dtype())) + " and " +
                                    std::string(name(imaginary.dtype())) + "; cast one of them");
        return {real, imaginary};
    }
    /// A 0-d complex tensor from a number, which may be real or computed.
    [[nodiscard]] complex_value complex(number const& n, dtype type) const {
        dtype const part = part_type(type);
        if (!n.is_constant()) return {self().scalar(n, part), self().scalar(0.0, part)};
        return {self().scalar(n.constant<double>(), part), self().scalar(n.constant().imaginary(), part)};
    }
    /// Reals with a trailing axis of 2 that hold a complex tensor: ATen's view_as_real.
    [[nodiscard]] value as_real(complex_value const& z) const {
        value const& v = z.tensor();
        if (z.is_pair() || !is_complex(v.dtype())) {
            value const parts[] = {with_last_axis(real(z)), with_last_axis(imag(z))};
            return self().template op<"Concat">(std::span<value const>(parts), attr::axis_i(-1));
        }
        return viewed(v);
    }
    /// The complex tensor that reals with a trailing axis of 2 hold: ATen's view_as_complex.
    [[nodiscard]] complex_value as_complex(value x) const {
        expect_part(x);
        return complex_value(detail::append_view(self().data(), complex_ir::as_complex, {x}, viewed_type(x)));
    }
    /// A complex tensor of another complex dtype.
    [[nodiscard]] complex_value cast(complex_value const& z, dtype target) const {
        if (z.dtype() == target && is_complex(z.tensor().dtype())) return z;
        dtype const type = part_type(target);
        if (z.is_pair() || is_complex(z.tensor().dtype()))
            return {self().cast(real(z), type), self().cast(imag(z), type)};
        value const x = self().cast(z.tensor(), type);
        return {x, zeros_like(x)};
    }
    /// The complex tensor as a result of a body that returns either kind. No operator takes it as an operand.
    [[nodiscard]] value to_value(complex_value const& z) const {
        if (!z.is_pair() && is_complex(z.tensor().dtype())) return z.tensor();
        value const re = real(z);
        value const im = imag(z);
        value const both = as_real({re, im});
        return detail::append_view(self().data(), complex_ir::as_complex, {both, re, im}, viewed_type(both));
    }

protected:
    /// A complex value as reals.
    [[nodiscard]] value viewed(value const& v) const {
        if (v.is_constant()) return self().constant(complex_ir::lowered_tensor(v.constant()));
        if (auto const* const node = detail::complex_view(v)) return {v.owner(), node->inputs[0]};
        return detail::append_view(self().data(), complex_ir::as_real, {v}, complex_ir::lowered(v.type()));
    }

private:
    [[nodiscard]] Graph const& self() const { return static_cast<Graph const&>(*this); }
    static void expect_part(value const& x) {
        if (x.dtype() != dtype::float16 && x.dtype() != dtype::float32 && x.dtype() != dtype::float64)
            throw unsupported_error("a complex tensor has parts of float16, float32 or float64, not of " +
                                    std::string(name(x.dtype())));
    }
    static value_type viewed_type(value const& x) {
        value_type type = x.type();
        type.dtype = to_complex(type.dtype);
        if (!type.shape.has_rank()) return type;
        std::vector<dim> sizes = type.shape.dims();
        if (sizes.empty()) throw unsupported_error("a 0-d tensor cannot be viewed as complex");
        if (sizes.back().is_static() && sizes.back().size() != 2)
            throw unsupported_error("a tensor whose last dimension is " + std::to_string(sizes.back().size()) +
                                    " cannot be viewed as complex");
        sizes.pop_back();
        type.shape = shape(std::move(sizes));
        return type;
    }
    [[nodiscard]] value with_last_axis(value x) const {
        if (self().opset() >= 13) return self().template within<13>().template op<"Unsqueeze">(x, self().ints({-1}));
        return self().template within<7, 12>().template op<"Unsqueeze">(x, attr::axes_i({-1}));
    }
    [[nodiscard]] value zeros_like(value x) const {
        value const zero = self().scalar(0, x.dtype());
        if (x.has_rank() && x.rank() == 0) {
            self().data().values[zero.id()].wrapped_number = x.is_wrapped_number();
            return zero;
        }
        if (self().opset() < 8) throw unsupported_error("the imaginary part of a real tensor needs opset 8");
        return self().template within<8>().template op<"Expand">(zero, self().shape_of(x));
    }
    [[nodiscard]] value part(complex_value const& z, std::size_t i) const {
        if (z.is_pair()) return z.pair_part(i);
        value const& v = z.tensor();
        dtype const type = part_type(z.dtype());
        if (!is_complex(v.dtype())) {
            value const x = self().cast(v, type);
            return i == 0 ? x : zeros_like(x);
        }
        if (v.is_constant()) {
            aton::tensor const& both = v.constant();
            aton::tensor one{type, both.sizes, {}};
            for (std::int64_t k = 0; k != both.element_count(); ++k) {
                scalar const s = both.at(static_cast<std::size_t>(k));
                one.append(i == 0 ? s.to<double>() : s.imaginary());
            }
            value const made = self().constant(std::move(one));
            self().data().values[made.id()].wrapped_number = v.is_wrapped_number();
            return made;
        }
        if (auto const* const node = detail::complex_view(v); node != nullptr && node->inputs.size() == 3)
            return {v.owner(), node->inputs[i + 1]};
        value const both = as_real(z);
        value const index = self().scalar(static_cast<std::int64_t>(i), dtype::int64);
        return self().template op<"Gather">(both, index, attr::axis_i(-1));
    }
};

} // namespace ATON_NAMESPACE::dsl
