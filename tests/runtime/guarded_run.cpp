// SPDX-License-Identifier: MIT
// Each lane is a process that runs every n-th call, with a pipe for its results. A lane that dies is forked again after
// the call that killed it.
#include "guarded_run.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aton::tests {

namespace {

using job_function = std::function<std::string(std::size_t)>;
using time_point = std::chrono::steady_clock::time_point;

std::string called(job_function const& job, std::size_t i) {
    try {
        return job(i);
    } catch (std::exception const& e) {
        return e.what();
    }
}

void write_all(int to, void const* from, std::size_t bytes) {
    char const* at = static_cast<char const*>(from);
    while (bytes != 0) {
        ssize_t const written = ::write(to, at, bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) ::_exit(1);
        at += written;
        bytes -= static_cast<std::size_t>(written);
    }
}

class lane {
public:
    lane(std::size_t first, std::size_t step, std::vector<std::string>& results, job_function const& job)
        : next_(first),
          step_(step),
          results_(results),
          job_(job) {
        start();
    }
    lane(lane&& other) = delete;
    ~lane() {
        if (process_ > 0) stop();
    }

    [[nodiscard]] bool is_done() const { return process_ <= 0; }
    [[nodiscard]] int pipe() const { return pipe_; }
    [[nodiscard]] bool hangs(int seconds) const {
        return std::chrono::steady_clock::now() - since_ > std::chrono::seconds(seconds);
    }

    /// Reads available output; at the end of the pipe, records how the process died.
    void take() {
        char buffer[4096];
        ssize_t const n = ::read(pipe_, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) return;
        if (n <= 0) return ended(stop());
        received_.append(buffer, static_cast<std::size_t>(n));
        for (std::uint32_t size = 0; received_.size() >= sizeof size;) {
            std::memcpy(&size, received_.data(), sizeof size);
            if (received_.size() < sizeof size + size) break;
            result(received_.substr(sizeof size, size));
            received_.erase(0, sizeof size + size);
        }
    }

    void give_up(int seconds) {
        ::kill(process_, SIGKILL);
        (void)stop();
        died("has not come back after " + std::to_string(seconds) + " s");
    }

private:
    void start() {
        received_.clear();
        since_ = std::chrono::steady_clock::now();
        if (next_ >= results_.size()) return;
        int ends[2];
        std::fflush(nullptr);
        if (::pipe(ends) != 0) throw std::runtime_error("no pipe: " + std::string(std::strerror(errno)));
        process_ = ::fork();
        if (process_ < 0) throw std::runtime_error("no process: " + std::string(std::strerror(errno)));
        if (process_ == 0) {
            ::close(ends[0]);
            for (std::size_t i = next_; i < results_.size(); i += step_) {
                std::string const text = called(job_, i);
                auto const size = static_cast<std::uint32_t>(text.size());
                write_all(ends[1], &size, sizeof size);
                write_all(ends[1], text.data(), size);
            }
            ::_exit(0);
        }
        ::close(ends[1]);
        pipe_ = ends[0];
    }

    /// Waits for the process to end and returns its status.
    int stop() {
        int status = 0;
        ::close(pipe_);
        while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
        }
        process_ = -1;
        return status;
    }

    void ended(int status) {
        if (next_ >= results_.size()) return;
        if (WIFSIGNALED(status)) return died("crashed: " + std::string(::strsignal(WTERMSIG(status))));
        died("ended the program with " + std::to_string(WEXITSTATUS(status)));
    }

    void died(std::string of) {
        result(std::move(of));
        start();
    }

    void result(std::string text) {
        results_[next_] = std::move(text);
        next_ += step_;
        since_ = std::chrono::steady_clock::now();
    }

    std::size_t next_;
    std::size_t step_;
    std::vector<std::string>& results_;
    job_function const& job_;
    pid_t process_ = -1;
    int pipe_ = -1;
    std::string received_;
    time_point since_;
};

} // namespace

std::vector<std::string> guarded_run(std::size_t count, job_function const& job, std::size_t processes, int seconds) {
    std::vector<std::string> results(count);
    if (processes == 0) {
        for (std::size_t i = 0; i != count; ++i) results[i] = called(job, i);
        return results;
    }
    std::vector<std::unique_ptr<lane>> lanes;
    for (std::size_t i = 0; i != processes; ++i) lanes.push_back(std::make_unique<lane>(i, processes, results, job));
    for (;;) {
        std::vector<pollfd> waiting;
        std::vector<lane*> open;
        for (auto const& each : lanes) {
            if (each->is_done()) continue;
            waiting.push_back({each->pipe(), POLLIN, 0});
            open.push_back(each.get());
        }
        if (open.empty()) return results;
        ::poll(waiting.data(), waiting.size(), 1000);
        for (std::size_t i = 0; i != open.size(); ++i) {
            if (waiting[i].revents != 0) open[i]->take();
            else if (open[i]->hangs(seconds)) open[i]->give_up(seconds);
        }
    }
}

} // namespace aton::tests
