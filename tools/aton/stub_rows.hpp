// SPDX-License-Identifier: MIT
// The text of rows that are still to be written: a schema with the C++ parameters of its arguments, and a body that refuses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aton::tool {

/// An operator that needs a row.
struct stub {
    std::string overload;            ///< "my_ops::scale.out"
    std::string schema;              ///< as torch prints it or as it was inferred
    std::vector<std::string> places; ///< calls of the program: "model.py:12 in forward"
    std::vector<std::string> notes;  ///< what of the schema was inferred
};

/// A C++ file with a row for each operator, as a plugin. Operators that no row can map are comments with the reason. `origin` is what the
/// operators are from, such as "model.pt2".
[[nodiscard]] std::string stub_file(std::vector<stub> const& all, std::string_view origin);

} // namespace aton::tool
