// SPDX-License-Identifier: MIT
// Searches the changes of the passes for the first one that makes a graph wrong.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include <aton/exporter/exporter.hpp>

namespace ATON_NAMESPACE {

std::optional<pass_step> find_wrong_step(program::program const& p, export_options options,
                                         std::function<bool(graph_data const&)> const& is_right) {
    pass_trace const limits = options.trace == nullptr ? pass_trace() : *options.trace;
    pass_step last;
    auto const is_right_after = [&](std::size_t steps) {
        pass_trace trace{.max_steps = std::min(steps, limits.max_steps), .stop_after = limits.stop_after};
        options.trace = &trace;
        exported_graph const made = export_graph(p, options);
        last = std::move(trace.last);
        return is_right(made.graph);
    };
    if (is_right_after(limits.max_steps)) return {};
    pass_step wrong = std::move(last);
    std::size_t right = 0;
    std::size_t too_many = wrong.number;
    if (too_many == 0 || !is_right_after(right)) return {};
    while (right + 1 != too_many) {
        std::size_t const steps = std::midpoint(right, too_many);
        bool const is_right_now = is_right_after(steps);
        (is_right_now ? right : too_many) = steps;
        if (!is_right_now) wrong = std::move(last);
    }
    return wrong;
}

} // namespace ATON_NAMESPACE
