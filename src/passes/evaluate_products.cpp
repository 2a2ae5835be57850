// SPDX-License-Identifier: MIT
// Evaluators of sums of products: MatMul, Gemm, Einsum and DFT. They accumulate in double.
#include "evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numbers>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "attributes.hpp"
#include "elements.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

/// Products of stacks of matrices or of vectors, accumulated in double.
evaluated matrix_product(constant_call const& c) {
    tensor a = *c.inputs[0];
    if (c.inputs.size() != 2 || c.inputs[1] == nullptr || c.inputs[1]->type != a.type || !is_floating(a.type))
        return {};
    tensor b = *c.inputs[1];
    if (a.sizes.empty() || b.sizes.empty()) return {};
    bool const is_row = a.sizes.size() == 1;
    bool const is_column = b.sizes.size() == 1;
    if (is_row) a.sizes.insert(a.sizes.begin(), 1);
    if (is_column) b.sizes.push_back(1);
    std::size_t const ra = a.sizes.size();
    std::size_t const rb = b.sizes.size();
    if (a.sizes[ra - 1] != b.sizes[rb - 2]) return {};
    std::int64_t const rows = a.sizes[ra - 2];
    std::int64_t const depth = a.sizes[ra - 1];
    std::int64_t const columns = b.sizes[rb - 1];
    auto const batch = broadcast(std::span(a.sizes).first(ra - 2), std::span(b.sizes).first(rb - 2));
    if (!batch) return {};
    auto const stacked = [&](std::int64_t m, std::int64_t n) {
        std::vector<std::int64_t> sizes = *batch;
        sizes.insert(sizes.end(), {m, n});
        return sizes;
    };
    auto const count = c.count(stacked(rows, columns), a.type);
    if (!count || !c.count(stacked(rows, depth), a.type) || !c.count(stacked(depth, columns), a.type) ||
        (depth != 0 && *count > c.max_bytes / depth))
        return {};
    return with_number_type(a.type, [&]<class T>(T) -> evaluated {
        if constexpr (!std::is_floating_point_v<T>) return {};
        std::vector<T> const x = load<T>(broadcast_to(a, stacked(rows, depth)));
        std::vector<T> const y = load<T>(broadcast_to(b, stacked(depth, columns)));
        std::vector<double> totals(static_cast<std::size_t>(*count), 0.0);
        for (std::int64_t row = 0; columns != 0 && row != *count / columns; ++row) { // of all matrices
            double* const to = totals.data() + row * columns;
            T const* const left = x.data() + row * depth;
            T const* const right = y.data() + row / rows * depth * columns;
            for (std::int64_t k = 0; k != depth; ++k)
                for (std::int64_t i = 0; i != columns; ++i)
                    to[i] += static_cast<double>(left[k]) * static_cast<double>(right[k * columns + i]);
        }
        std::vector<T> out(totals.begin(), totals.end());
        std::vector<std::int64_t> sizes = *batch;
        if (!is_row) sizes.push_back(rows);
        if (!is_column) sizes.push_back(columns);
        return store(out, a.type, std::move(sizes));
    });
}

/// The maximum number of products of a Gemm, an Einsum or a DFT: a tenth of a second.
constexpr std::int64_t max_products = std::int64_t{1} << 24;

evaluated general_product(constant_call const& c) {
    tensor const& a = *c.inputs[0];
    tensor const* const b = c.input(1);
    tensor const* const addend = c.input(2);
    if (b == nullptr || a.sizes.size() != 2 || b->sizes.size() != 2 || a.type != b->type || !is_floating(a.type) ||
        (addend != nullptr && addend->type != a.type))
        return {};
    bool const turn_a = int_attribute(c.node, "transA", 0) != 0;
    bool const turn_b = int_attribute(c.node, "transB", 0) != 0;
    double const alpha = float_attribute(c.node, "alpha", 1);
    double const beta = float_attribute(c.node, "beta", 1);
    std::int64_t const rows = a.sizes[turn_a ? 1 : 0];
    std::int64_t const depth = a.sizes[turn_a ? 0 : 1];
    std::int64_t const columns = b->sizes[turn_b ? 0 : 1];
    std::vector<std::int64_t> const sizes{rows, columns};
    auto const count = c.count(sizes, a.type);
    if (b->sizes[turn_b ? 1 : 0] != depth || !count || (depth != 0 && *count > max_products / depth)) return {};
    if (addend != nullptr && broadcast(addend->sizes, sizes) != sizes) return {};
    return with_number_type(a.type, [&]<class T>(T) -> evaluated {
        if constexpr (!std::is_floating_point_v<T>) return {};
        std::vector<T> const x = load<T>(a);
        std::vector<T> const y = load<T>(*b);
        std::vector<T> z;
        if (addend != nullptr) z = load<T>(broadcast_to(*addend, sizes));
        std::vector<T> out;
        for (std::int64_t i = 0; i != rows; ++i)
            for (std::int64_t j = 0; j != columns; ++j) {
                double total = 0;
                for (std::int64_t k = 0; k != depth; ++k)
                    total += static_cast<double>(x[static_cast<std::size_t>(turn_a ? k * rows + i : i * depth + k)]) *
                             static_cast<double>(y[static_cast<std::size_t>(turn_b ? j * depth + k : k * columns + j)]);
                total *= alpha;
                if (addend != nullptr) total += beta * static_cast<double>(z[out.size()]);
                out.push_back(static_cast<T>(total));
            }
        return store(out, a.type, sizes);
    });
}

/// A label of an equation. The dimensions of an ellipsis are numbered from the right, after those of all letters.
using label = int;
constexpr label ellipsis = 256;

/// The labels of a term such as "b...i", for a tensor of this rank; nothing if they are not as many. Without a rank, an ellipsis stands for
/// `dimensions` labels.
std::optional<std::vector<label>> labels_of(std::string_view term, std::size_t rank, std::size_t dimensions,
                                            bool has_rank) {
    std::vector<label> out;
    auto const letters =
        static_cast<std::size_t>(std::count_if(term.begin(), term.end(), [](char ch) { return ch != '.'; }));
    if (has_rank && letters > rank) return {};
    bool is_open = false;
    for (std::size_t i = 0; i != term.size(); ++i) {
        if (term[i] != '.') {
            out.push_back(static_cast<unsigned char>(term[i]));
            continue;
        }
        if (is_open || term.substr(i, 3) != "...") return {};
        is_open = true;
        i += 2;
        std::size_t const n = has_rank ? rank - letters : dimensions;
        for (std::size_t k = n; k-- > 0;) out.push_back(ellipsis + static_cast<label>(k));
    }
    return has_rank && out.size() != rank ? std::nullopt : std::optional(out);
}

/// An equation of Einsum for the sizes of its operands.
struct equation {
    std::vector<std::vector<label>> operands;
    std::vector<label> result;
    std::vector<label> all; ///< those of the result first
    std::map<label, std::int64_t> sizes;
};

std::optional<equation> equation_of(constant_call const& c) {
    node_attribute const* const attribute = c.node.attribute("equation");
    if (attribute == nullptr || attribute->s.empty()) return {};
    std::string text = attribute->s;
    std::erase(text, ' ');
    std::size_t const arrow = text.find("->");
    std::string_view left = std::string_view(text).substr(0, arrow);
    equation out;
    std::map<label, int> uses;
    std::size_t dimensions = 0; // of the longest ellipsis
    for (std::size_t i = 0; i != c.inputs.size(); ++i) {
        if (c.inputs[i] == nullptr || c.inputs[i]->type != c.inputs[0]->type) return {};
        std::vector<std::int64_t> const& sizes = c.inputs[i]->sizes;
        std::size_t const comma = left.find(',');
        if ((comma == std::string_view::npos) != (i + 1 == c.inputs.size())) return {};
        auto labels = labels_of(left.substr(0, comma), sizes.size(), 0, true);
        if (!labels) return {};
        left.remove_prefix(comma == std::string_view::npos ? left.size() : comma + 1);
        for (std::size_t d = 0; d != sizes.size(); ++d) {
            label const l = (*labels)[d];
            ++uses[l];
            if (l >= ellipsis) dimensions = std::max(dimensions, static_cast<std::size_t>(l - ellipsis) + 1);
            auto const [known, is_new] = out.sizes.emplace(l, sizes[d]);
            if (is_new || known->second == sizes[d]) continue;
            if (l < ellipsis || (known->second != 1 && sizes[d] != 1)) return {};
            known->second = std::max(known->second, sizes[d]);
        }
        out.operands.push_back(std::move(*labels));
    }
    if (arrow != std::string::npos) {
        auto labels = labels_of(std::string_view(text).substr(arrow + 2), 0, dimensions, false);
        if (!labels) return {};
        out.result = std::move(*labels);
    } else { // the ellipsis, then the letters that occur once
        for (std::size_t k = dimensions; k-- > 0;) out.result.push_back(ellipsis + static_cast<label>(k));
        for (auto const& [l, n] : uses)
            if (l < ellipsis && n == 1) out.result.push_back(l);
    }
    out.all = out.result;
    std::sort(out.all.begin(), out.all.end());
    if (std::adjacent_find(out.all.begin(), out.all.end()) != out.all.end()) return {};
    out.all = out.result;
    for (label const l : out.result)
        if (!out.sizes.contains(l)) return {};
    for (auto const& [l, size] : out.sizes)
        if (std::find(out.result.begin(), out.result.end(), l) == out.result.end()) out.all.push_back(l);
    return out;
}

evaluated einsum(constant_call const& c) {
    auto const e = equation_of(c);
    dtype const type = c.inputs[0]->type;
    if (!e || !is_floating(type)) return {};
    std::vector<std::int64_t> sizes;
    for (label const l : e->result) sizes.push_back(e->sizes.at(l));
    std::vector<std::int64_t> steps; // sizes of all labels
    for (label const l : e->all) steps.push_back(e->sizes.at(l));
    auto const count = c.count(sizes, type);
    auto const products = small_count(steps, dtype::uint8, max_products);
    if (!count || !products) return {};
    std::vector<std::vector<std::int64_t>> strides; // of each operand, by label
    for (std::size_t i = 0; i != c.inputs.size(); ++i) {
        std::vector<std::int64_t> const own = dense_strides(c.inputs[i]->sizes);
        std::vector<std::int64_t>& by_label = strides.emplace_back(e->all.size(), 0);
        for (std::size_t d = 0; d != own.size(); ++d) {
            auto const at = std::find(e->all.begin(), e->all.end(), e->operands[i][d]) - e->all.begin();
            if (c.inputs[i]->sizes[d] != 1) by_label[static_cast<std::size_t>(at)] += own[d];
        }
    }
    return with_number_type(type, [&]<class T>(T) -> evaluated {
        if constexpr (!std::is_floating_point_v<T>) return {};
        std::vector<std::vector<T>> operands;
        for (tensor const* t : c.inputs) operands.push_back(load<T>(*t));
        std::vector<double> totals(static_cast<std::size_t>(*count), 0.0);
        std::vector<std::int64_t> index(steps.size(), 0);
        std::int64_t const terms = *count == 0 ? 1 : std::max<std::int64_t>(1, *products / *count);
        for (std::int64_t step = 0; step != *products; ++step, advance(index, steps)) {
            double product = 1;
            for (std::size_t i = 0; i != operands.size(); ++i) {
                std::int64_t at = 0;
                for (std::size_t d = 0; d != index.size(); ++d) at += index[d] * strides[i][d];
                product *= static_cast<double>(operands[i][static_cast<std::size_t>(at)]);
            }
            totals[static_cast<std::size_t>(step / terms)] += product;
        }
        std::vector<T> out(totals.begin(), totals.end());
        return store(out, type, std::move(sizes));
    });
}

/// What a DFT does along its axis.
struct fourier_plan {
    std::size_t axis = 0;
    std::int64_t length = 0; ///< of the transform
    std::int64_t kept = 0;   ///< numbers of the result
    double direction = -1;   ///< the sign of the angle
    double scale = 1;
};

/// Nothing if the axis depends on the opset: up to 19 it is an attribute, then an input, with other defaults.
std::optional<fourier_plan> plan_of(constant_call const& c) {
    tensor const& x = *c.inputs[0];
    node_attribute const* const attribute = c.node.attribute("axis");
    tensor const* const input = c.input(2);
    if ((attribute == nullptr) == (input == nullptr) || x.sizes.size() < 2) return {};
    if (input != nullptr && (!is_index_tensor(*input) || input->element_count() != 1)) return {};
    auto const axis = axis_at(input != nullptr ? integers(*input)[0] : attribute->i, x.sizes.size());
    if (!axis || *axis + 1 == x.sizes.size() || x.sizes.back() < 1 || x.sizes.back() > 2) return {};
    fourier_plan out;
    out.axis = *axis;
    out.length = x.sizes[*axis];
    if (tensor const* const length = c.input(1); length != nullptr) {
        if (!is_index_tensor(*length) || length->element_count() != 1) return {};
        out.length = integers(*length)[0];
    }
    bool const inverse = int_attribute(c.node, "inverse", 0) != 0;
    bool const onesided = int_attribute(c.node, "onesided", 0) != 0;
    if (out.length < 1 || out.length > max_constant_bytes || (inverse && onesided)) return {};
    out.kept = onesided ? out.length / 2 + 1 : out.length;
    if (inverse) out.direction = 1;
    if (inverse) out.scale = 1 / static_cast<double>(out.length);
    return out;
}

evaluated fourier_transform(constant_call const& c) {
    tensor const& x = *c.inputs[0];
    auto const plan = plan_of(c);
    if (!plan || !is_floating(x.type)) return {};
    tensor shape{x.type, x.sizes, {}};
    shape.sizes[plan->axis] = plan->kept;
    shape.sizes.back() = 2;
    auto const count = c.count(shape.sizes, x.type);
    std::int64_t const used = std::min(plan->length, x.sizes[plan->axis]);
    if (!count || *count > max_products / plan->length) return {};
    std::vector<std::int64_t> const strides = dense_strides(x.sizes);
    std::int64_t const parts = x.sizes.back();
    return with_number_type(x.type, [&]<class T>(T) -> evaluated {
        if constexpr (!std::is_floating_point_v<T>) return {};
        std::vector<T> const in = load<T>(x);
        std::vector<double> cosines;
        std::vector<double> sines;
        for (std::int64_t i = 0; i != plan->length; ++i) {
            double const turn = static_cast<double>(i) / static_cast<double>(plan->length);
            cosines.push_back(std::cos(2 * std::numbers::pi * turn));
            sines.push_back(plan->direction * std::sin(2 * std::numbers::pi * turn));
        }
        std::vector<T> out;
        std::vector<std::int64_t> index(shape.sizes.size() - 1, 0);
        std::vector<std::int64_t> const lines(shape.sizes.begin(), shape.sizes.end() - 1);
        for (std::int64_t i = 0; i != *count / 2; ++i, advance(index, lines)) {
            std::int64_t first = 0;
            for (std::size_t d = 0; d != index.size(); ++d)
                if (d != plan->axis) first += index[d] * strides[d];
            double real = 0;
            double imaginary = 0;
            for (std::int64_t k = 0; k != used; ++k) {
                auto const at = static_cast<std::size_t>(first + k * strides[plan->axis]);
                auto const turn = static_cast<std::size_t>(k * index[plan->axis] % plan->length);
                auto const a = static_cast<double>(in[at]);
                double const b = parts == 2 ? static_cast<double>(in[at + 1]) : 0;
                real += a * cosines[turn] - b * sines[turn];
                imaginary += a * sines[turn] + b * cosines[turn];
            }
            out.push_back(static_cast<T>(real * plan->scale));
            out.push_back(static_cast<T>(imaginary * plan->scale));
        }
        return store(out, x.type, std::move(shape.sizes));
    });
}

constexpr named_evaluator product_table[] = {
    {"DFT", fourier_transform},
    {"Einsum", einsum},
    {"Gemm", general_product},
    {"MatMul", matrix_product},
};

} // namespace

std::span<named_evaluator const> product_evaluators() { return product_table; }

} // namespace ATON_NAMESPACE::passes
