// SPDX-License-Identifier: MIT
// aton-verify, which has no libtorch.
#include <filesystem>
#include <string>
#include <system_error>

#include <aton/core/error.hpp>

#include "commands.hpp"
#include "system/process.hpp"
#include "torch_truth.hpp"

namespace aton::tool {

void become_torch(char** argv) {
    std::error_code fault;
    std::filesystem::path const program = system::sibling_path("aton-verify-torch");
    if (program.empty() || !std::filesystem::exists(program, fault))
        throw error("--torch: there is no aton-verify-torch beside aton-verify; build Aton with -DATON_BUILD_TORCH=ON, "
                    "which needs "
                    "libtorch, such as that of pip install torch");
    (void)exec_sibling("aton-verify-torch", argv);
}

void use_torch(verify::check_options& /*options*/) { throw error("--torch: aton-verify has no libtorch"); }

} // namespace aton::tool
