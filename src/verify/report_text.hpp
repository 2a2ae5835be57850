// SPDX-License-Identifier: MIT
// What the forms of a report share.
#pragma once

#include <string>

#include <aton/core/json_text.hpp>
#include <aton/verify/check.hpp>

namespace ATON_NAMESPACE::verify {

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
    int arguments = 0; ///< of all rows
    int kinds = 0;     ///< of values, that they were drawn with
    int missing = 0;   ///< of values, that they could have had
};
[[nodiscard]] totals totals_of(report const& r);

/// Three digits.
[[nodiscard]] std::string short_text(double v);

/// Three digits; null where it is none.
[[nodiscard]] std::string json_number(double v);
/// "[a, b]" of what `write` makes of each.
template <class List, class Write>
std::string json_list(List const& all, Write const& write) {
    std::string out = "[";
    for (auto const& each : all) out += (out.size() == 1 ? "" : ", ") + write(each);
    return out + ']';
}

} // namespace ATON_NAMESPACE::verify
