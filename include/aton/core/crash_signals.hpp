// SPDX-License-Identifier: MIT
// The signals by which a mistake in a mapping of a plugin ends a process, on POSIX systems.
// Internal header.
#pragma once

#include <array>
#include <csignal>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::detail {

#ifdef SIGBUS
inline constexpr std::array crash_signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
#else
inline constexpr std::array crash_signals = {SIGSEGV, SIGFPE, SIGILL, SIGABRT};
#endif

/// What one of these signals says, after "by"; empty for other signals.
constexpr std::string_view cause_of(int signal) {
    switch (signal) {
    case SIGSEGV: return "a segmentation fault (SIGSEGV)";
#ifdef SIGBUS
    case SIGBUS: return "an invalid address (SIGBUS)";
#endif
    case SIGFPE: return "an arithmetic error (SIGFPE), such as an integer divided by 0";
    case SIGILL: return "an invalid instruction (SIGILL)";
    case SIGABRT: return "abort() (SIGABRT), such as for a failed assertion";
    default: return {};
    }
}

} // namespace ATON_NAMESPACE::detail
