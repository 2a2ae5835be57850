// SPDX-License-Identifier: MIT
// Gather, scatter and ranges on the GPU.
#include "runtime/kernels/indexing.hpp"

#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include "runtime/kernels/random.hpp"

#include "kernels.hpp"
#include "launch.cuh"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

std::int64_t list_true(std::int64_t count, bool const* x, std::int64_t* out) {
    gpu::scratch<std::int64_t> const found(1);
    thrust::counting_iterator<std::int64_t> const numbers(0);
    gpu::with_temporary_memory("selection of true elements", [&](void* temporary, std::size_t& bytes) {
        return cub::DeviceSelect::Flagged(temporary, bytes, numbers, x, out, found.data(), count, gpu::stream());
    });
    std::int64_t n = 0;
    gpu::check(cudaMemcpyAsync(&n, found.data(), sizeof n, cudaMemcpyDeviceToHost, gpu::stream()), "a copy");
    gpu::check(cudaStreamSynchronize(gpu::stream()), "the stream");
    return n;
}

void add_indexing(launches& to) {
    to.take = launch_take<cuda_launcher>;
    to.put = launch_put<cuda_launcher>;
    to.range = launch_range<cuda_launcher>;
    to.random_bits = launch_random_bits<cuda_launcher>;
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
