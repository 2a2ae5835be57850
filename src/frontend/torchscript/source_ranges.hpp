// SPDX-License-Identifier: MIT
// The member `.debug_pkl` of a file of code: which line of the user's Python code each of its parts comes from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::torchscript {

class source_ranges {
public:
    /// A part of the code, up to the next one.
    struct range {
        std::uint64_t offset = 0; ///< of its first byte
        std::size_t place = 0;
    };

    source_ranges() : places_(1) {}
    source_ranges(std::vector<range> ranges, std::vector<std::string> places);

    /// "net.py:12 in forward"; empty if it is not known.
    [[nodiscard]] std::string const& at(std::uint64_t offset) const;

private:
    std::vector<range> ranges_; ///< sorted
    std::vector<std::string> places_;
};

/// Reads a pickle of source ranges, of any release since torch 1.6. A pickle that is damaged has none.
[[nodiscard]] source_ranges read_source_ranges(std::string_view pickle);

} // namespace ATON_NAMESPACE::torchscript
