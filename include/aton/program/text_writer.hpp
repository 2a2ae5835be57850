// SPDX-License-Identifier: MIT
// Values, types and arguments of a program as text, as its printed form has them.
// Internal header.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::program {

/// Appends texts to one string. Strings of the file lose line breaks and control characters.
class text_writer {
public:
    explicit text_writer(program const& p);

    void plain(std::string_view text);
    /// "%relu_1"; "None" for no_value.
    void reference(value_index v);
    /// "Float(1, 3, s0)", "SymInt(s0 + 1)"; nothing for a tensor without a recorded type.
    void type(value_index v);
    /// "%relu_1: Float(1, 3, s0)"
    void typed(value_index v);
    /// The value of an argument, without its name: "[1, 1]", "%x", "None".
    void value_of(argument const& a);

    /// A comma and a space, except at the start of a list.
    void separate();
    template <class List, class Write>
    void list(List const& elements, Write write) {
        text_ += '[';
        for (auto const& each : elements) {
            separate();
            write(each);
        }
        text_ += ']';
    }

    [[nodiscard]] std::string& text() { return text_; }
    /// Returns the text, and starts a new one.
    [[nodiscard]] std::string take();

private:
    void size(extent const& e);
    void real(double d);
    void write_number(number const& n);

    program const& p_;
    std::vector<std::string> expressions_;
    std::string text_;
};

} // namespace ATON_NAMESPACE::program
