// SPDX-License-Identifier: MIT
// Integers of a few bits in bytes.
// Internal header.
#pragma once

#include <aton/version.hpp>

namespace ATON_NAMESPACE {

/// Packs integers of 2, 4 or 8 bits into bytes, from the lowest bits on.
class bit_packer {
public:
    explicit bit_packer(int bits) : bits_(static_cast<unsigned>(bits)) {}

    /// Of `v`, the lowest bits. `to`: a sequence of std::byte or char.
    template <class Bytes>
    void put(unsigned v, Bytes& to) {
        byte_ |= (v & ((1U << bits_) - 1U)) << filled_;
        filled_ += bits_;
        if (filled_ == 8) end_byte(to);
    }
    /// The next integer begins a byte.
    template <class Bytes>
    void end_byte(Bytes& to) {
        if (filled_ != 0) to.push_back(static_cast<typename Bytes::value_type>(byte_));
        byte_ = filled_ = 0;
    }

private:
    unsigned bits_;
    unsigned byte_ = 0;
    unsigned filled_ = 0;
};

} // namespace ATON_NAMESPACE
