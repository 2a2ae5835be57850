// SPDX-License-Identifier: MIT
// `aton stub`: writes rows to fill in, for operators without a mapping.
#pragma once

#include <string>
#include <vector>

namespace aton::tool {

struct stub_request {
    std::string file;    ///< a .pt2 file or a TorchScript archive; empty: all operators of `schemas`
    std::string schemas; ///< a file with one schema in each line; may be empty
    std::string output;  ///< empty: stdout
    std::vector<std::string> inputs;
    std::vector<std::string> plugins; ///< whose rows are not needed
};
int write_stubs(stub_request const& request);

} // namespace aton::tool
