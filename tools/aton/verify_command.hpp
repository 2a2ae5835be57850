// SPDX-License-Identifier: MIT
// What aton verify does once its options are read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aton::tool {

struct verify_request {
    std::vector<std::string> files; ///< MODEL.pt2 and MODEL.onnx, or none
    std::string only;
    int opset = 0; ///< 0: all
    int samples = 3;
    std::uint64_t seed = 0;
    std::string seeds; ///< "1..200": each of them, in place of `seed`
    std::string log;   ///< of the seeds that are done; a file
    bool mutants = false;
    double least_power = 0;     ///< in percent
    double least_row_power = 0; ///< in percent
    int threads = 0;            ///< 0: as many as the machine has
    std::vector<std::string> plugins;
    std::string inputs; ///< a folder
    std::string model;
    std::string device = "cpu"; ///< or "cuda"
    std::vector<std::string> reports;
};

/// Why options do not go together; empty where they do.
[[nodiscard]] std::string usage_fault(verify_request const& request);

/// The exit status: 0 where all is the same. Throw aton::error where the work fails.
int verify_mappings(verify_request const& request);
int verify_model(verify_request const& request);

} // namespace aton::tool
