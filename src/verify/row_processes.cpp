// SPDX-License-Identifier: MIT
// A child sends its report through a pipe: a letter, then the report or the message of an error.
#include "row_processes.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aton/core/crash_signals.hpp>
#include <aton/core/error.hpp>

#include "call_watch.hpp"
#include "report_bytes.hpp"
#include "row_check.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

constexpr char is_report = 'r';
constexpr char is_error = 'e';

[[noreturn]] void fail(char const* what) {
    throw error(std::string(what) + ": " + std::generic_category().message(errno));
}

void send(int to, std::string_view bytes) {
    while (!bytes.empty()) {
        ::ssize_t const n = ::write(to, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) ::_exit(1);
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
}

/// Checks a row and ends the process.
[[noreturn]] void run_child(dsl::entry const& row, check_options const& options, call_watch& watch, int to) {
    for (int const signal : detail::crash_signals) (void)std::signal(signal, SIG_DFL);
    for (int const signal : {SIGPROF, SIGALRM, SIGPIPE}) (void)std::signal(signal, SIG_DFL);
    ::sigset_t none;
    ::sigemptyset(&none);
    (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::rlimit const no_core{0, 0};
    (void)::setrlimit(RLIMIT_CORE, &no_core);
    watch.start();
    std::string out;
    try {
        out = is_report + to_bytes(check_row(row, options));
    } catch (std::exception const& e) {
        out = is_error + std::string(e.what());
    }
    send(to, out);
    ::_exit(0);
}

class child {
public:
    child(std::size_t row, dsl::entry const& entry, check_options const& options)
        : row_(row),
          watch_(std::make_unique<call_watch>(options.seconds)) {
        int ends[2] = {};
        if (::pipe2(ends, O_CLOEXEC) != 0) fail("a pipe to a process");
        process_ = ::fork();
        if (process_ == 0) {
            ::close(ends[0]);
            run_child(entry, options, *watch_, ends[1]);
        }
        ::close(ends[1]);
        from_ = ends[0];
        if (process_ < 0) fail("a process for a row");
    }
    child(child&& other) noexcept
        : row_(other.row_),
          process_(std::exchange(other.process_, -1)),
          from_(std::exchange(other.from_, -1)),
          bytes_(std::move(other.bytes_)),
          watch_(std::move(other.watch_)) {}
    child& operator=(child&& other) noexcept {
        std::swap(row_, other.row_);
        std::swap(process_, other.process_);
        std::swap(from_, other.from_);
        std::swap(bytes_, other.bytes_);
        std::swap(watch_, other.watch_);
        return *this;
    }
    child(child const&) = delete;
    child& operator=(child const&) = delete;
    ~child() {
        if (from_ >= 0) ::close(from_);
        if (process_ > 0) ::kill(process_, SIGKILL);
        (void)wait();
    }

    [[nodiscard]] std::size_t row() const { return row_; }
    [[nodiscard]] int from() const { return from_; }

    /// Reads what is there; false at the end.
    [[nodiscard]] bool read() {
        char chunk[1 << 14];
        ::ssize_t const n = ::read(from_, chunk, sizeof chunk);
        if (n < 0 && errno != EINTR) fail("the report of a process");
        if (n > 0) bytes_.append(chunk, static_cast<std::size_t>(n));
        return n != 0;
    }

    /// The report of a process that has ended.
    [[nodiscard]] row_report report(dsl::entry const& entry) {
        int const status = wait();
        bool const is_done = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !bytes_.empty();
        std::string_view const all = std::string_view(bytes_).substr(bytes_.empty() ? 0 : 1);
        if (is_done && bytes_[0] == is_report) return report_of(all);
        if (is_done) throw error(std::string(all));
        row_report out;
        out.overload = entry.overload;
        out.since = entry.since;
        out.until = entry.until;
        call_watch::noted last = watch_->last();
        if (last.call.overload.empty()) last.call.overload = entry.overload;
        std::string const why = last.converts
                                    ? "a mistake of the mapping: it " + end_of(status, watch_->seconds())
                                    : (last.runs ? "the graph does not run: it " : "the check of the mapping ") +
                                          end_of(status, watch_->seconds() * call_watch::run_factor);
        out.recorded.different = last.place.empty() ? 0 : 1;
        out.failures.push_back({std::move(last.call), last.opset, why, std::move(last.place)});
        return out;
    }

private:
    int wait() {
        int status = 0;
        if (process_ <= 0) return status;
        while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
        }
        process_ = -1;
        return status;
    }

    /// How a process ended: "ends the process by a segmentation fault (SIGSEGV)".
    [[nodiscard]] static std::string end_of(int status, int seconds) {
        if (!WIFSIGNALED(status)) return "ends the process with status " + std::to_string(WEXITSTATUS(status));
        int const signal = WTERMSIG(status);
        if (std::string_view const cause = detail::cause_of(signal); !cause.empty())
            return "ends the process by " + std::string(cause);
        switch (signal) {
        case SIGKILL: return "ends the process, which the system kills (SIGKILL), as it does if memory runs out";
        case SIGPROF:
        case SIGALRM: return "does not end within " + std::to_string(seconds) + " seconds";
        default: return "ends the process by signal " + std::to_string(signal);
        }
    }

    std::size_t row_;
    ::pid_t process_ = -1;
    int from_ = -1;
    std::string bytes_;
    std::unique_ptr<call_watch> watch_;
};

} // namespace

std::vector<row_report> check_in_processes(std::span<dsl::entry const* const> rows, check_options const& options) {
    std::size_t const most = options.threads > 0 ? static_cast<std::size_t>(options.threads)
                                                 : std::max(1U, std::thread::hardware_concurrency());
    std::vector<row_report> out(rows.size());
    std::vector<child> running;
    std::size_t next = 0;
    std::size_t done = 0;
    while (done != rows.size()) {
        for (; running.size() < most && next != rows.size(); ++next) running.emplace_back(next, *rows[next], options);
        std::vector<::pollfd> ready;
        for (child const& each : running) ready.push_back({each.from(), POLLIN, 0});
        if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) fail("processes of rows");
        for (std::size_t i = ready.size(); i-- != 0;) {
            if (ready[i].revents == 0 || running[i].read()) continue;
            out[running[i].row()] = running[i].report(*rows[running[i].row()]);
            running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
            ++done;
            if (options.progress) options.progress(done, rows.size());
        }
    }
    return out;
}

} // namespace ATON_NAMESPACE::verify
