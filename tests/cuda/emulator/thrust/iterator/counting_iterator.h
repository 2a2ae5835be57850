// SPDX-License-Identifier: MIT
// Emulates Thrust's counting iterator.
#pragma once

#include <cstdint>

namespace thrust {

template <class T>
struct counting_iterator {
    explicit counting_iterator(T start) : first(start) {}
    T first;
    T operator[](std::int64_t i) const { return first + static_cast<T>(i); }
};

} // namespace thrust
