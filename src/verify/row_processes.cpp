// SPDX-License-Identifier: MIT
// A child sends its report through a pipe: a letter, then the report or the message of an error.
#include "row_processes.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <aton/core/crash_signals.hpp>
#include <aton/core/error.hpp>

#include "call_watch.hpp"
#include "reasons.hpp"
#include "report_bytes.hpp"
#include "row_check.hpp"
#include "system/child_process.hpp"
#include "system/files.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

constexpr char is_report = 'r';
constexpr char is_error = 'e';

[[noreturn]] void fail(char const* what) { throw error(std::string(what) + ": " + system::message_of(errno)); }

system::child_process start(dsl::entry const& row, check_options const& options, call_watch& watch) {
    try {
        return system::child_process([&](int to) {
            watch.start();
            std::string out;
            try {
                out = is_report + to_bytes(check_row(row, options));
            } catch (std::exception const& e) {
                out = is_error + std::string(e.what());
            }
            system::send_or_end(to, out);
        });
    } catch (std::system_error const& e) {
        throw error(e.what());
    }
}

class child {
public:
    child(std::size_t row, dsl::entry const& entry, check_options const& options)
        : row_(row),
          watch_(std::make_unique<call_watch>(options.seconds)),
          process_(start(entry, options, *watch_)) {}

    [[nodiscard]] std::size_t row() const { return row_; }
    [[nodiscard]] int from() const { return process_.from(); }

    /// Reads what is there; false at the end.
    [[nodiscard]] bool read() {
        char chunk[1 << 14];
        std::ptrdiff_t const n = process_.read(chunk, sizeof chunk);
        if (n < 0) fail("the report of a process");
        if (n > 0) bytes_.append(chunk, static_cast<std::size_t>(n));
        return n != 0;
    }

    /// The report of a process that has ended.
    [[nodiscard]] row_report report(dsl::entry const& entry) {
        system::process_end const end = process_.wait();
        bool const is_done = end.signal == 0 && end.status == 0 && !bytes_.empty();
        std::string_view const all = std::string_view(bytes_).substr(bytes_.empty() ? 0 : 1);
        if (is_done && bytes_[0] == is_report) return report_of(all);
        if (is_done) throw error(std::string(all));
        row_report out;
        out.overload = entry.overload;
        out.since = entry.since;
        out.until = entry.until;
        call_watch::noted last = watch_->last();
        if (last.call.overload.empty()) last.call.overload = entry.overload;
        std::string why = "the check of the mapping ";
        if (last.converts) why = std::string(does_not_convert) + "it ";
        else if (last.runs) why = std::string(does_not_run) + "it ";
        why += end_of(end, watch_->seconds() * (last.converts ? 1 : call_watch::run_factor));
        out.recorded.different = last.place.empty() ? 0 : 1;
        out.failures.push_back({std::move(last.call), last.opset, why, std::move(last.place)});
        return out;
    }

private:
    /// How a process ended: "ends the process by a segmentation fault (SIGSEGV)".
    [[nodiscard]] static std::string end_of(system::process_end end, int seconds) {
        if (end.signal == 0) return "ends the process with status " + std::to_string(end.status);
        if (std::string_view const cause = detail::cause_of(end.signal); !cause.empty())
            return "ends the process by " + std::string(cause);
        switch (system::reason_of(end.signal)) {
        case system::end_reason::killed:
            return "ends the process, which the system kills (SIGKILL), as it does if memory runs out";
        case system::end_reason::out_of_time: return "does not end within " + std::to_string(seconds) + " seconds";
        default: return "ends the process by signal " + std::to_string(end.signal);
        }
    }

    std::size_t row_;
    std::unique_ptr<call_watch> watch_; // the process notes its calls there
    system::child_process process_;
    std::string bytes_;
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
        std::vector<int> pipes;
        for (child const& each : running) pipes.push_back(each.from());
        std::vector<std::size_t> const ready = system::wait_for_pipes(pipes);
        if (ready.empty()) fail("processes of rows");
        for (auto at = ready.rbegin(); at != ready.rend(); ++at) {
            std::size_t const i = *at;
            if (running[i].read()) continue;
            out[running[i].row()] = running[i].report(*rows[running[i].row()]);
            running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
            ++done;
            if (options.progress) options.progress(done, rows.size());
        }
    }
    return out;
}

} // namespace ATON_NAMESPACE::verify
