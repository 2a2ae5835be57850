// SPDX-License-Identifier: MIT
// aton-verify, which has no libtorch.
#include <filesystem>
#include <string>
#include <system_error>

#include <aton/core/error.hpp>

#include "commands.hpp"
#include "torch_truth.hpp"

namespace aton::tool {

void become_torch(char** argv) {
    std::error_code fault;
    std::filesystem::path const here = std::filesystem::read_symlink("/proc/self/exe", fault);
    if (fault || !std::filesystem::exists(here.parent_path() / "aton-verify-torch", fault))
        throw error("--torch: there is no aton-verify-torch beside aton-verify; build Aton with -DATON_BUILD_TORCH=ON, "
                    "which needs "
                    "libtorch, such as that of pip install torch");
    (void)exec_sibling("aton-verify-torch", argv);
}

void use_torch(verify::check_options& /*options*/) { throw error("--torch: aton-verify has no libtorch"); }

} // namespace aton::tool
