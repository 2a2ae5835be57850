// SPDX-License-Identifier: MIT
// Emulates CUB's block scan with the same results, in order.
#pragma once

#include <cuda_runtime.h>

namespace cub {

template <class T, int Threads>
class BlockScan {
public:
    struct TempStorage {
        T totals[Threads];
    };
    explicit BlockScan(TempStorage& storage) : storage_(storage) {}

    template <int Count, class Combine>
    void InclusiveScan(T (&own)[Count], T (&up_to)[Count], Combine const& combine, T& all) {
        up_to[0] = own[0];
        for (int e = 1; e != Count; ++e) up_to[e] = combine(up_to[e - 1], own[e]);
        storage_.totals[threadIdx.x] = up_to[Count - 1];
        __syncthreads();
        T sum = storage_.totals[0];
        T before = sum; // of the threads before this one; not used by the first
        for (unsigned i = 1; i != Threads; ++i) {
            if (i < threadIdx.x) before = combine(before, storage_.totals[i]);
            sum = combine(sum, storage_.totals[i]);
        }
        if (threadIdx.x != 0)
            for (T& x : up_to) x = combine(before, x);
        all = sum;
    }

private:
    TempStorage& storage_;
};

} // namespace cub
