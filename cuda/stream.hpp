// SPDX-License-Identifier: MIT
// The stream that everything of the runtime runs on, in order, and what CUDA says of it.
#pragma once

#include <cstddef>

#include <cuda_runtime.h>

#include <aton/runtime/memory.hpp>

namespace ATON_NAMESPACE::runtime::gpu {

/// Throws aton::error: "cuda: what: CUDA's own words".
void check(cudaError_t status, char const* what);

[[nodiscard]] cudaStream_t stream();

/// Memory in the order of the stream: what is given back is given out again to what comes after, without waiting.
[[nodiscard]] allocator& pool();

/// Memory of the GPU for a while.
template <class T>
class scratch {
public:
    explicit scratch(std::size_t count) : memory_(pool(), count * sizeof(T)) {}
    [[nodiscard]] T* data() const { return reinterpret_cast<T*>(memory_.data()); } // NOLINT(*-reinterpret-cast)
private:
    buffer memory_;
};

/// Calls `f(room, bytes)` twice, as CUB wants it: without room, to learn how much it needs, and with it.
template <class Function>
void with_room(char const* what, Function const& f) {
    std::size_t bytes = 0;
    check(f(nullptr, bytes), what);
    scratch<std::byte> const room(bytes);
    check(f(room.data(), bytes), what);
}

} // namespace ATON_NAMESPACE::runtime::gpu
