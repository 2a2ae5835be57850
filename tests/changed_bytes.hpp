// SPDX-License-Identifier: MIT
// Bytes changed at random, for tests of readers; ATON_FUZZ_ROUNDS says how often.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <random>
#include <string>

namespace aton::tests {

inline int fuzz_rounds(int without_environment) {
    char const* const wanted = std::getenv("ATON_FUZZ_ROUNDS");
    return wanted != nullptr ? std::stoi(wanted) : without_environment;
}

template <class Number>
Number up_to(std::mt19937_64& rng, Number last) {
    return std::uniform_int_distribution<Number>(0, last)(rng);
}

/// A few bytes changed, doubled, cut out or moved.
inline std::string mutated(std::string bytes, std::mt19937_64& rng) {
    for (int n = up_to(rng, 3); n >= 0; --n) {
        std::size_t const at = up_to(rng, bytes.size() - 1);
        std::size_t const length = std::min<std::size_t>(up_to<std::size_t>(rng, 12), bytes.size() - at);
        switch (up_to(rng, 5)) {
        case 0: bytes[at] = static_cast<char>(up_to(rng, 255)); break;
        case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << up_to(rng, 7))); break;
        case 2: bytes.erase(at, length); break;
        case 3: bytes.insert(up_to(rng, bytes.size()), bytes.substr(at, length)); break;
        case 4: bytes.replace(at, length, std::string(length, '\xff')); break;
        default: bytes[at] = static_cast<char>(bytes[at] + 1); break;
        }
        if (bytes.empty()) bytes += 'x';
    }
    return bytes;
}

} // namespace aton::tests
