// SPDX-License-Identifier: MIT
#include "system/child_process.hpp"

#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aton/core/crash_signals.hpp>

#include "system/files.hpp"

namespace ATON_NAMESPACE::system {

namespace {

void reset_signals() {
    for (int const signal : detail::crash_signals) (void)std::signal(signal, SIG_DFL);
    for (int const signal : {SIGPROF, SIGALRM, SIGPIPE}) (void)std::signal(signal, SIG_DFL);
    ::sigset_t none;
    ::sigemptyset(&none);
    (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::rlimit const no_core{0, 0};
    (void)::setrlimit(RLIMIT_CORE, &no_core);
}

} // namespace

bool can_copy_process() noexcept { return true; }

child_process::child_process(std::function<void(int to)> const& work) {
    int ends[2] = {};
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "a pipe to a process");
    process_ = ::fork();
    if (process_ == 0) {
        ::close(ends[0]);
        reset_signals();
        [&]() noexcept { work(ends[1]); }(); // nothing unwinds into what the other process does
        ::_exit(0);
    }
    int const reason = errno;
    ::close(ends[1]);
    from_ = ends[0];
    if (process_ > 0) return;
    ::close(from_);
    throw std::system_error(reason, std::generic_category(), "a process");
}

child_process::child_process(child_process&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      from_(std::exchange(other.from_, -1)) {}

child_process& child_process::operator=(child_process&& other) noexcept {
    std::swap(process_, other.process_);
    std::swap(from_, other.from_);
    return *this;
}

child_process::~child_process() {
    if (from_ >= 0) ::close(from_);
    if (process_ > 0) ::kill(process_, SIGKILL);
    (void)wait();
}

std::ptrdiff_t child_process::read(char* to, std::size_t size) noexcept {
    ::ssize_t n = 0;
    do n = ::read(from_, to, size);
    while (n < 0 && errno == EINTR);
    return n;
}

process_end child_process::wait() noexcept {
    process_end out;
    if (process_ <= 0) return out;
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    if (WIFSIGNALED(status)) out.signal = WTERMSIG(status);
    else out.status = WEXITSTATUS(status);
    return out;
}

void send_or_end(int to, std::string_view bytes) noexcept {
    auto const* const start = reinterpret_cast<std::byte const*>(bytes.data()); // NOLINT(*-reinterpret-cast)
    if (!write_all(to, start, bytes.size())) ::_exit(1);
}

std::vector<std::size_t> wait_for_pipes(std::vector<int> const& pipes) {
    std::vector<::pollfd> all;
    for (int const each : pipes) all.push_back({each, POLLIN, 0});
    std::vector<std::size_t> ready;
    while (::poll(all.data(), all.size(), -1) < 0)
        if (errno != EINTR) return ready;
    for (std::size_t i = 0; i != all.size(); ++i)
        if (all[i].revents != 0) ready.push_back(i);
    return ready;
}

void limit_time(int seconds) noexcept {
    ::itimerval const limit{{}, {seconds, 0}};
    (void)::setitimer(ITIMER_PROF, &limit, nullptr);
    ::alarm(static_cast<unsigned>(seconds) * 10);
}

end_reason reason_of(int signal) noexcept {
    switch (signal) {
    case SIGKILL: return end_reason::killed;
    case SIGPROF:
    case SIGALRM: return end_reason::out_of_time;
    default: return end_reason::other;
    }
}

} // namespace ATON_NAMESPACE::system
