// SPDX-License-Identifier: MIT
// Schedules reductions on threads.
#include "cpu_reduce.hpp"

#include <algorithm>

#include "cpu_threads.hpp"

namespace ATON_NAMESPACE::runtime::kernels {

namespace {

/// Maximum results computed together, such that they fit into the cache with their operands.
constexpr std::int64_t max_lines = 64;
constexpr std::int64_t max_columns = 1024;

class run {
public:
    run(reducer const& by, reduce_shape const& s, void* out, void const* x)
        : by_(by),
          s_(s),
          out_(static_cast<std::byte*>(out)),
          x_(static_cast<std::byte const*>(x)),
          in_columns_(s.kept.strides[0][s.kept.rank - 1] == 1 && s.kept.sizes[s.kept.rank - 1] > 1 &&
                      s.reduced_dims.strides[0][s.reduced_dims.rank - 1] != 1) {}

    void operator()() const {
        std::int64_t const outputs = s_.kept.count;
        std::int64_t const n = s_.reduced_dims.count;
        std::int64_t const width = s_.kept.sizes[s_.kept.rank - 1];
        std::int64_t const together = std::min(width, max_columns);
        // A chunk is enough work for a thread. It is larger for adjacent results, since it has accumulators for all of
        // them.
        std::int64_t const rows =
            in_columns_ ? std::max<std::int64_t>(1, 4 * work_for_a_thread / together) : work_for_a_thread;
        std::int64_t const chunks = (n + rows - 1) / rows;
        if (chunks <= 1) {
            in_parts(outputs, units_for_a_thread(n), [&](std::int64_t first, std::int64_t last) {
                alignas(64) std::byte sums[max_columns * 16];
                for_rows(first, last, [&](std::int64_t output, std::int64_t count) {
                    add(sums, output, count, 0, n);
                    by_.finish(out_ + output * bytes(by_.result_bytes), sums, count);
                });
            });
            return;
        }
        // The accumulators of chunks: those of the first chunk for all outputs, then those of the second.
        scratch<std::byte> const parts(chunks * outputs * bytes(by_.accumulator_bytes));
        auto const part = [&](std::int64_t at) { return parts.data() + at * bytes(by_.accumulator_bytes); };
        in_parts(chunks * outputs, units_for_a_thread(std::min(rows, n)), [&](std::int64_t first, std::int64_t last) {
            while (first != last) {
                std::int64_t const chunk = first / outputs;
                std::int64_t const end = std::min(last, (chunk + 1) * outputs);
                for_rows(first - chunk * outputs, end - chunk * outputs, [&](std::int64_t output, std::int64_t count) {
                    add(part(chunk * outputs + output), output, count, chunk * rows, std::min(n, (chunk + 1) * rows));
                });
                first = end;
            }
        });
        in_parts(outputs, units_for_a_thread(chunks), [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t c = 1; c < chunks; ++c) by_.merge(part(first), part(c * outputs + first), last - first);
            by_.finish(out_ + first * bytes(by_.result_bytes), part(first), last - first);
        });
    }

private:
    static std::int64_t bytes(std::size_t n) { return static_cast<std::int64_t>(n); }

    /// Calls `f(output, count)` for outputs that are evenly spaced in memory.
    template <class Function>
    void for_rows(std::int64_t first, std::int64_t last, Function const& f) const {
        row_cursor<1> at(s_.kept, first);
        while (first != last) {
            std::int64_t const limit = in_columns_ ? max_columns : max_lines;
            std::int64_t const count = std::min({last - first, at.left(), limit});
            f(first, count);
            first += count;
            at.advance(count);
        }
    }

    /// Adds elements `first` to `last` of `count` outputs.
    void add(void* sums, std::int64_t output, std::int64_t count, std::int64_t first, std::int64_t last) const {
        by_.start(sums, count);
        loop<1> const& reduced_dims = s_.reduced_dims;
        std::byte const* const from = x_ + offset_of(s_.kept, 0, output) * bytes(by_.element_bytes);
        row_cursor<1> at(reduced_dims, first);
        while (first != last) {
            std::int64_t const n = std::min(last - first, at.left());
            line_block const b{
                count, s_.kept.strides[0][s_.kept.rank - 1], n, reduced_dims.strides[0][reduced_dims.rank - 1], first};
            std::byte const* const x = from + at.offset(0) * bytes(by_.element_bytes);
            if (in_columns_) by_.add_columns(sums, x, b);
            else by_.add_lines(sums, x, b);
            first += n;
            at.advance(n);
        }
    }

    reducer const& by_;
    reduce_shape const& s_;
    std::byte* out_;
    std::byte const* x_;
    bool in_columns_;
};

} // namespace

void run_reducer(reducer const& by, reduce_shape const& s, void* out, void const* x) { run(by, s, out, x)(); }

} // namespace ATON_NAMESPACE::runtime::kernels
