// SPDX-License-Identifier: MIT
// Fuses BatchNormalization into the preceding Conv, ConvTranspose or Gemm: y = (x * W + b - mean) * gamma / sqrt(var + eps) + beta.
#include "rewriter.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "attributes.hpp"
#include "evaluate.hpp"
#include "weights.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

constexpr std::uint64_t max_bias_bytes = std::uint64_t{1} << 20;
constexpr std::int64_t max_factors = std::int64_t{1} << 20;

/// A one-dimensional constant or weight, as doubles.
std::optional<std::vector<double>> numbers(rewriter const& r, value_id id) {
    tensor const* t = r.constant(id);
    std::optional<tensor> read;
    if (t == nullptr && r.stored(id) != nullptr) {
        read = load_weight(*r.stored(id), max_bias_bytes);
        t = read ? &*read : nullptr;
    }
    if (t == nullptr || t->sizes.size() != 1 || !is_floating(t->type) || !tensor::can_hold(t->type)) return {};
    std::vector<double> out;
    for (std::size_t i = 0; i != static_cast<std::size_t>(t->sizes[0]); ++i) out.push_back(t->at(i).to<double>());
    return out;
}

struct scale_and_shift {
    std::vector<double> scale;
    std::vector<double> shift; ///< for an operand without a bias
};

std::optional<scale_and_shift> coefficients(rewriter const& r, graph_node const& n) {
    std::vector<double> lists[4]; // scale, bias, mean, variance
    for (std::size_t i = 0; i != 4; ++i) {
        auto list = numbers(r, input(n, i + 1));
        if (!list || (i > 0 && list->size() != lists[0].size())) return {};
        lists[i] = std::move(*list);
    }
    auto const epsilon = static_cast<double>(float_attribute(n, "epsilon", 1e-5F));
    scale_and_shift out;
    for (std::size_t c = 0; c != lists[0].size(); ++c) {
        double const scale = lists[0][c] / std::sqrt(lists[3][c] + epsilon);
        if (!std::isfinite(scale)) return {};
        out.scale.push_back(scale);
        out.shift.push_back(lists[1][c] - lists[2][c] * scale);
    }
    return out;
}

/// Multiplies the rows along dimension 0, or along dimension 1 of a weight whose dimension 0 is divided into groups.
std::optional<stored_tensor> scaled(stored_tensor const& w, std::size_t axis, std::int64_t groups,
                                    std::vector<double> const& scale) {
    if (w.parts.size() != 1 || w.parts[0].sizes != w.sizes) return {};
    stored_part const& whole = w.parts[0];
    stored_tensor out{w.type, w.sizes, {}};
    if (axis == 0) {
        if (w.sizes[0] != static_cast<std::int64_t>(scale.size())) return {};
        out.parts = w.parts;
        auto& factors = out.parts[0].factors;
        if (factors.empty()) factors.assign(scale.size(), 1.0);
        for (std::size_t i = 0; i != scale.size(); ++i) factors[i] *= scale[i];
        return out;
    }
    // Each slice along dimension 0 becomes a part, whose dimension 0 is the scaled one.
    std::int64_t const rows = w.sizes[1];
    if (!whole.factors.empty() || rows * groups != static_cast<std::int64_t>(scale.size()) ||
        w.sizes[0] % groups != 0 || w.sizes[0] * rows > max_factors)
        return {};
    std::int64_t const in_group = w.sizes[0] / groups;
    for (std::int64_t i = 0; i != w.sizes[0]; ++i) {
        stored_part part{whole.bytes, {}, {}, whole.offset + i * whole.strides[0], {}};
        part.sizes.assign(whole.sizes.begin() + 1, whole.sizes.end());
        part.strides.assign(whole.strides.begin() + 1, whole.strides.end());
        auto const first = scale.begin() + static_cast<std::ptrdiff_t>(i / in_group * rows);
        part.factors.assign(first, first + static_cast<std::ptrdiff_t>(rows));
        out.parts.push_back(std::move(part));
    }
    return out;
}

/// The same for a weight in memory.
std::optional<tensor> scaled(tensor const& w, std::size_t axis, std::int64_t groups, std::vector<double> const& scale) {
    std::int64_t const rows = w.sizes[axis];
    if (!small_count(w.sizes, w.type) || w.sizes[0] % groups != 0) return {};
    if (rows * (axis == 0 ? 1 : groups) != static_cast<std::int64_t>(scale.size())) return {};
    std::vector<std::int64_t> const strides = dense_strides(w.sizes);
    std::int64_t const in_group = w.sizes[0] / groups;
    tensor out{w.type, w.sizes, {}};
    std::int64_t const count = w.element_count();
    for (std::int64_t i = 0; i != count; ++i) {
        std::int64_t row = i / strides[axis] % rows;
        if (axis != 0) row += i / strides[0] / in_group * rows;
        out.append(w.at(static_cast<std::size_t>(i)).to<double>() * scale[static_cast<std::size_t>(row)]);
    }
    return out;
}

struct weight_form {
    std::size_t axis = 0;    ///< of the output channels
    std::int64_t groups = 1; ///< that share a dimension 1
};

/// The layout of the output channels in the weight of a node; nothing if the node cannot absorb a scale.
std::optional<weight_form> form_of(rewriter const& r, graph_node const& n) {
    if (n.op == "Conv") return weight_form{0, 1};
    if (n.op == "ConvTranspose") return weight_form{1, int_attribute(n, "group", 1)};
    if (n.op != "Gemm" || float_attribute(n, "alpha", 1) != 1 || float_attribute(n, "beta", 1) != 1) return {};
    bool const has_row = input(n, 2) == no_value || r.shape_of(input(n, 2)).rank() == 1;
    if (!has_row) return {};
    return weight_form{int_attribute(n, "transB", 0) != 0 ? std::size_t{0} : std::size_t{1}, 1};
}

/// Whether the node only normalizes with the given mean and variance.
bool is_inference(rewriter const& r, graph_node const& n) {
    if (n.inputs.size() != 5 || int_attribute(n, "training_mode", 0) != 0) return false;
    if (r.graph().opset < 9 || (r.graph().opset < 14 && n.outputs.size() > 1))
        return false; // several outputs meant training
    for (std::size_t i = 1; i < n.outputs.size(); ++i)
        if (n.outputs[i] != no_value && r.uses(n.outputs[i]) != 0) return false;
    return true;
}

/// The layout of the weight of the preceding node; nothing if the node cannot be fused.
std::optional<weight_form> fusible_form(rewriter const& r, value_id x) {
    graph_node const* const before = r.producer(x);
    if (before == nullptr || r.uses(x) != 1 || before->inputs.size() < 2) return {};
    auto const form = form_of(r, *before);
    value_id const w = before->inputs[1];
    dtype const type = r.type(w).dtype;
    if (!form || (type != dtype::float32 && type != dtype::float64 && type != dtype::float16)) return {};
    if (r.uses(w) != 1 || r.shape_of(w).rank() < 2 || form->groups < 1) return {};
    return form;
}

/// Adds the scaled weight; no_value if it cannot be scaled.
value_id add_scaled(rewriter& r, value_id w, weight_form const& form, std::vector<double> const& scale) {
    if (stored_tensor const* const s = r.stored(w); s != nullptr) {
        auto to = scaled(*s, form.axis, form.groups, scale);
        if (to) return r.add_stored(std::move(*to), r.weights().derived_name(w, true));
    } else if (tensor const* const t = r.constant(w); t != nullptr) {
        auto to = scaled(*t, form.axis, form.groups, scale);
        if (to) return r.add_constant(std::move(*to));
    }
    return no_value;
}

} // namespace

bool fold_batch_normalization(rewriter& r, graph_node& n) {
    if (!r.options().rewrite_weights || !is_inference(r, n)) return false;
    auto const form = fusible_form(r, n.inputs[0]);
    if (!form) return false;
    graph_node fused = *r.producer(n.inputs[0]);
    auto const c = coefficients(r, n);
    if (!c) return false;
    std::vector<double> bias(c->scale.size(), 0.0);
    if (value_id const b = input(fused, 2); b != no_value) {
        auto own = numbers(r, b);
        if (!own || own->size() != bias.size()) return false;
        bias = std::move(*own);
    }
    dtype const type = r.type(fused.inputs[1]).dtype;
    value_id const weight = add_scaled(r, fused.inputs[1], *form, c->scale);
    if (weight == no_value) return false;
    tensor shift{type, {static_cast<std::int64_t>(bias.size())}, {}};
    for (std::size_t i = 0; i != bias.size(); ++i) shift.append(bias[i] * c->scale[i] + c->shift[i]);
    value_id const bias_id = r.add_constant(std::move(shift));
    // The normalization becomes the fused node.
    n.op = std::move(fused.op);
    n.attributes = std::move(fused.attributes);
    n.source = std::move(fused.source);
    n.origin = fused.origin;
    n.outputs.resize(1);
    r.set_inputs(n, {fused.inputs[0], weight, bias_id});
    return false;
}

} // namespace ATON_NAMESPACE::passes
