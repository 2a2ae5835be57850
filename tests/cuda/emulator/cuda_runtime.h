// SPDX-License-Identifier: MIT
// Emulates on the CPU what cuda/ uses of CUDA, so that tests run its kernels on machines without a GPU. The threads of
// a block take turns at barriers, and blocks run one after the other. GPU memory is accessible only to kernels and
// copies: a program that reads it from the CPU crashes. Finds errors of ordering and addressing, not race conditions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier): CUDA's names
#define __global__
#define __device__
#define __host__
#define __shared__ static // blocks run one after the other
#define __launch_bounds__(...)

struct dim3 {
    unsigned x = 1;
    unsigned y = 1;
    unsigned z = 1;
};

using cudaError_t = int;
inline constexpr cudaError_t cudaSuccess = 0;
inline constexpr cudaError_t cudaErrorInvalidValue = 1;
inline constexpr cudaError_t cudaErrorMemoryAllocation = 2;
using cudaStream_t = struct emulated_stream*;
using cudaMemPool_t = struct emulated_pool*;
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold };
inline constexpr unsigned cudaStreamNonBlocking = 1;
struct cudaDeviceProp {
    char name[256];
    int major;
    int minor;
    std::size_t totalGlobalMem;
};
struct cudaLaunchConfig_t {
    dim3 gridDim;
    dim3 blockDim;
    std::size_t dynamicSmemBytes = 0;
    cudaStream_t stream = nullptr;
};

char const* cudaGetErrorString(cudaError_t status);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int number);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t s);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int number);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr what, void* value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes);
cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t s);
cudaError_t cudaFreeAsync(void* memory, cudaStream_t s);
cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind way, cudaStream_t s);

extern unsigned emulated_thread;
extern unsigned emulated_block;
extern unsigned emulated_blocks;
struct emulated_index {
    unsigned const& x;
};
inline emulated_index const threadIdx{emulated_thread};
inline emulated_index const blockIdx{emulated_block};
inline emulated_index const gridDim{emulated_blocks};
void __syncthreads();
/// The word of the thread of the same warp whose number differs in the bits of `mask`. Every thread of the block must call it.
unsigned __shfl_xor_sync(unsigned threads, unsigned word, int mask);
/// The word of a lane of the same warp. Every thread of the block must call it.
unsigned __shfl_sync(unsigned threads, unsigned word, int lane);

template <class Word>
Word atomicCAS(Word* at, Word expected, Word wanted) {
    Word const before = *at;
    if (before == expected) *at = wanted;
    return before;
}

/// Runs `f` while the GPU's memory is accessible.
void with_emulated_memory(std::function<void()> const& f);
cudaError_t run_emulated(cudaLaunchConfig_t const& how, std::function<void()> const& thread);

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(cudaLaunchConfig_t const* how, void (*kernel)(Parameters...), Arguments&&... arguments) {
    std::tuple<Parameters...> const given(arguments...); // the driver copies parameters, too
    return run_emulated(*how, [&] { std::apply(kernel, given); });
}
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
