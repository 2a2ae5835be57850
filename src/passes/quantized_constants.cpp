// SPDX-License-Identifier: MIT
#include "quantized_constants.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>

#include "attributes.hpp"
#include "evaluate.hpp"
#include "weights.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

namespace ir = quantized_ir;

/// Of a weight and of each number that is computed on the way.
constexpr std::int64_t max_weight_bytes = std::int64_t{1} << 29;
constexpr std::int64_t min_block = 8;

bool only_moves(std::string_view op) {
    constexpr std::array<std::string_view, 10> all{
        "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Slice", "Identity", "Expand", "Gather", "Concat"};
    return std::find(all.begin(), all.end(), op) != all.end();
}

template <class T>
tensor tensor_of(dtype type, std::vector<std::int64_t> sizes, std::vector<T> const& elements) {
    tensor out{type, std::move(sizes), {}};
    out.bytes.assign(reinterpret_cast<char const*>(elements.data()), elements.size() * sizeof(T));
    return out;
}

std::vector<float> floats_of(tensor const& t) {
    std::vector<float> out(static_cast<std::size_t>(t.element_count()));
    for (std::size_t i = 0; i != out.size(); ++i) out[i] = t.at(i).to<float>();
    return out;
}

bool are_equal(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }

} // namespace

constants_of::constants_of(graph_data const& graph) : graph_(graph) {
    is_constant_.resize(graph.values.size());
    for (graph_initializer const& i : graph.initializers) is_constant_[i.value] = 1;
    for (value_id const id : graph.inputs) is_constant_[id] = 0; // a default that callers may replace
    for (graph_node const& n : graph.nodes)
        if (n.outputs.size() == 1 && n.outputs[0] != no_value) is_constant_[n.outputs[0]] = computes(n) ? 1 : 0;
}

bool constants_of::computes(graph_node const& n) const {
    bool const is_own = ir::is(n, ir::dequantize) || ir::is(n, ir::quantize);
    bool const is_known = n.domain == ir::domain ? is_own : plain_domain(n.domain).empty();
    if (!is_known || n.inputs.empty()) return n.op == "Constant" && plain_domain(n.domain).empty();
    if (n.domain.empty() && find_evaluator(n.op) == nullptr && find_bit_evaluator(n.op) == nullptr) return false;
    return std::all_of(n.inputs.begin(), n.inputs.end(), [&](value_id i) { return i == no_value || contain(i); });
}

std::optional<tensor> constants_of::run(graph_node const& n, std::vector<tensor const*> const& inputs) const {
    evaluator evaluate = find_evaluator(n.op);
    if (evaluate == nullptr) evaluate = find_bit_evaluator(n.op);
    if (evaluate == nullptr) return {};
    return evaluate(constant_call{n, inputs, graph_.opset, max_weight_bytes});
}

std::optional<tensor> constants_of::elements(value_id id, int depth) const {
    if (!contain(id) || depth > max_constant_depth) return {};
    if (tensor const* const t = graph_.constant(id)) return *t;
    graph_node const* const n = producer(id);
    if (n == nullptr) {
        std::int64_t const at = graph_.values[id].initializer;
        if (at < 0) return {};
        stored_tensor const* const stored = graph_.initializers[static_cast<std::size_t>(at)].stored;
        return stored == nullptr ? std::nullopt : load_weight(*stored, static_cast<std::uint64_t>(max_weight_bytes));
    }
    if (ir::is(*n, ir::quantize)) return quantized(*n, depth);
    if (n->domain == ir::domain) return {};
    std::vector<tensor> kept;
    kept.reserve(n->inputs.size());
    std::vector<tensor const*> inputs;
    for (value_id const in : n->inputs) {
        if (in == no_value) {
            inputs.push_back(nullptr);
            continue;
        }
        std::optional<tensor> t = elements(in, depth + 1);
        if (!t) return {};
        inputs.push_back(&kept.emplace_back(std::move(*t)));
    }
    return run(*n, inputs);
}

/// A parameter of Quantize or Dequantize for each of the elements.
std::optional<std::vector<float>> constants_of::spread(graph_node const& n, tensor t,
                                                       std::vector<std::int64_t> const& sizes) {
    std::int64_t const block = ir::number(n, ir::block_attribute, 0);
    auto const axis = static_cast<std::size_t>(ir::number(n, ir::axis_attribute, 0));
    if (ir::has_axis(n) && block == 0 && t.sizes.size() <= 1 && axis < sizes.size()) {
        std::vector<std::int64_t> along(sizes.size(), 1);
        if (!t.sizes.empty()) along[axis] = t.sizes[0];
        t.sizes = along;
    } else if (block != 0 && axis < t.sizes.size()) {
        std::vector<std::int64_t> split = t.sizes;
        split.insert(split.begin() + static_cast<std::ptrdiff_t>(axis) + 1, 1);
        std::vector<std::int64_t> whole = split;
        whole[axis + 1] = block;
        t.sizes = split;
        t = broadcast_to(t, whole);
        if (t.element_count() != tensor{t.type, sizes, {}}.element_count()) return {};
        t.sizes = sizes;
    }
    auto const both = broadcast(t.sizes, sizes);
    if (!both || *both != sizes) return {};
    return floats_of(broadcast_to(t, sizes));
}

/// The numbers of constants, rounded as ATen does.
std::optional<tensor> constants_of::quantized(graph_node const& n, int depth) const {
    dtype const type = ir::type_of(n);
    auto const operand = [&](std::size_t i) {
        value_id const id = ir::input_of(n, i);
        return id == no_value ? std::nullopt : elements(id, depth + 1);
    };
    std::optional<tensor> const x = operand(ir::data);
    std::optional<tensor> const scale = operand(ir::scale);
    std::optional<tensor> const zero = operand(ir::zero_point);
    std::optional<tensor> const inverse = operand(ir::inverse);
    if (!x || !scale || !zero || !tensor::can_hold(type) || x->type != dtype::float32) return {};
    auto const by = spread(n, inverse ? *inverse : *scale, x->sizes);
    auto const from = spread(n, *zero, x->sizes);
    if (!by || !from) return {};
    auto const low = static_cast<float>(ir::number(n, ir::low_attribute, 0));
    auto const high = static_cast<float>(ir::number(n, ir::high_attribute, 0));
    tensor out{type, x->sizes, {}};
    for (std::size_t i = 0; i != by->size(); ++i) {
        float const factor = inverse ? (*by)[i] : 1.0F / (*by)[i];
        float const number = std::nearbyint(x->at(i).to<float>() * factor) + (*from)[i];
        if (std::isnan(number)) return {};
        out.append(static_cast<double>(std::clamp(number, low, high)));
    }
    return out;
}

/// Integers that nothing was subtracted from.
std::optional<affine_weight> constants_of::numbers(value_id id, int depth) const {
    std::optional<tensor> t = elements(id, depth);
    if (!t || !is_integral(t->type) || t->type == dtype::bool_ || bits(t->type) < 8) return {};
    auto const count = static_cast<std::size_t>(t->element_count());
    return affine_weight{std::move(*t), std::vector<float>(count, 1.0F), std::vector<float>(count, 0.0F)};
}

/// Reals as integers: what a program allocates before it copies numbers into it, which may be anything.
std::optional<affine_weight> constants_of::whole_numbers(value_id id, int depth) const {
    std::optional<tensor> t = elements(id, depth);
    if (!t || t->type != dtype::float32) return {};
    auto const count = static_cast<std::size_t>(t->element_count());
    tensor numbers{dtype::uint8, t->sizes, {}};
    for (std::size_t i = 0; i != count; ++i) {
        auto const x = t->at(i).to<float>();
        numbers.append(x > 0 && x <= 255 ? static_cast<std::int64_t>(x) : std::int64_t{0});
    }
    return affine_weight{std::move(numbers), std::vector<float>(count, 1.0F), std::vector<float>(count, 0.0F)};
}

std::optional<affine_weight> constants_of::moved(graph_node const& n, int depth) const {
    std::vector<affine_weight> parts;
    std::vector<tensor> others;
    std::size_t const movable = n.op == "Concat" ? n.inputs.size() : 1;
    others.reserve(n.inputs.size());
    for (std::size_t i = 0; i != n.inputs.size(); ++i) {
        if (i < movable) {
            std::optional<affine_weight> part = affine(n.inputs[i], depth);
            if (!part) part = whole_numbers(n.inputs[i], depth);
            if (!part) return {};
            parts.push_back(std::move(*part));
        } else {
            std::optional<tensor> t = n.inputs[i] == no_value ? tensor() : elements(n.inputs[i], depth);
            if (!t) return {};
            others.push_back(std::move(*t));
        }
    }
    auto const move = [&](auto const& get) -> std::optional<tensor> {
        std::vector<tensor> kept;
        kept.reserve(parts.size());
        for (affine_weight const& p : parts) kept.push_back(get(p));
        std::vector<tensor const*> inputs;
        for (tensor const& t : kept) inputs.push_back(&t);
        for (std::size_t i = 0; i != others.size(); ++i)
            inputs.push_back(n.inputs[movable + i] == no_value ? nullptr : &others[i]);
        return run(n, inputs);
    };
    for (affine_weight const& p : parts)
        if (p.numbers.type != parts[0].numbers.type || p.type != parts[0].type) return {};
    auto numbers = move([](affine_weight const& p) { return p.numbers; });
    auto const scales =
        move([](affine_weight const& p) { return tensor_of(dtype::float32, p.numbers.sizes, p.scales); });
    auto const zeros =
        move([](affine_weight const& p) { return tensor_of(dtype::float32, p.numbers.sizes, p.zero_points); });
    if (!numbers || !scales || !zeros) return {};
    return affine_weight{std::move(*numbers),
                         floats_of(*scales),
                         floats_of(*zeros),
                         std::any_of(parts.begin(), parts.end(), [](auto& p) { return p.is_scaled; }),
                         parts[0].type};
}

/// x + sign * c, before a product.
std::optional<affine_weight> constants_of::shifted(graph_node const& n, float sign, int depth) const {
    std::optional<affine_weight> w = affine(n.inputs[0], depth);
    std::optional<tensor> c = elements(n.inputs[1], depth);
    if (!w || !c) return {};
    auto const sizes = broadcast(w->numbers.sizes, c->sizes);
    if (!sizes || *sizes != w->numbers.sizes) return {};
    std::vector<float> const by = floats_of(broadcast_to(*c, *sizes));
    for (std::size_t i = 0; i != by.size(); ++i) {
        if (by[i] == 0.0F) continue;
        if (w->is_scaled) return {};
        w->zero_points[i] -= sign * by[i];
    }
    return w;
}

std::optional<affine_weight> constants_of::scaled(graph_node const& n, int depth) const {
    std::optional<affine_weight> w = affine(n.inputs[0], depth);
    std::optional<tensor> c = elements(n.inputs[1], depth);
    if (!w && n.op == "Mul") {
        w = affine(n.inputs[1], depth);
        c = elements(n.inputs[0], depth);
    }
    if (!w || !c || c->type != w->type) return {};
    auto const sizes = broadcast(w->numbers.sizes, c->sizes);
    if (!sizes || *sizes != w->numbers.sizes) return {};
    std::vector<float> const by = floats_of(broadcast_to(*c, *sizes));
    for (std::size_t i = 0; i != by.size(); ++i)
        w->scales[i] = n.op == "Mul" ? w->scales[i] * by[i] : w->scales[i] / by[i];
    w->is_scaled = true;
    return w;
}

/// The parameters of a Dequantize node for each of its numbers.
std::optional<affine_weight> constants_of::dequantized(graph_node const& n) const {
    if (n.inputs.size() > ir::table) return {};
    std::optional<affine_weight> w = numbers(n.inputs[ir::data], 0);
    std::optional<tensor> scale = elements(n.inputs[ir::scale]);
    value_id const zeros_of = ir::input_of(n, ir::zero_point);
    std::optional<tensor> zero =
        zeros_of == no_value ? tensor{dtype::int64, {}, std::string(8, '\0')} : elements(zeros_of);
    if (!w || !scale || !zero) return {};
    auto scales = spread(n, std::move(*scale), w->numbers.sizes);
    auto zeros = spread(n, std::move(*zero), w->numbers.sizes);
    if (!scales || !zeros || scales->size() != w->scales.size() || zeros->size() != w->scales.size()) return {};
    w->scales = std::move(*scales);
    w->zero_points = std::move(*zeros);
    w->is_scaled = true;
    w->type = graph_.values[n.outputs[0]].type.dtype;
    return w;
}

std::optional<affine_weight> constants_of::affine(value_id id, int depth) const {
    if (!contain(id) || ++depth > max_constant_depth) return {};
    graph_node const* const n = producer(id);
    dtype const type = graph_.values[id].type.dtype;
    if (n == nullptr) return is_integral(type) ? numbers(id, depth) : std::nullopt;
    if (ir::is(*n, ir::dequantize)) return dequantized(*n);
    bool const is_integer = is_integral(type);
    if (n->op == "Cast") {
        dtype const from = graph_.values[n->inputs[0]].type.dtype;
        bool const is_integer_cast = is_integer && is_integral(from) && bits(type) >= bits(from);
        bool const makes_reals = is_integral(from) && (type == dtype::float32 || type == dtype::float16);
        bool const widens = type == dtype::float32 && (from == dtype::float16 || from == dtype::float32);
        if (is_integer_cast || makes_reals || widens) {
            std::optional<affine_weight> w = affine(n->inputs[0], depth);
            if (w && makes_reals) w->type = type;
            if (w) return w;
        }
    } else if (n->op == "Sub" || n->op == "Add") {
        if (auto w = shifted(*n, n->op == "Add" ? 1.0F : -1.0F, depth)) return w;
    } else if ((n->op == "Mul" || n->op == "Div") && !is_integer) {
        return scaled(*n, depth);
    } else if (only_moves(n->op)) {
        if (auto w = moved(*n, depth)) return w;
    }
    return is_integer ? numbers(id, depth) : std::nullopt;
}

std::optional<scale_layout> layout_of(affine_weight const& w) {
    std::vector<std::int64_t> const& sizes = w.numbers.sizes;
    std::vector<std::int64_t> const strides = dense_strides(sizes);
    auto const same = [&](std::size_t a, std::size_t b) {
        return are_equal(w.scales[a], w.scales[b]) && are_equal(w.zero_points[a], w.zero_points[b]);
    };
    // For each axis: the greatest common divisor of the places where parameters change along it; 0: nowhere.
    std::vector<std::int64_t> run(sizes.size(), 0);
    for (std::size_t axis = 0; axis != sizes.size(); ++axis)
        for (std::size_t i = 0; i != w.scales.size(); ++i) {
            auto const place = (static_cast<std::int64_t>(i) / strides[axis]) % sizes[axis];
            if (place == 0 || run[axis] == 1) continue;
            if (!same(i, i - static_cast<std::size_t>(strides[axis]))) run[axis] = std::gcd(run[axis], place);
        }
    std::vector<std::int64_t> changing;
    for (std::size_t axis = 0; axis != sizes.size(); ++axis)
        if (run[axis] != 0) changing.push_back(static_cast<std::int64_t>(axis));
    if (changing.empty()) return scale_layout{};
    auto const count = static_cast<std::int64_t>(w.scales.size());
    std::optional<scale_layout> best;
    if (changing.size() == 1) {
        auto const axis = static_cast<std::size_t>(changing[0]);
        std::int64_t const block = std::gcd(run[axis], sizes[axis]);
        if (block < min_block || sizes[axis] <= count / block) return scale_layout{changing[0], 0};
    }
    for (std::size_t axis = 0; axis != sizes.size(); ++axis) {
        std::int64_t const block = std::gcd(run[axis], sizes[axis]);
        if (block >= min_block && (!best || block > best->block))
            best = scale_layout{static_cast<std::int64_t>(axis), block};
    }
    return best;
}

} // namespace ATON_NAMESPACE::passes
