// SPDX-License-Identifier: MIT
// Connectionist temporal classification: the probability of all alignments of a target with a sequence, by a Scan over time.
// Internal header.
#pragma once

#include <cstdint>
#include <limits>
#include <tuple>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/loss.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// A batch of sequences with their targets.
struct ctc_batch {
    value logs;          ///< (time, batch, classes)
    value labels;        ///< (batch, states): the targets with blanks between and around them
    value input_lengths; ///< (batch, 1)
    value lengths;       ///< (batch, 1): of the targets
};

/// Targets that are concatenated as rows of the longest length. What is beyond the end of a target is arbitrary.
inline value rows_of_targets(graph<11> g, value targets, value lengths) {
    value const first = g.op<"CumSum">(lengths, g.scalar(0, dtype::int64), attr::exclusive_i(1));
    value const widest = reduce<"ReduceMax">(g, lengths, iota(1), false);
    value const place = arithmetic_sequence(g, 0, sym_int(widest));
    value const all = g.op<"Add">(unsqueeze(g, first, 1), place);
    value const inside = g.op<"Where">(g.op<"Less">(place, unsqueeze(g, lengths, 1)), all, g.scalar(0, dtype::int64));
    value const not_empty = g.op<"Concat">(safe_vector<value>{targets, g.ints({0})}, attr::axis_i(0));
    return gather_of(g, not_empty, inside, 0);
}

/// (batch, 2 * width + 1) from targets (batch, width), whose elements beyond their lengths are replaced by blanks.
inline value with_blanks(graph<11> g, value targets, value lengths, std::int64_t blank) {
    value const place = arithmetic_sequence(g, 0, g.size(targets, 1));
    value const empty = g.scalar(blank, dtype::int64);
    value const known = g.op<"Where">(g.op<"Less">(place, lengths), targets, empty);
    value const blanks = g.op<"Add">(g.op<"Mul">(known, 0), blank);
    value const pairs =
        g.op<"Concat">(safe_vector<value>{unsqueeze(g, blanks, 2), unsqueeze(g, known, 2)}, attr::axis_i(2));
    sym_int const sizes[] = {g.size(targets, 0), g.size(targets, 1) * 2};
    value const last = g.op<"Add">(g.op<"Mul">(lengths, 0), blank);
    return g.op<"Concat">(safe_vector<value>{reshape(g, pairs, size_list(sizes)), last}, attr::axis_i(1));
}

inline ctc_batch ctc_operands(graph<11> g, value log_probs, value targets, value input_lengths, value target_lengths,
                              std::int64_t blank) {
    if (log_probs.dtype() != dtype::float32 && log_probs.dtype() != dtype::float64)
        throw unsupported_error("log_probs of another dtype than float32 and float64");
    if (blank < 0 || (log_probs.size(-1).is_static() && blank >= log_probs.size(-1).size()))
        throw unsupported_error("a blank that is not a class");
    value const logs = log_probs.rank() == 2 ? unsqueeze(g, log_probs, 1) : log_probs;
    if (logs.rank() != 3 || targets.rank() < 1 || targets.rank() > 2)
        throw unsupported_error("log_probs must be (time, batch, classes)");
    value const lengths = reshape(g, g.cast(target_lengths, dtype::int64), {-1});
    value const classes = g.cast(targets, dtype::int64);
    value const rows = targets.rank() == 2 ? classes : rows_of_targets(g, classes, lengths);
    value const column = unsqueeze(g, lengths, 1);
    return {
        logs, with_blanks(g, rows, column, blank), reshape(g, g.cast(input_lengths, dtype::int64), {-1, 1}), column};
}

inline value minus_infinity(graph<11> g, value like) {
    return g.scalar(-std::numeric_limits<double>::infinity(), like.dtype());
}

/// log(exp(a) + exp(b) + exp(c)); -inf if all are.
inline value log_of_sum(graph<11> g, value a, value b, value c) {
    value const highest = g.op<"Max">(a, b, c);
    value const zero = g.scalar(0, a.dtype());
    value const safe = g.op<"Where">(g.op<"Equal">(highest, minus_infinity(g, a)), zero, highest);
    auto const relative = [&](value x) -> value { return g.op<"Exp">(g.op<"Sub">(x, safe)); };
    return g.op<"Add">(g.op<"Log">(g.op<"Sum">(relative(a), relative(b), relative(c))), safe);
}

/// The negative log-likelihood of each target, (batch).
inline value ctc_losses(graph<11> g, ctc_batch const& c) {
    value const none = minus_infinity(g, c.logs);
    value const zero = g.scalar(0, c.logs.dtype());
    sym_int const times = g.size(c.logs, 0);
    sym_int const batch = g.size(c.labels, 0);
    sym_int const states = g.size(c.labels, 1);
    sym_int const all[] = {times, batch, states};
    value const everywhere = g.op<"Expand">(unsqueeze(g, c.labels, 0), g.ints(size_list(all)));
    value const emitted = g.op<"GatherElements">(c.logs, everywhere, attr::axis_i(2));
    // A label can follow the one before its blank if they differ. ATen also lets a label that is the blank itself.
    value const of_two_before =
        slice(g, g.op<"Pad">(c.labels, g.ints({0, 2, 0, 0}), g.scalar(-1, dtype::int64)), 1, 0, states);
    value const skips = g.op<"Not">(g.op<"Equal">(c.labels, of_two_before));
    // Before the first step, everything is in the first state.
    value const state = arithmetic_sequence(g, 0, states);
    value const rows = g.op<"Mul">(c.lengths, 0);
    value const start = g.op<"Where">(g.op<"Equal">(g.op<"Add">(rows, state), 0), zero, none);
    value const last =
        g.op<"Scan">(start,
                     emitted,
                     arithmetic_sequence(g, 0, times),
                     attr::num_scan_inputs_i(2),
                     attr::body_g([&](graph<11> b, value now, value here, value time) {
                         auto const moved = [&](std::int64_t by) {
                             return slice(b, b.op<"Pad">(now, b.ints({0, by, 0, 0}), none), 1, 0, states);
                         };
                         value const reached =
                             b.op<"Add">(log_of_sum(b, now, moved(1), b.op<"Where">(skips, moved(2), none)), here);
                         return b.op<"Where">(b.op<"Less">(time, c.input_lengths), reached, now);
                     }));
    value const end = g.op<"Mul">(c.lengths, 2);
    auto const at = [&](value place) -> value { return g.op<"GatherElements">(last, place, attr::axis_i(1)); };
    value const has_label = g.op<"Greater">(end, 0);
    value const before = g.op<"Where">(has_label, g.op<"Sub">(end, 1), end);
    value const label = g.op<"Where">(has_label, at(before), none);
    return g.op<"Neg">(squeeze(g, log_of_sum(g, at(end), label, none), 1));
}

inline value ctc_of(graph<11> g, value log_probs, value targets, value input_lengths, value target_lengths,
                    std::int64_t blank) {
    return ctc_losses(g, ctc_operands(g, log_probs, targets, input_lengths, target_lengths, blank));
}

inline value ctc(graph<11> g, value log_probs, value targets, value input_lengths, value target_lengths,
                 std::int64_t blank, std::int64_t mode, bool zero_infinity) {
    value loss = ctc_of(g, log_probs, targets, input_lengths, target_lengths, blank);
    if (zero_infinity) {
        value const infinity = g.scalar(std::numeric_limits<double>::infinity(), loss.dtype());
        loss = g.op<"Where">(g.op<"Equal">(loss, infinity), g.scalar(0, loss.dtype()), loss);
    }
    if (mode == 1) {
        value const lengths = reshape(g, g.cast(target_lengths, loss.dtype()), {-1});
        loss = g.op<"Div">(loss, g.op<"Max">(safe_vector<value>{lengths, g.scalar(1, loss.dtype())}));
    }
    return mode == 0 && log_probs.rank() == 2 ? squeeze(g, loss, std::int64_t{0}) : reduced(g, loss, mode);
}

inline constexpr auto ctc_by_list = [](graph<11> g, value log_probs, value targets, int_list input_lengths,
                                       int_list target_lengths, std::int64_t blank, std::int64_t mode,
                                       bool zero_infinity) -> value {
    return ctc(g, log_probs, targets, g.ints(input_lengths), g.ints(target_lengths), blank, mode, zero_infinity);
};
inline constexpr auto ctc_by_tensor = [](graph<11> g, value log_probs, value targets, value input_lengths,
                                         value target_lengths, std::int64_t blank, std::int64_t mode,
                                         bool zero_infinity) -> value {
    return ctc(g, log_probs, targets, input_lengths, target_lengths, blank, mode, zero_infinity);
};

/// The second result is only needed for the gradient, as is zero_infinity.
inline constexpr auto ctc_forward_by_list = [](graph<11> g, value log_probs, value targets, int_list input_lengths,
                                               int_list target_lengths, std::int64_t blank,
                                               bool) -> std::tuple<value, optional_value> {
    return {ctc_of(g, log_probs, targets, g.ints(input_lengths), g.ints(target_lengths), blank), absent};
};
inline constexpr auto ctc_forward_by_tensor = [](graph<11> g, value log_probs, value targets, value input_lengths,
                                                 value target_lengths, std::int64_t blank,
                                                 bool) -> std::tuple<value, optional_value> {
    return {ctc_of(g, log_probs, targets, input_lengths, target_lengths, blank), absent};
};

} // namespace ATON_NAMESPACE::mappings::detail
