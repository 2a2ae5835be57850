// SPDX-License-Identifier: MIT
#include "system/process.hpp"

#include <system_error>

#include <unistd.h>

namespace ATON_NAMESPACE::system {

int process_id() noexcept { return ::getpid(); }

char** arguments(int& /*argc*/, char** argv) { return argv; }

std::filesystem::path sibling_path(std::string const& program) {
    std::error_code fault;
    std::filesystem::path const self = std::filesystem::read_symlink("/proc/self/exe", fault);
    return fault ? std::filesystem::path() : self.parent_path() / program;
}

void become(std::filesystem::path const& program, char** argv) noexcept { (void)::execv(program.c_str(), argv); }

void end_at_once(int status) noexcept { ::_exit(status); }

} // namespace ATON_NAMESPACE::system
