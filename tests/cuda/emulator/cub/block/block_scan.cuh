// SPDX-License-Identifier: MIT
// Emulates CUB's block scan with the same results, in order.
#pragma once

#include <cuda_runtime.h>

namespace cub {

template <class T, int Threads>
class BlockScan {
public:
    struct TempStorage {
        T values[Threads];
    };
    explicit BlockScan(TempStorage& storage) : storage_(storage) {}

    template <class Combine>
    void InclusiveScan(T own, T& up_to, Combine const& combine, T& all) {
        storage_.values[threadIdx.x] = own;
        __syncthreads();
        T sum = storage_.values[0];
        T before = sum;
        for (unsigned i = 1; i != Threads; ++i) {
            if (i <= threadIdx.x) before = combine(before, storage_.values[i]);
            sum = combine(sum, storage_.values[i]);
        }
        up_to = before;
        all = sum;
    }

private:
    TempStorage& storage_;
};

} // namespace cub
