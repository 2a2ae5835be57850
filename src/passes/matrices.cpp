// SPDX-License-Identifier: MIT
// Merges consecutive Transposes, and fuses matrix products with a bias or a transposed operand into Gemm.
#include "rewriter.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "attributes.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

/// The permutation of a Transpose; empty if it is unknown.
std::vector<std::int64_t> permutation(rewriter const& r, graph_node const& n) {
    shape const& s = r.shape_of(n.inputs[0]);
    if (node_attribute const* const a = n.attribute("perm"); a != nullptr) {
        for (std::int64_t p : a->ints)
            if (p < 0 || p >= static_cast<std::int64_t>(a->ints.size())) return {};
        return a->ints;
    }
    if (!s.has_rank()) return {};
    std::vector<std::int64_t> out(s.rank());
    std::iota(out.rbegin(), out.rend(), 0);
    return out;
}

bool is_gemm_type(dtype t) { return t == dtype::float32 || t == dtype::float64 || t == dtype::float16; }

bool is_matrix(rewriter const& r, value_id id) { return r.shape_of(id).has_rank() && r.shape_of(id).rank() == 2; }

/// The operand of a Transpose of a matrix whose result has no other use.
std::optional<value_id> transposed_matrix(rewriter const& r, value_id id) {
    graph_node const* const p = r.producer(id, "Transpose");
    if (p == nullptr || r.uses(id) != 1 || !is_matrix(r, id)) return {};
    return permutation(r, *p) == std::vector<std::int64_t>{1, 0} ? std::optional(p->inputs[0]) : std::nullopt;
}

/// Whether Gemm accepts `c` as the bias of a product of this shape.
bool fits_as_bias(shape const& c, shape const& product) {
    if (!c.has_rank() || c.rank() == 0 || c.rank() > 2) return false;
    for (std::size_t i = 0; i != c.rank(); ++i) {
        dim const& d = c[i];
        if (!d.same_as(product[2 - c.rank() + i]) && !d.is(1)) return false;
    }
    return true;
}

/// Turns Transposes of the operands of a Gemm into its attributes.
void absorb_transposes(rewriter& r, graph_node& n) {
    for (std::size_t i = 0; i != 2; ++i) {
        auto const origin = transposed_matrix(r, n.inputs[i]);
        if (!origin) continue;
        char const* const flag = i == 0 ? "transA" : "transB";
        set_int_attribute(n, flag, int_attribute(n, flag, 0) == 0 ? 1 : 0);
        r.set_input(n, i, *origin);
    }
}

bool add_bias(rewriter& r, graph_node& n) {
    for (std::size_t i = 0; i != 2; ++i) {
        value_id const product = n.inputs[i];
        value_id const bias = n.inputs[1 - i];
        graph_node const* const p = r.producer(product);
        if (p == nullptr || r.uses(product) != 1 || !is_matrix(r, product)) continue;
        bool const plain_gemm = p->op == "Gemm" && input(*p, 2) == no_value;
        if (!plain_gemm && p->op != "MatMul") continue;
        if (!is_gemm_type(r.type(product).dtype) || !is_matrix(r, p->inputs[0]) || !is_matrix(r, p->inputs[1]))
            continue;
        if (!fits_as_bias(r.shape_of(bias), r.shape_of(product)) ||
            !same_shape(r.shape_of(product), r.shape_of(n.outputs[0])))
            continue;
        n.op = "Gemm";
        n.attributes = p->attributes;
        std::erase_if(n.attributes, [](node_attribute const& a) { return a.name == "beta"; });
        n.source = p->source;
        n.origin = p->origin;
        r.set_inputs(n, {p->inputs[0], p->inputs[1], bias});
        return true;
    }
    return false;
}

} // namespace

bool simplify_transpose(rewriter& r, graph_node& n) {
    std::vector<std::int64_t> perm = permutation(r, n);
    value_id x = n.inputs[0];
    if (graph_node const* const before = r.producer(x, "Transpose"); before != nullptr) {
        std::vector<std::int64_t> const first = permutation(r, *before);
        if (first.size() == perm.size() && !perm.empty()) {
            for (std::int64_t& p : perm) p = first[static_cast<std::size_t>(p)];
            x = before->inputs[0];
        }
    }
    bool const rank_known = !perm.empty() || (r.shape_of(x).has_rank() && r.shape_of(x).rank() == 0);
    if (rank_known && std::is_sorted(perm.begin(), perm.end())) {
        r.replace(n.outputs[0], x);
        return true;
    }
    if (x == n.inputs[0] || r.is_first_sweep()) return false; // rewrites look for the last transposition alone
    n.attributes.resize(1);
    n.attributes[0] = {};
    n.attributes[0].name = "perm";
    n.attributes[0].type = onnx::attr_type::ints;
    n.attributes[0].ints = std::move(perm);
    r.set_input(n, 0, x);
    return false;
}

bool fuse_gemm(rewriter& r, graph_node& n) {
    if (r.graph().opset < 11) return false; // the bias is optional since then
    if (n.op == "Add") return n.inputs.size() == 2 && add_bias(r, n) && fuse_gemm(r, n);
    if (n.op == "MatMul") {
        value_id const a = n.inputs[0];
        value_id const b = n.inputs[1];
        if (!is_gemm_type(r.type(a).dtype) || !is_matrix(r, a) || !is_matrix(r, b)) return false;
        if (!transposed_matrix(r, a) && !transposed_matrix(r, b)) return false;
        n.op = "Gemm";
    }
    absorb_transposes(r, n);
    return false;
}

} // namespace ATON_NAMESPACE::passes
