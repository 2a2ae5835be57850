// SPDX-License-Identifier: MIT
// Moves padding with zeros into the pads of the convolution that follows.
#include "rewriter.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "attributes.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

constexpr std::int64_t max_pad = std::int64_t{1} << 31;

/// The pads of a Pad of zeros before and after each of `rank` dimensions; nothing if they are unknown, or crop.
std::optional<std::vector<std::int64_t>> zeros_around(rewriter const& r, graph_node const& pad, std::size_t rank) {
    node_attribute const* const mode = pad.attribute("mode");
    if (mode != nullptr && mode->s != "constant") return {};
    if (float_attribute(pad, "value", 0) != 0) return {};
    if (value_id const filler = input(pad, 2); filler != no_value) {
        tensor const* const t = r.constant(filler);
        if (t == nullptr || t->element_count() != 1 || t->at(0).to<double>() != 0) return {};
    }
    if (input(pad, 3) != no_value) return {}; // some axes only
    node_attribute const* const list = pad.attribute("pads");
    tensor const* const t = r.constant(input(pad, 1));
    if (list == nullptr && (t == nullptr || !is_index_tensor(*t))) return {};
    std::vector<std::int64_t> pads = list != nullptr ? list->ints : integers(*t);
    bool const valid = pads.size() == 2 * rank &&
                       std::all_of(pads.begin(), pads.end(), [](std::int64_t p) { return p >= 0 && p <= max_pad; });
    return valid ? std::optional(std::move(pads)) : std::nullopt;
}

} // namespace

bool move_pads_into_convolution(rewriter& r, graph_node& n) {
    graph_node const* const pad = r.producer(n.inputs[0], "Pad");
    std::size_t const rank = r.shape_of(n.inputs[0]).rank();
    if (pad == nullptr || rank < 3 || r.uses(n.inputs[0]) != 1) return false;
    if (node_attribute const* const a = n.attribute("auto_pad"); a != nullptr && a->s != "NOTSET") return false;
    auto const zeros = zeros_around(r, *pad, rank);
    if (!zeros || (*zeros)[0] != 0 || (*zeros)[1] != 0 || (*zeros)[rank] != 0 || (*zeros)[rank + 1] != 0) return false;
    std::size_t const spatial = rank - 2;
    std::vector<std::int64_t> pads(2 * spatial, 0);
    node_attribute const* const given = n.attribute("pads");
    if (given != nullptr && given->ints.size() == pads.size()) pads = given->ints;
    for (std::size_t i = 0; i != spatial; ++i) {
        pads[i] += (*zeros)[2 + i];
        pads[spatial + i] += (*zeros)[rank + 2 + i];
    }
    if (std::any_of(pads.begin(), pads.end(), [](std::int64_t p) { return p < 0 || p > max_pad; })) return false;
    set_ints_attribute(n, "pads", std::move(pads));
    r.set_input(n, 0, pad->inputs[0]);
    return false;
}

} // namespace ATON_NAMESPACE::passes
