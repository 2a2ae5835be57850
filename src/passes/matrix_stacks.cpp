// SPDX-License-Identifier: MIT
// Removes Reshapes around matrix products that only flatten and restore leading dimensions, which MatMul supports.
#include "rewriter.hpp"

#include <utility>

#include "attributes.hpp"
#include "evaluate.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

/// Whether both have the same dimensions except for the last `n`.
bool same_stack(shape const& a, shape const& b, std::size_t n) {
    if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank() || a.rank() < n) return false;
    for (std::size_t i = 0; i + n != a.rank(); ++i)
        if (!a[i].same_as(b[i])) return false;
    return true;
}

dim from_end(shape const& s, std::size_t i) { return s[s.rank() - i]; }

/// The operand of a Reshape that flattens leading dimensions and keeps the last `n`.
value_id folded_stack(rewriter const& r, value_id id, std::size_t n) {
    graph_node const* const p = r.producer(id, "Reshape");
    if (p == nullptr) return no_value;
    shape const& from = r.shape_of(p->inputs[0]);
    shape const& to = r.shape_of(id);
    if (!from.has_rank() || !to.has_rank() || from.rank() < n || to.rank() < n) return no_value;
    for (std::size_t i = 1; i <= n; ++i) // the rest has as many elements as before
        if (!from_end(from, i).same_as(from_end(to, i)) || from_end(from, i).is(0)) return no_value;
    return p->inputs[0];
}

/// The second operand of a Gemm for MatMul. The next sweep moves a Transpose into the weight.
value_id right_operand(rewriter& r, graph_node const& gemm) {
    value_id const w = gemm.inputs[1];
    if (int_attribute(gemm, "transB", 0) == 0) return w;
    tensor const* const t = r.constant(w);
    bool const foldable = t != nullptr && small_count(t->sizes, t->type).has_value();
    if (!foldable && (r.stored(w) == nullptr || !r.options().rewrite_weights || r.uses(w) != 1)) return no_value;
    shape const& s = r.shape_of(w);
    graph_node n = make_node("Transpose", {w}, gemm);
    node_attribute& perm = n.attributes.emplace_back();
    perm.name = "perm";
    perm.type = onnx::attr_type::ints;
    perm.ints = {1, 0};
    return r.add_node(std::move(n), {r.type(w).dtype, shape{s[1], s[0]}});
}

/// Reshape(Gemm(Reshape(x), w, b)) is x w + b.
void unfold_gemm(rewriter& r, graph_node& n, graph_node const& gemm) {
    shape const& out = r.shape_of(n.outputs[0]);
    value_id const x = folded_stack(r, gemm.inputs[0], 1);
    value_id const bias = input(gemm, 2);
    if (x == no_value || int_attribute(gemm, "transA", 0) != 0 || float_attribute(gemm, "alpha", 1) != 1 ||
        float_attribute(gemm, "beta", 1) != 1 || (bias != no_value && r.shape_of(bias).rank() != 1))
        return;
    if (!same_stack(r.shape_of(x), out, 1) || out.rank() < 3 ||
        !from_end(out, 1).same_as(from_end(r.shape_of(n.inputs[0]), 1)))
        return;
    graph_node const like = make_node("MatMul", {}, gemm);
    value_id const w = right_operand(r, graph_node(gemm));
    if (w == no_value) return;
    n.attributes.clear();
    n.source = like.source;
    n.origin = like.origin;
    if (bias == no_value) {
        n.op = "MatMul";
        r.set_inputs(n, {x, w});
    } else {
        n.op = "Add";
        r.set_inputs(n, {r.add_node(make_node("MatMul", {x, w}, like), r.type(n.outputs[0])), bias});
    }
}

/// An operand that is not flattened, reshaped to the leading dimensions of `out`.
value_id unfolded(rewriter& r, value_id x, shape const& out, graph_node const& like) {
    shape const& own = r.shape_of(x);
    std::vector<dim> dims(out.dims().begin(), out.dims().end() - 2);
    dims.insert(dims.end(), {from_end(own, 2), from_end(own, 1)});
    auto const target = reshape_target(own, shape(dims));
    if (!target) return no_value;
    dtype const type = r.type(x).dtype;
    return r.add_node(make_node("Reshape", {x, r.add_integers(*target)}, like), {type, shape(dims)});
}

/// Reshape(MatMul(Reshape(a), Reshape(b))) is a b; this also saves a node if only one operand is reshaped.
void unfold_matmul(rewriter& r, graph_node& n, graph_node const& matmul) {
    shape const out = r.shape_of(n.outputs[0]);
    shape const product = r.shape_of(n.inputs[0]);
    if (!product.has_rank() || product.rank() < 3 || out.rank() < 3 || out.rank() <= product.rank()) return;
    for (std::size_t i = 1; i != 3; ++i)
        if (!from_end(out, i).same_as(from_end(product, i))) return;
    value_id operands[2];
    bool folded[2];
    for (std::size_t i = 0; i != 2; ++i) {
        value_id const stack = folded_stack(r, matmul.inputs[i], 2);
        if (!same_stack(r.shape_of(matmul.inputs[i]), product, 2)) return;
        folded[i] = stack != no_value && same_stack(r.shape_of(stack), out, 2);
        operands[i] = folded[i] ? stack : matmul.inputs[i];
    }
    if (!folded[0] && !folded[1]) return;
    graph_node const like = make_node("MatMul", {}, matmul);
    for (std::size_t i = 0; i != 2; ++i) {
        if (folded[i]) continue;
        if (r.uses(matmul.inputs[1 - i]) != 1) return; // its Reshape would stay
        operands[i] = unfolded(r, operands[i], out, like);
        if (operands[i] == no_value) return;
        break; // `matmul` may have moved
    }
    n.op = "MatMul";
    n.attributes.clear();
    n.source = like.source;
    n.origin = like.origin;
    r.set_inputs(n, {operands[0], operands[1]});
}

} // namespace

bool multiply_stacks(rewriter& r, graph_node& n) {
    graph_node const* const p = r.producer(n.inputs[0]);
    if (p == nullptr || r.uses(n.inputs[0]) != 1 || !r.shape_of(n.outputs[0]).has_rank()) return false;
    if (p->op == "Gemm") unfold_gemm(r, n, *p);
    else if (p->op == "MatMul") unfold_matmul(r, n, *p);
    return false;
}

} // namespace ATON_NAMESPACE::passes
