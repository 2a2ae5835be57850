// SPDX-License-Identifier: MIT
// What the forms of a report share.
#pragma once

#include <string>

#include <aton/verify/check.hpp>

namespace aton::verify {

struct totals {
    int passed = 0; ///< rows
    int failed = 0;
    int not_checked = 0;
    int calls = 0;
    int refused = 0;
    int excluded = 0;
    int mutants = 0;
    int caught = 0;
    int equivalent = 0;
};
[[nodiscard]] totals totals_of(report const& r);

/// Three digits.
[[nodiscard]] std::string short_text(double v);

} // namespace aton::verify
