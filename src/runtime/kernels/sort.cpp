// SPDX-License-Identifier: MIT
// Sorting on the CPU: numbers with their indices, short rows by comparison, long ones by radix sort from the last byte
// to the first.
#include "runtime/kernels/sort.hpp"

#include <algorithm>
#include <limits>

#include "cpu.hpp"
#include "cpu_launch.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

namespace {

template <class Key>
struct placed {
    Key key;
    std::int64_t place;
};

/// Sorts by one byte of the keys; false if it is the same in all keys.
template <class Key>
bool sort_by_byte(placed<Key> const* from, placed<Key>* to, std::int64_t n, unsigned shift) {
    std::int64_t ends[257] = {};
    auto const digit = [&](Key k) { return static_cast<std::size_t>(k >> shift) & 255U; };
    for (std::int64_t i = 0; i != n; ++i) ++ends[digit(from[i].key) + 1];
    if (ends[digit(from[0].key) + 1] == n) return false;
    for (int d = 0; d != 256; ++d) ends[d + 1] += ends[d];
    for (std::int64_t i = 0; i != n; ++i) to[ends[digit(from[i].key)]++] = from[i];
    return true;
}

template <class Key>
placed<Key>* sort_row(placed<Key>* row, placed<Key>* spare, std::int64_t n) {
    constexpr std::int64_t few = 32;
    if (n <= few) {
        for (std::int64_t i = 1; i < n; ++i) {
            placed<Key> const moved = row[i];
            std::int64_t at = i;
            for (; at != 0 && row[at - 1].key > moved.key; --at) row[at] = row[at - 1];
            row[at] = moved;
        }
        return row;
    }
    for (unsigned shift = 0; shift != std::numeric_limits<Key>::digits; shift += 8)
        if (sort_by_byte(row, spare, n, shift)) std::swap(row, spare);
    return row;
}

struct sort_launcher : cpu_launcher {
    template <class T>
    static void sort(sort_shape const& s, T* values, std::int64_t* indices, T const* x) {
        using key = unsigned_of<sizeof(T)>;
        std::int64_t const length = s.length;
        in_parts(s.rows, units_for_a_thread(length * 8), [&](std::int64_t first, std::int64_t last) {
            scratch<placed<key>> const temporary(length * 2);
            for (; first != last; ++first) {
                T const* const from = x + first * length;
                for (std::int64_t i = 0; i != length; ++i) {
                    key const k = sort_key(from[i]);
                    temporary[i] = {s.descending ? static_cast<key>(~k) : k, i};
                }
                placed<key> const* const sorted_row = sort_row(temporary.data(), temporary.data() + length, length);
                for (std::int64_t i = 0; i != length; ++i) {
                    values[first * length + i] = from[sorted_row[i].place];
                    indices[first * length + i] = sorted_row[i].place;
                }
            }
        });
    }
};

} // namespace

void add_sort(launches& to) { to.sort = launch_sort<sort_launcher>; }

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
