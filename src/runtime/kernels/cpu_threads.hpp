// SPDX-License-Identifier: MIT
// Work on the threads of OpenMP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::runtime::kernels {

/// The number of elements that is enough work for a thread.
inline constexpr std::int64_t work_for_a_thread = 32768;

/// Calls `f(context, first, last)` for parts of [0, count) of at least `min_elements` elements, each on a thread.
/// Rethrows an exception of a part.
void run_parts(std::int64_t count, std::int64_t min_elements, void const* context,
               void (*f)(void const*, std::int64_t, std::int64_t));

inline namespace ATON_KERNEL_VARIANT {

template <class Function>
void in_parts(std::int64_t count, std::int64_t min_elements, Function const& f) {
    run_parts(count, min_elements, &f, [](void const* context, std::int64_t first, std::int64_t last) {
        (*static_cast<Function const*>(context))(first, last);
    });
}

/// The number of chunks of `count` elements.
constexpr std::int64_t chunks_of(std::int64_t count) { return (count + work_for_a_thread - 1) / work_for_a_thread; }

/// The number of units with `work` elements each that is enough work for a thread.
constexpr std::int64_t units_for_a_thread(std::int64_t work) {
    return work >= work_for_a_thread ? 1 : work_for_a_thread / (work < 1 ? 1 : work);
}

/// Temporary memory, uninitialized.
template <class T>
class scratch {
public:
    explicit scratch(std::int64_t count)
        : memory_(static_cast<T*>(::operator new(static_cast<std::size_t>(count) * sizeof(T), std::align_val_t(64)))) {}
    scratch(scratch const&) = delete;
    scratch& operator=(scratch const&) = delete;
    ~scratch() { ::operator delete(memory_, std::align_val_t(64)); }

    [[nodiscard]] T* data() const { return memory_; }
    [[nodiscard]] T& operator[](std::int64_t i) const { return memory_[i]; }

private:
    T* memory_;
};

} // namespace ATON_KERNEL_VARIANT

} // namespace ATON_NAMESPACE::runtime::kernels
