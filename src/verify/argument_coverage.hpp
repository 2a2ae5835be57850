// SPDX-License-Identifier: MIT
// Records which kinds of values the arguments of an operator had in the calls that were drawn, and which kinds are missing.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/dsl/entry.hpp>
#include <aton/verify/check.hpp>
#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

class argument_coverage {
public:
    /// `rule`: the text of the sampling rule; empty if there is none.
    argument_coverage(dsl::entry const& row, std::string_view rule);

    /// Records a call that ATen accepts.
    void add(sample const& s, dtype of);
    [[nodiscard]] std::vector<argument_report> report() const;

private:
    struct one {
        aten::schema_argument formal;
        bool is_read = false; ///< by the row
        std::string_view reason;
        std::set<std::string> possible;
        std::set<std::string> drawn;
    };
    std::vector<one> all_;
};

} // namespace ATON_NAMESPACE::verify
