// SPDX-License-Identifier: MIT
// Sorting on the GPU: CUB's stable sorts of keys with their indices.
#include "runtime/kernels/sort.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

#include "kernels.hpp"
#include "launch.cuh"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

namespace {

template <class T>
struct make_keys {
    using key = unsigned_of<sizeof(T)>;
    T const* x;
    key* keys;
    std::int64_t* places;
    std::int64_t length;
    bool descending;
    ATON_HD void operator()(std::int64_t i) const {
        key const k = sort_key(x[i]);
        keys[i] = descending ? static_cast<key>(~k) : k;
        places[i] = i % length;
    }
};

template <class T>
struct take_sorted {
    T const* x;
    std::int64_t const* places;
    T* values;
    std::int64_t length;
    ATON_HD void operator()(std::int64_t i) const { values[i] = x[i - i % length + places[i]]; }
};

struct row_start {
    std::int64_t* starts;
    std::int64_t length;
    ATON_HD void operator()(std::int64_t row) const { starts[row] = row * length; }
};

template <class Key>
void sort_rows(sort_shape const& s, Key const* keys, Key* sorted_keys, std::int64_t const* places,
               std::int64_t* sorted_places) {
    std::int64_t const count = s.rows * s.length;
    if (s.rows == 1) {
        gpu::with_temporary_memory("a sort", [&](void* temporary, std::size_t& bytes) {
            return cub::DeviceRadixSort::SortPairs(temporary,
                                                   bytes,
                                                   keys,
                                                   sorted_keys,
                                                   places,
                                                   sorted_places,
                                                   count,
                                                   0,
                                                   static_cast<int>(sizeof(Key) * 8),
                                                   gpu::stream());
        });
        return;
    }
    gpu::scratch<std::int64_t> const starts(static_cast<std::size_t>(s.rows + 1));
    cuda_launcher::for_each(s.rows + 1, row_start{starts.data(), s.length});
    gpu::with_temporary_memory("a sort", [&](void* temporary, std::size_t& bytes) {
        return cub::DeviceSegmentedSort::StableSortPairs(temporary,
                                                         bytes,
                                                         keys,
                                                         sorted_keys,
                                                         places,
                                                         sorted_places,
                                                         count,
                                                         s.rows,
                                                         starts.data(),
                                                         starts.data() + 1,
                                                         gpu::stream());
    });
}

struct sort_launcher : cuda_launcher {
    template <class T>
    static void sort(sort_shape const& s, T* values, std::int64_t* indices, T const* x) {
        using key = unsigned_of<sizeof(T)>;
        std::int64_t const count = s.rows * s.length;
        if (count == 0) return;
        auto const n = static_cast<std::size_t>(count);
        gpu::scratch<key> const keys(n);
        gpu::scratch<key> const sorted_keys(n);
        gpu::scratch<std::int64_t> const places(n);
        for_each(count, make_keys<T>{x, keys.data(), places.data(), s.length, s.descending});
        sort_rows<key>(s, keys.data(), sorted_keys.data(), places.data(), indices);
        for_each(count, take_sorted<T>{x, indices, values, s.length});
    }
};

} // namespace

void add_sort(launches& to) { to.sort = launch_sort<sort_launcher>; }

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
