// SPDX-License-Identifier: MIT
// Evaluator of Resize: tables of positions, which models interpolate to the size of their input.
#include "evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "attributes.hpp"
#include "elements.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

std::string_view text_attribute(graph_node const& n, std::string_view name, std::string_view otherwise) {
    node_attribute const* const a = n.attribute(name);
    return a == nullptr ? otherwise : std::string_view(a->s);
}

/// An axis whose elements are computed from others.
struct resized {
    std::size_t axis;
    std::int64_t in;
    std::int64_t out;
    double scale;
};

/// The axes that change; nothing if sizes and factors leave a choice to the runtime.
std::optional<std::vector<resized>> changed_axes(constant_call const& call, tensor const& x) {
    tensor const* const scales = call.input(2);
    tensor const* const sizes = call.input(3);
    bool const by_size = sizes != nullptr && sizes->element_count() != 0;
    if (by_size == (scales != nullptr && scales->element_count() != 0)) return {};
    auto const rank = static_cast<std::int64_t>(x.sizes.size());
    std::vector<std::int64_t> axes;
    if (node_attribute const* const a = call.node.attribute("axes"); a != nullptr) axes = a->ints;
    else
        for (std::int64_t i = 0; i != rank; ++i) axes.push_back(i);
    tensor const& given = by_size ? *sizes : *scales;
    if (given.element_count() != static_cast<std::int64_t>(axes.size())) return {};
    std::vector<resized> out;
    for (std::size_t i = 0; i != axes.size(); ++i) {
        std::int64_t const axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis < 0 || axis >= rank) return {};
        std::int64_t const in = x.sizes[static_cast<std::size_t>(axis)];
        resized r{static_cast<std::size_t>(axis), in, 0, 1};
        if (by_size) {
            r.out = integers(given)[i];
            r.scale = static_cast<double>(r.out) / static_cast<double>(in);
        } else {
            r.scale = load<float>(given)[i];
            double const size = r.scale * static_cast<double>(in);
            if (!(size >= 1 && size < static_cast<double>(call.max_bytes))) return {};
            r.out = static_cast<std::int64_t>(size);
            bool const is_whole = static_cast<double>(r.out) == size;
            if (!is_whole && std::abs(size - std::round(size)) < 1e-3) return {}; // rounds to another size in float32
        }
        if (in < 1 || r.out < 1) return {};
        if (r.out != in || r.scale != 1) out.push_back(r);
    }
    return out;
}

struct tap {
    std::int64_t at;
    double weight;
};

/// The elements that each result is the weighted sum of; nothing if float32 may round to others.
std::optional<std::vector<std::vector<tap>>> taps_of(resized const& r, std::string_view mode,
                                                     std::string_view coordinates, double cubic) {
    // With aligned corners, runtimes differ in whether the size is rounded before the distance is computed.
    auto const size = static_cast<double>(r.out);
    bool const is_rounded = std::abs(r.scale * static_cast<double>(r.in) - size) > 1e-6 * size;
    bool const is_known =
        coordinates == "half_pixel" || coordinates == "asymmetric" || (coordinates == "align_corners" && !is_rounded);
    if (!is_known) return {};
    std::vector<std::vector<tap>> out;
    for (std::int64_t o = 0; o != r.out; ++o) {
        auto const position = static_cast<double>(o);
        double at = (position + 0.5) / r.scale - 0.5;
        if (coordinates == "asymmetric") at = position / r.scale;
        else if (coordinates == "align_corners")
            at = r.out == 1 ? 0 : position * static_cast<double>(r.in - 1) / static_cast<double>(r.out - 1);
        if (mode == "nearest") { // floor
            std::int64_t const factor = r.out / r.in;
            if (coordinates != "asymmetric" || factor * r.in != r.out || r.scale != static_cast<double>(factor))
                return {};
            out.push_back({{o / factor, 1}});
            continue;
        }
        bool const is_cubic = mode == "cubic";
        if (!is_cubic) at = std::clamp(at, 0.0, static_cast<double>(r.in - 1));
        auto const first = static_cast<std::int64_t>(std::floor(at));
        double const t = at - static_cast<double>(first);
        auto const clamped = [&](std::int64_t i) { return std::clamp<std::int64_t>(i, 0, r.in - 1); };
        if (!is_cubic) {
            out.push_back({{first, 1 - t}, {clamped(first + 1), t}});
            continue;
        }
        auto const near = [&](double d) { return ((cubic + 2) * d - (cubic + 3)) * d * d + 1; };
        auto const far = [&](double d) { return ((cubic * d - 5 * cubic) * d + 8 * cubic) * d - 4 * cubic; };
        out.push_back({{clamped(first - 1), far(1 + t)},
                       {clamped(first), near(t)},
                       {clamped(first + 1), near(1 - t)},
                       {clamped(first + 2), far(2 - t)}});
    }
    return out;
}

/// `values` with one axis resized.
std::vector<double> resize_axis(std::vector<double> const& values, std::vector<std::int64_t>& sizes, resized const& r,
                                std::span<std::vector<tap> const> taps) {
    std::int64_t inner = 1;
    for (std::size_t i = r.axis + 1; i != sizes.size(); ++i) inner *= sizes[i];
    auto const outer = static_cast<std::int64_t>(values.size()) / (r.in * inner);
    std::vector<double> out;
    out.reserve(static_cast<std::size_t>(outer * r.out * inner));
    for (std::int64_t i = 0; i != outer; ++i)
        for (std::vector<tap> const& each : taps)
            for (std::int64_t k = 0; k != inner; ++k) {
                double sum = 0;
                for (tap const& t : each)
                    sum += t.weight * values[static_cast<std::size_t>((i * r.in + t.at) * inner + k)];
                out.push_back(sum);
            }
    sizes[r.axis] = r.out;
    return out;
}

} // namespace

evaluated resize(constant_call const& call) {
    tensor const* const x = call.input(0);
    graph_node const& n = call.node;
    if (x == nullptr || (x->type != dtype::float32 && x->type != dtype::float64)) return {};
    if (call.inputs.size() < 3 || call.input(1) != nullptr) return {}; // opset 10 or a region
    std::string_view const mode = text_attribute(n, "mode", "nearest");
    bool const is_known = mode == "linear" || mode == "cubic" ||
                          (mode == "nearest" && text_attribute(n, "nearest_mode", "round_prefer_floor") == "floor");
    bool const is_plain = int_attribute(n, "antialias", 0) == 0 && int_attribute(n, "exclude_outside", 0) == 0 &&
                          text_attribute(n, "keep_aspect_ratio_policy", "stretch") == "stretch";
    if (!is_known || !is_plain) return {};
    auto const axes = changed_axes(call, *x);
    if (!axes) return {};
    std::vector<std::int64_t> sizes = x->sizes;
    for (resized const& r : *axes) sizes[r.axis] = std::max(r.in, r.out); // also of the steps
    if (!call.count(sizes, dtype::float64)) return {};
    std::vector<double> values;
    if (x->type == dtype::float64) values = load<double>(*x);
    else
        for (float each : load<float>(*x)) values.push_back(each);
    if (!std::all_of(values.begin(), values.end(), [](double e) { return std::isfinite(e); })) return {};
    sizes = x->sizes;
    double const cubic = float_attribute(n, "cubic_coeff_a", -0.75F);
    for (resized const& r : *axes) {
        auto const taps = taps_of(r, mode, text_attribute(n, "coordinate_transformation_mode", "half_pixel"), cubic);
        if (!taps) return {};
        values = resize_axis(values, sizes, r, *taps);
    }
    if (x->type == dtype::float64) return store(values, x->type, std::move(sizes));
    return store(std::vector<float>(values.begin(), values.end()), x->type, std::move(sizes));
}

} // namespace ATON_NAMESPACE::passes
