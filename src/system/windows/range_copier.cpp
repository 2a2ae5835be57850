// SPDX-License-Identifier: MIT
#include "system/range_copier.hpp"

#include <algorithm>

#include "system/files.hpp"

namespace ATON_NAMESPACE::system {

/// Windows copies whole files only; ranges go through memory.
struct range_copier::methods {
    /// Small enough to stay in the processor's cache between the two passes.
    static constexpr std::size_t piece = std::size_t{1} << 20;
    std::unique_ptr<std::byte[]> buffer = std::make_unique_for_overwrite<std::byte[]>(piece);
};

range_copier::range_copier() = default;
range_copier::~range_copier() = default;

std::uint64_t range_copier::copy(int from, std::uint64_t position, std::uint64_t size, int to,
                                 std::uint64_t /*to_position*/) {
    if (methods_ == nullptr) methods_ = std::make_unique<methods>();
    std::byte* const buffer = methods_->buffer.get();
    std::uint64_t done = 0;
    while (done != size) {
        auto const n = static_cast<std::size_t>(std::min<std::uint64_t>(size - done, methods::piece));
        if (!read_range(from, position + done, buffer, n) || !write_all(to, buffer, n)) break;
        done += n;
    }
    return done;
}

} // namespace ATON_NAMESPACE::system
