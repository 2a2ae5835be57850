// SPDX-License-Identifier: MIT
// The stream on which the runtime runs everything in order, and the check of CUDA's status codes.
#pragma once

#include <cstddef>

#include <cuda_runtime.h>

#include <aton/runtime/memory.hpp>

namespace ATON_NAMESPACE::runtime::gpu {

/// Throws aton::error "cuda: WHAT: CUDA's description" unless `status` is success.
void check(cudaError_t status, char const* what);

[[nodiscard]] cudaStream_t stream();

/// Stream-ordered memory: freed memory can be allocated again by later calls without synchronization.
[[nodiscard]] allocator& pool();

/// Temporary GPU memory.
template <class T>
class scratch {
public:
    explicit scratch(std::size_t count) : memory_(pool(), count * sizeof(T)) {}
    [[nodiscard]] T* data() const { return reinterpret_cast<T*>(memory_.data()); } // NOLINT(*-reinterpret-cast)
private:
    buffer memory_;
};

/// Calls `f(temporary, bytes)` twice, as CUB requires: first with null to query the size, then with temporary memory of
/// that size.
template <class Function>
void with_temporary_memory(char const* what, Function const& f) {
    std::size_t bytes = 0;
    check(f(nullptr, bytes), what);
    scratch<std::byte> const temporary(bytes);
    check(f(temporary.data(), bytes), what);
}

} // namespace ATON_NAMESPACE::runtime::gpu
