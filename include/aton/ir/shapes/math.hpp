// SPDX-License-Identifier: MIT
// Shape rules of operators that compute: broadcasting, matrix products, Einsum, normalization, TopK, losses, attention.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <aton/ir/shapes/context.hpp>

namespace ATON_NAMESPACE::shapes {

template <class Context>
void broadcast_all(Context& c) {
    if (c.attribute("broadcast") != nullptr) return c.same(0, 0); // before opset 7, B is broadcast to A
    dims out;
    for (std::size_t i = 0; i != c.inputs(); ++i) {
        if (!c.ranked(i)) return;
        out = broadcast(out, c.in(i));
    }
    c.set(0, out);
}

template <class Context>
void matmul(Context& c, std::size_t second) {
    if (!c.ranked(0) || !c.ranked(second)) return;
    if (c.rank(0) == 0 || c.rank(second) == 0) c.refuse("an operand has rank 0");
    dims const& a = c.in(0);
    dims const& b = c.in(second);
    dims batch_a;
    dims batch_b;
    append(batch_a, a, 0, count(a) - 2);
    append(batch_b, b, 0, count(b) - 2);
    expect_same(a.back(), b[b.size() - (b.size() > 1 ? 2 : 1)], "onnx::MatMul: inner dimensions");
    dims out = broadcast(batch_a, batch_b);
    if (a.size() > 1) out.push_back(a[a.size() - 2]);
    if (b.size() > 1) out.push_back(b.back());
    c.set(0, out);
}

template <class Context>
void gemm(Context& c) {
    for (std::size_t i = 0; i != 2; ++i)
        if (c.ranked(i) && c.rank(i) != 2)
            c.refuse("operand " + std::to_string(i + 1) + " has rank " + std::to_string(c.rank(i)) + ", expected 2");
    auto const size = [&c](std::size_t i, std::size_t d) { return c.ranked(i) && c.rank(i) == 2 ? c.in(i)[d] : dim(); };
    bool const transposes_a = c.number("transA", 0) != 0;
    bool const transposes_b = c.number("transB", 0) != 0;
    expect_same(size(0, transposes_a ? 0 : 1), size(1, transposes_b ? 1 : 0), "onnx::Gemm: inner dimensions");
    c.set(0, {size(0, transposes_a ? 1 : 0), size(1, transposes_b ? 0 : 1)});
}

/// The equation of Einsum without spaces; `...` becomes one '.'.
template <class = void>
std::string labels(std::string_view equation) {
    std::string out;
    for (char ch : equation)
        if (ch != ' ' && (ch != '.' || out.empty() || out.back() != '.')) out.push_back(ch);
    return out;
}

/// The sizes of the labels in Einsum's equation.
struct einsum_labels {
    dims first = dims(256); ///< of each label, at its first occurrence
    dims sizes = dims(256); ///< of each label
    ints seen = ints(256, 0);
    dims ellipsis;            ///< the dimensions of `...`
    std::int64_t dotted = -1; ///< the number of dimensions of `...`; -1: no term has it
};

/// Adds the labels of one operand; false if they do not match its rank.
template <class = void>
bool einsum_operand(dims const& in, std::string_view term, einsum_labels& all) {
    bool const has_dots = term.find('.') != std::string_view::npos;
    std::int64_t const hidden = count(in) - static_cast<std::int64_t>(term.size()) + (has_dots ? 1 : 0);
    if (hidden < 0 || (hidden > 0 && !has_dots)) return false;
    if (has_dots && all.dotted >= 0 && all.dotted != hidden) return false;
    if (has_dots) all.dotted = hidden;
    std::int64_t at = 0;
    for (char ch : term) {
        if (ch == '.') {
            dims part;
            append(part, in, at, at + hidden);
            for (std::size_t i = 0; i != part.size() && i < all.ellipsis.size(); ++i) // ONNX's inference keeps the 1
                if (all.ellipsis[i].is(1) && part[i].is(0)) return false;
            all.ellipsis = broadcast(all.ellipsis, part);
            at += hidden;
            continue;
        }
        auto const label = static_cast<unsigned char>(ch);
        if (at >= count(in)) return false;
        dim const& d = in[index(at++)];
        all.sizes[label] = all.seen[label] == 0 ? d : broadcast(all.sizes[label], d);
        if (all.seen[label]++ == 0) all.first[label] = d;
    }
    return true;
}

template <class Context>
void einsum(Context& c) {
    std::string const equation = labels(c.text("equation", ""));
    std::size_t const arrow = equation.find("->");
    std::string_view left = std::string_view(equation).substr(0, arrow);
    std::size_t terms = 1;
    for (char ch : left) terms += ch == ',' ? 1 : 0;
    if (terms != c.inputs())
        c.refuse("the equation has " + std::to_string(terms) + " operands, given " + std::to_string(c.inputs()));
    einsum_labels all;
    for (std::size_t i = 0; i != c.inputs(); ++i) {
        std::size_t const comma = left.find(',');
        if (!c.ranked(i)) return;
        if (!einsum_operand(c.in(i), left.substr(0, comma), all))
            c.refuse("the equation does not match operand " + std::to_string(i + 1) + " of rank " +
                     std::to_string(c.rank(i)));
        left.remove_prefix(comma == std::string_view::npos ? left.size() : comma + 1);
    }
    std::string out = arrow == std::string::npos ? "." : equation.substr(arrow + 2);
    for (std::size_t ch = 0; arrow == std::string::npos && ch != all.seen.size(); ++ch)
        if (all.seen[ch] == 1) out.push_back(static_cast<char>(ch));
    dims result;
    for (char ch : out) {
        auto const label = static_cast<unsigned char>(ch);
        if (ch != '.' && all.seen[label] == 0) c.refuse("the result has a label that no operand has");
        // ONNX's inference takes the size of the first occurrence of a label, and does not broadcast it.
        if (ch != '.') expect_same(all.first[label], all.sizes[label], "onnx::Einsum: sizes of a label");
        if (ch == '.') append(result, all.ellipsis, 0, count(all.ellipsis));
        else result.push_back(all.sizes[label]);
    }
    c.set(0, result);
}

template <class Context>
void range(Context& c) {
    tensor const* t[3] = {c.constant(0), c.constant(1), c.constant(2)};
    for (tensor const* bound : t)
        if (bound == nullptr) return c.set_rank(0, 1);
    for (tensor const* bound : t)
        if (!bound->sizes.empty())
            c.refuse("an input has rank " + std::to_string(bound->sizes.size()) + ", expected 0");
    scalar const from = t[0]->at(0);
    scalar const to = t[1]->at(0);
    double const step = t[2]->at(0).to<double>();
    double distance = to.to<double>() - from.to<double>(); // rounded like ONNX's inference and ONNX Runtime
    if (is_integral(t[0]->type))
        distance = static_cast<double>(checked_subtract(to.to<std::int64_t>(), from.to<std::int64_t>()));
    else if (t[0]->type == dtype::float32) distance = static_cast<double>(to.to<float>() - from.to<float>());
    double const exact = distance / step;
    if (exactly_equal(step, 0) || !(exact <= static_cast<double>(budget::max_range)))
        c.refuse("the range is infinite or has more than 2^48 elements");
    auto const whole = exact > 0 ? static_cast<std::int64_t>(exact) : 0;
    c.set(0, {whole + (exact > static_cast<double>(whole) ? 1 : 0)});
}

template <class Context>
void top_k(Context& c) {
    std::int64_t const axis = c.ranked(0) ? c.axis(-1, c.rank(0)) : -1;
    if (axis < 0) return;
    bool const is_input = c.attribute("k") == nullptr;
    if (is_input && c.length(1) != 1 && c.ranked(1) && (c.rank(1) != 1 || c.in(1)[0].is_static()))
        c.refuse("k must be a 1-d tensor of one element");
    list const k = is_input ? c.sizes(1) : list{};
    dims out = c.in(0);
    dim const all = out[index(axis)];
    if (!is_input) out[index(axis)] = c.number("k", -1);
    else out[index(axis)] = k.size() == 1 ? k.as_dim(0) : dim();
    if (all.is_static() && out[index(axis)].size_or(-1) > all.size())
        c.refuse("k is " + std::to_string(out[index(axis)].size()) + ", the axis has size " +
                 std::to_string(all.size()));
    c.set(0, out);
    c.set(1, out);
}

template <class Context>
void one_hot(Context& c) {
    c.expect_rank(0, 1);
    c.expect_rank(1, 0, 1);
    c.expect_rank(2, 1, 1);
    if (c.length(1) > 1 || (c.length(2) >= 0 && c.length(2) != 2))
        c.refuse("depth must have one element and values two");
    std::int64_t const axis = c.ranked(0) ? c.axis(-1, c.rank(0) + 1) : -1;
    if (axis < 0) return;
    list const depth = c.elements(1);
    dim size = depth.size() == 1 ? depth.as_dim(0) : dim();
    if (tensor const* const t = c.constant(1); t != nullptr && t->element_count() == 1) {
        auto const number = t->at(0).to<double>();
        if (!(number > -1 && number < static_cast<double>(budget::max_range)))
            c.refuse("depth is negative or more than 2^48");
        if (t->type == dtype::float32) size = static_cast<std::int64_t>(number);
    }
    dims out;
    append(out, c.in(0), 0, axis);
    out.push_back(size);
    append(out, c.in(0), axis, c.rank(0));
    c.set(0, out);
}

/// Softmax and similar: the shape of the input; the axis must be in range.
template <class Context>
void along_one_axis(Context& c) {
    c.expect_rank(0, 1);
    bool const is_last = c.opset() >= 13 || c.node().op == "RMSNormalization";
    if (c.ranked(0)) (void)c.axis(is_last ? -1 : 1, c.rank(0));
    c.same(0, 0);
}

/// RMSNormalization. Refuses different dtypes: ONNX's inference takes the input's for the result, which has the scale's.
template <class Context>
void rms_norm(Context& c) {
    along_one_axis(c);
    if (c.element_type(0) != c.element_type(1) && c.element_type(0) != dtype::undefined &&
        c.element_type(1) != dtype::undefined)
        c.refuse("the dtypes of the input and the scale do not match");
}

/// LayerNormalization. In the mean and the inverse standard deviation, the normalized dimensions have size 1.
template <class Context>
void layer_norm(Context& c) {
    c.same(0, 0);
    for (std::size_t i = 1; i != 3; ++i) c.set_default_dtype(i, static_cast<dtype>(c.number("stash_type", 1)));
    std::int64_t const axis = c.ranked(0) ? c.axis(-1, c.rank(0)) : -1;
    if (axis < 0) return;
    dims out;
    append(out, c.in(0), 0, axis);
    while (out.size() != c.in(0).size()) out.emplace_back(1);
    c.set(1, out);
    c.set(2, out);
}

template <class Context>
void batch_norm(Context& c) {
    for (std::size_t i = 1; i != 5 && i < c.inputs(); ++i)
        if (c.ranked(i) && c.rank(i) != 1)
            c.refuse("input " + std::to_string(i + 1) + " has rank " + std::to_string(c.rank(i)) + ", expected 1");
    dim channels = !c.ranked(0) ? dim() : c.rank(0) > 1 ? c.in(0)[1] : dim(1);
    bool const training = c.opset() >= 14 ? c.number("training_mode", 0) != 0 : c.outputs() > 1;
    if (c.outputs() != (!training ? 1U : c.opset() >= 14 ? 3U : 5U))
        c.refuse(std::to_string(c.outputs()) + " outputs, which does not match training_mode");
    for (std::size_t i = 1; i != 5 && i < c.inputs(); ++i) {
        if (!c.ranked(i)) continue;
        expect_same(channels, c.in(i)[0], "onnx::BatchNormalization: channel counts");
        channels = merge(channels, c.in(i)[0]);
    }
    c.same(0, 0);
    for (std::size_t i = 1; i < c.outputs(); ++i) c.same(i, 1);
}

template <class Context>
void loss(Context& c) {
    if (c.ranked(0) && c.ranked(1)) {
        if (c.rank(0) != c.rank(1) + 1)
            c.refuse("scores of rank " + std::to_string(c.rank(0)) + " with targets of rank " +
                     std::to_string(c.rank(1)));
        for (std::size_t i = 0; i != c.in(1).size(); ++i)
            expect_same(c.in(0)[i == 0 ? 0 : i + 1], c.in(1)[i], "dimensions of scores and targets");
    }
    c.expect_rank(0, 2);
    c.expect_rank(1, 1);
    if (c.ranked(2) && c.rank(2) != 1) c.refuse("the weights have rank " + std::to_string(c.rank(2)) + ", expected 1");
    if (c.ranked(2) && c.ranked(0) && c.rank(0) > 1)
        expect_same(c.in(0)[1], c.in(2)[0], "numbers of classes and weights");
    if (c.text("reduction", "mean") == "none" && c.ranked(1)) {
        dims out = c.in(1);
        for (std::size_t i = 0; c.ranked(0) && i != out.size(); ++i)
            out[i] = merge(out[i], c.in(0)[i == 0 ? 0 : i + 1]);
        c.set(0, out);
    } else if (c.text("reduction", "mean") != "none") c.set_rank(0, 0);
    c.same(1, 0);
}

/// Attention and LinearAttention; the states for the next step have rank 4.
template <class Context>
void attention(Context& c) {
    for (std::size_t i = 1; i < c.outputs(); ++i) c.set_rank(i, 4);
    if (!c.ranked(0) || !c.ranked(2) || c.rank(0) != c.rank(2) || c.rank(0) < 3) return;
    dims out = c.in(0);
    dim const& values = c.in(2).back();
    std::int64_t const heads = c.number("q_num_heads", 0);
    std::int64_t const kv_heads = c.number("kv_num_heads", 0);
    if (c.rank(0) == 4) out[3] = values;
    else
        out.back() = heads > 0 && kv_heads > 0 && values.is_static()
                         ? dim(checked_int(values.size() / kv_heads) * heads)
                         : dim();
    c.set(0, out);
}

} // namespace ATON_NAMESPACE::shapes
