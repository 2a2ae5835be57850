// SPDX-License-Identifier: MIT
// Windows cannot copy a process.
#include "system/child_process.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace ATON_NAMESPACE::system {

bool can_copy_process() noexcept { return false; }

child_process::child_process(std::function<void(int to)> const& /*work*/) {
    throw std::system_error(ENOSYS, std::generic_category(), "a process");
}

child_process::child_process(child_process&& /*other*/) noexcept = default;
child_process& child_process::operator=(child_process&& /*other*/) noexcept = default;
child_process::~child_process() = default;

std::ptrdiff_t child_process::read(char* /*to*/, std::size_t /*size*/) noexcept { return 0; }

process_end child_process::wait() noexcept { return {}; }

void send_or_end(int /*to*/, std::string_view /*bytes*/) noexcept { std::_Exit(1); }

std::vector<std::size_t> wait_for_pipes(std::vector<int> const& /*pipes*/) { return {}; }

void limit_time(int /*seconds*/) noexcept {}

end_reason reason_of(int /*signal*/) noexcept { return end_reason::other; }

} // namespace ATON_NAMESPACE::system
