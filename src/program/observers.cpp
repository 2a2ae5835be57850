// SPDX-License-Identifier: MIT
#include "observers.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/aten/schema_table.hpp>

#include "node_arguments.hpp"

namespace ATON_NAMESPACE::program {

namespace {

constexpr std::string_view fused = "aten::fused_moving_avg_obs_fake_quant";

/// Whether a flag is set: an input with one integer, which the file has. nullopt for all others.
std::optional<bool> flag(program const& p, node const& n, std::string_view name) {
    argument const* const given = find_argument(n, name);
    if (given == nullptr || given->kind != argument_kind::tensor) return {};
    for (input const& each : p.inputs) {
        if (each.value != given->tensor.index || each.kind == input_kind::user) continue;
        stored_tensor const& data = each.data;
        bool const is_known = is_integral(data.type) || data.type == dtype::bool_;
        if (!is_known || data.parts.size() != 1 || data.element_count() != 1 || data.is_absent()) return {};
        std::size_t const width = bits(data.type) / 8;
        stored_part const& part = data.parts[0];
        std::byte const* const at = part.bytes.data + static_cast<std::size_t>(part.offset) * width;
        constexpr std::byte zeros[8] = {};
        return std::memcmp(at, zeros, width) != 0;
    }
    return {};
}

bool is_written(program const& p, value_index v) {
    for (node const& n : p.main.nodes)
        if (n.op == "aten::copy_" && !n.arguments.empty() && n.arguments[0].tensor.index == v) return true;
    return false;
}

void call_instead(node& n, std::string_view op,
                  std::initializer_list<std::pair<std::string_view, std::string_view>> names) {
    std::vector<argument> all;
    for (auto const& [from, to] : names)
        if (argument const* const given = find_argument(n, from))
            all.push_back(argument(*given).named(std::string(to)));
    n.op = op;
    n.schema = aten::find_schema(op);
    n.arguments = std::move(all);
}

} // namespace

void settle_observers(program& p) {
    for (node& n : p.main.nodes) {
        if (n.op != fused || flag(p, n, "observer_on") != false) continue;
        std::optional<bool> const quantizes = flag(p, n, "fake_quant_on");
        argument const* const switched = find_argument(n, "observer_on");
        if (!quantizes || is_written(p, switched->tensor.index)) continue;
        bool const has_rows = boolean_of(n, "per_row_fake_quant", false);
        if (!*quantizes) {
            call_instead(n, "aten::clone", {{"self", "self"}});
        } else if (has_rows) {
            call_instead(n,
                         "aten::fake_quantize_per_channel_affine",
                         {{"self", "self"},
                          {"scale", "scale"},
                          {"zero_point", "zero_point"},
                          {"ch_axis", "axis"},
                          {"quant_min", "quant_min"},
                          {"quant_max", "quant_max"}});
        } else {
            call_instead(n,
                         "aten::fake_quantize_per_tensor_affine.tensor_qparams",
                         {{"self", "self"},
                          {"scale", "scale"},
                          {"zero_point", "zero_point"},
                          {"quant_min", "quant_min"},
                          {"quant_max", "quant_max"}});
        }
    }
}

} // namespace ATON_NAMESPACE::program
