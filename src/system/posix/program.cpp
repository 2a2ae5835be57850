// SPDX-License-Identifier: MIT
#include "system/program.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h> // NOLINT(modernize-deprecated-headers): mkdtemp
#include <sys/wait.h>
#include <unistd.h>

namespace ATON_NAMESPACE::system {

namespace {

using std::chrono::steady_clock;

constexpr std::size_t kept = std::size_t{1} << 16U;

/// The process of the program, in a group of its own. Writes errno to `failed` if it cannot be executed.
[[noreturn]] void become_program(char* const* arguments, int output, int failed) {
    (void)::setpgid(0, 0);
    for (int const signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) (void)std::signal(signal, SIG_DFL);
    ::sigset_t none;
    ::sigemptyset(&none);
    (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
    int const input = ::open("/dev/null", O_RDONLY | O_CLOEXEC); // NOLINT(*-vararg)
    if (input >= 0 && ::dup2(input, 0) >= 0 && ::dup2(output, 1) >= 0 && ::dup2(output, 2) >= 0)
        (void)::execvp(arguments[0], arguments);
    int const reason = errno;
    (void)!::write(failed, &reason, sizeof reason);
    ::_exit(127);
}

/// Adds what is there to `to`. Returns whether more may come.
bool take_output(int from, std::string& to) {
    char buffer[4096];
    ::ssize_t const n = ::read(from, buffer, sizeof buffer);
    if (n < 0) return errno == EINTR;
    to.append(buffer, static_cast<std::size_t>(n));
    if (to.size() > 2 * kept) to.erase(0, to.size() - kept);
    return n != 0;
}

/// Reads until the end of the output, or of the time. What the program started may keep the pipe open, so its own end counts as well.
void follow(::pid_t process, int output, steady_clock::time_point end, program_end& to, int& status) {
    bool is_open = true;
    while (true) {
        ::pollfd wanted{output, POLLIN, 0};
        int const ready = is_open ? ::poll(&wanted, 1, 20) : 0;
        if (ready > 0) is_open = take_output(output, to.said);
        if (ready <= 0 || !is_open) {
            ::pid_t const ended = ::waitpid(process, &status, WNOHANG);
            if (ended == process) return;
            if (!is_open) (void)::usleep(2000);
        }
        if (steady_clock::now() < end) continue;
        to.out_of_time = true;
        (void)::kill(-process, SIGKILL);
        (void)::kill(process, SIGKILL);
        while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
        }
        return;
    }
}

} // namespace

program_end run_program(std::vector<std::string> const& arguments, int seconds) {
    program_end out;
    std::vector<char*> pointers;
    for (std::string const& each : arguments) pointers.push_back(const_cast<char*>(each.c_str())); // NOLINT: execvp's
    pointers.push_back(nullptr);
    int output[2] = {-1, -1};
    int failed[2] = {-1, -1};
    bool const has_pipes = ::pipe2(output, O_CLOEXEC) == 0 && ::pipe2(failed, O_CLOEXEC) == 0;
    ::pid_t const process = has_pipes ? ::fork() : -1;
    if (process == 0) become_program(pointers.data(), output[1], failed[1]);
    int reason = process < 0 ? errno : 0;
    for (int const each : {output[1], failed[1]})
        if (each >= 0) ::close(each);
    if (process > 0) {
        int status = 0;
        (void)!::read(failed[0], &reason, sizeof reason); // ends when the program has been executed
        follow(process, output[0], steady_clock::now() + std::chrono::seconds(seconds), out, status);
        (void)::kill(-process, SIGKILL); // what it has left behind
        if (WIFSIGNALED(status)) out.signal = WTERMSIG(status);
        else out.status = WEXITSTATUS(status);
    }
    for (int const each : {output[0], failed[0]})
        if (each >= 0) ::close(each);
    if (reason != 0) out.why_not = std::strerror(reason);
    if (out.said.size() > kept) out.said.erase(0, out.said.size() - kept);
    return out;
}

std::string create_private_folder() {
    std::error_code fault;
    std::string path = (std::filesystem::temp_directory_path(fault) / "aton-XXXXXX").string();
    if (fault) {
        errno = fault.value();
        return {};
    }
    return ::mkdtemp(path.data()) == nullptr ? std::string() : path;
}

} // namespace ATON_NAMESPACE::system
