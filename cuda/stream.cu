// SPDX-License-Identifier: MIT
#include "stream.hpp"

#include <cstdint>
#include <string>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::gpu {

void check(cudaError_t status, char const* what) {
    if (status == cudaSuccess) return;
    (void)cudaGetLastError(); // otherwise the next call would report it again
    throw error(std::string("cuda: ") + what + ": " + cudaGetErrorString(status));
}

cudaStream_t stream() {
    static cudaStream_t const only = [] {
        cudaStream_t s = nullptr;
        check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "a stream");
        return s;
    }();
    return only;
}

namespace {

class stream_pool final : public allocator {
public:
    stream_pool() {
        check(cudaDeviceGetDefaultMemPool(&pool_, 0), "the memory pool");
        std::uint64_t keep = UINT64_MAX; // the process keeps freed memory
        check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep), "the memory pool");
    }

    [[nodiscard]] device where() const override { return {device_kind::cuda, 0}; }

    [[nodiscard]] void* allocate(std::size_t bytes) override {
        void* memory = nullptr;
        std::size_t const some = bytes == 0 ? 1 : bytes;
        cudaError_t status = cudaMallocAsync(&memory, some, stream());
        if (status == cudaErrorMemoryAllocation) { // the memory may be fragmented: trim the pool and retry
            (void)cudaGetLastError();
            check(cudaStreamSynchronize(stream()), "the stream");
            check(cudaMemPoolTrimTo(pool_, 0), "the memory pool");
            status = cudaMallocAsync(&memory, some, stream());
        }
        if (status == cudaErrorMemoryAllocation) {
            (void)cudaGetLastError();
            throw error("a tensor of " + std::to_string(bytes) + " bytes does not fit into the memory of cuda:0");
        }
        check(status, "memory");
        return memory;
    }

    void release(void* memory, std::size_t /*bytes*/) noexcept override {
        if (cudaFreeAsync(memory, stream()) != cudaSuccess)
            (void)cudaGetLastError(); // fails only at the end of the process
    }

private:
    cudaMemPool_t pool_ = nullptr;
};

} // namespace

allocator& pool() {
    static auto* const only = new stream_pool; // must outlive every tensor
    return *only;
}

} // namespace ATON_NAMESPACE::runtime::gpu
