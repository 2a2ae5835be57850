// SPDX-License-Identifier: MIT
// This process, and the program that it becomes.
#pragma once

#include <filesystem>
#include <string>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::system {

[[nodiscard]] int process_id() noexcept;

/// The arguments of the command line in UTF-8: those of main(), where they are.
[[nodiscard]] char** arguments(int& argc, char** argv);

/// The path of a program in the folder of this one; empty if the system does not say where that is.
[[nodiscard]] std::filesystem::path sibling_path(std::string const& program);
/// Runs a program in place of this one: returns only if it cannot be run, and sets errno. Where a process cannot become another one, it waits
/// for it and ends with its status.
void become(std::filesystem::path const& program, char** argv) noexcept;

/// Ends the process at once: nothing is destroyed, no buffer is written.
[[noreturn]] void end_at_once(int status) noexcept;

} // namespace ATON_NAMESPACE::system
