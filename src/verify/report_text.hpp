// SPDX-License-Identifier: MIT
// Totals and text helpers shared by the text, JSON and HTML reports.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <aton/core/json_writer.hpp>
#include <aton/verify/check.hpp>
#include <aton/verify/models.hpp>

namespace ATON_NAMESPACE::verify {

struct totals {
    int passed = 0; ///< rows
    int failed = 0;
    int not_checked = 0;
    int calls = 0;
    int refused = 0;
    int declined = 0;
    int excluded = 0;
    int mutants = 0;
    int detected = 0;
    int equivalent = 0;
    int arguments = 0;        ///< in all rows
    int kinds = 0;            ///< kinds of values that were drawn
    int missing = 0;          ///< kinds of values that were possible but not drawn
    int argument_mutants = 0; ///< mutants of arguments that are not equivalent
    int detected_of_arguments = 0;
    recorded_report recorded{};
};
[[nodiscard]] totals totals_of(report const& r);

/// The call as a line of Python; if it is recorded, with its place.
[[nodiscard]] std::string call_text(failure const& f);

/// The number of significant digits of errors and percentages.
inline constexpr int shown_digits = 3;

/// Text from a file, with spaces in place of control characters.
[[nodiscard]] inline std::string on_one_line(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    return text;
}

/// A number with `shown_digits`.
[[nodiscard]] std::string short_text(double v);

/// A line for each output of a model, and how many samples were the same. models.cpp
[[nodiscard]] std::string text_of(std::span<output_report const> outputs);
[[nodiscard]] std::string same_on(int samples);
/// The member "outputs" of an object.
void write_outputs(json_writer& out, std::span<output_report const> outputs);
[[nodiscard]] std::string_view text_of(node_verdict v);

} // namespace ATON_NAMESPACE::verify
