// SPDX-License-Identifier: MIT
// aton export of several files and folders: which file is written for which, and threads that export them.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/core/json_writer.hpp>

#include "commands.hpp"
#include "console.hpp"
#include "model_files.hpp"
#include "progress.hpp"
#include "signals.hpp"
#include "system/paths.hpp"

namespace aton::tool {

namespace {

namespace fs = std::filesystem;

/// Whether -o names the folder of the outputs, not the one output.
bool is_output_folder(export_request const& request) {
    return request.output.ends_with('/') || (!request.output.empty() && are_several(request.files));
}

/// Throws if two inputs have the same output, or if an output is an input.
void refuse_collisions(std::vector<export_job> const& jobs) {
    std::set<std::string> inputs;
    std::map<std::string, std::string> writers;
    for (export_job const& job : jobs) inputs.insert(place_of(job.input));
    for (export_job const& job : jobs) {
        if (!job.fault.empty()) continue;
        std::string const place = place_of(job.output);
        auto const [known, is_new] = writers.try_emplace(place, job.input);
        if (!is_new)
            throw error(plain(known->second) + " and " + plain(job.input) + ": would both be written to " +
                        plain(job.output) + "; export one of them by itself, and name another output with -o");
        if (jobs.size() <= 1 || !inputs.contains(place)) continue;
        bool const is_model = job.input.ends_with(".onnx"); // it is its own output
        throw error(plain(job.output) + (is_model
                                             ? ": is not a program; to write it, give it as -o " + plain(job.output)
                                             : ": is also an input; name another folder with -o"));
    }
}

/// The outcomes of jobs in their order, while threads work on them.
class worker_threads {
public:
    worker_threads(export_request const& request, std::vector<export_job> const& jobs)
        : request_(request),
          jobs_(jobs),
          outcomes_(jobs.size()),
          shown_(style_of_stderr(request.quiet)) {
        auto const count = std::min<std::size_t>(static_cast<std::size_t>(request.jobs), jobs.size());
        try {
            while (threads_.size() != count)
                threads_.emplace_back([this, context = thread_context()] {
                    thread_context::scope const mine(context);
                    work();
                });
        } catch (std::system_error const&) { // the system has no more threads
            if (threads_.empty()) work();
        }
    }
    worker_threads(worker_threads const&) = delete;
    worker_threads& operator=(worker_threads const&) = delete;
    /// Waits for the jobs that have begun; the others are not done.
    ~worker_threads() {
        next_ = jobs_.size();
        for (std::thread& each : threads_) each.join();
    }

    export_outcome take(std::size_t job) {
        std::unique_lock lock(mutex_);
        finished_.wait(lock, [&] { return outcomes_[job].has_value(); });
        return std::move(*outcomes_[job]);
    }

private:
    void work() {
        for (std::size_t i = next_++; i < jobs_.size(); i = next_++) {
            export_outcome made{jobs_[i], {}};
            try {
                made = run(jobs_[i]);
            } catch (std::exception const& e) { // it was cancelled
                made.error = e.what();
            }
            std::lock_guard const lock(mutex_);
            outcomes_[i] = std::move(made);
            finished_.notify_all();
        }
    }

    export_outcome run(export_job const& job) {
        export_options options = request_.options;
        if (!options.inputs.empty() && !is_torchscript(job.input)) options.inputs.clear();
        fs::path const folder = system::path_of(job.output).parent_path();
        std::error_code fault;
        if (!folder.empty() && job.fault.empty()) fs::create_directories(folder, fault);
        export_job checked = job;
        if (fault) checked.fault = plain(system::text_of(folder)) + ": cannot be created: " + fault.message();
        if (jobs_.size() == 1) return export_one(checked, std::move(options), request_.verifier, shown_);
        progress silent({.is_shown = false});
        shown_.stage(job.input);
        shown_.step(done_, jobs_.size(), "files");
        export_outcome made = export_one(checked, std::move(options), request_.verifier, silent);
        shown_.step(++done_, jobs_.size(), "files");
        return made;
    }

    export_request const& request_;
    std::vector<export_job> const& jobs_;
    std::mutex mutex_; ///< of the outcomes
    std::condition_variable finished_;
    std::vector<std::optional<export_outcome>> outcomes_;
    progress shown_;
    std::atomic<std::size_t> next_{0};
    std::atomic<std::size_t> done_{0};
    std::vector<std::thread> threads_;
};

std::string line_of(export_outcome const& made, int opset) {
    std::string line = text_of(made, opset);
    if (made.verified && made.verified->passed) line.insert(line.size() - 1, "; " + made.verified->summary);
    return line;
}

/// What is said about one of several files, on stderr. The name of the file is in it.
std::string failure_of(export_outcome const& made) {
    if (made.error.empty()) return plain(made.job.output) + ": differs from the program: " + made.verified->summary;
    bool const has_name = made.error.find(plain(made.job.input)) != std::string::npos;
    return has_name ? made.error : plain(made.job.input) + ": " + made.error;
}

} // namespace

std::vector<export_job> plan_exports(export_request const& request) {
    bool const several = are_several(request.files);
    bool const to_folder = is_output_folder(request);
    std::error_code ignored;
    fs::path const wanted = system::path_of(request.output);
    if (several && !wanted.empty() && fs::exists(wanted, ignored) && !fs::is_directory(wanted, ignored))
        throw error(plain(request.output) + ": is not a folder; several models are written to a folder");
    bool has_torchscript = false;
    std::vector<export_job> jobs;
    for (model_file const& file : find_programs(request.files, !request.inputs.empty())) {
        fs::path output = to_folder ? wanted / system::part_of(file.relative) : system::path_of(file.path);
        output.replace_extension(".onnx");
        if (!to_folder && !wanted.empty()) output = wanted;
        jobs.push_back({file.path, system::text_of(output), file.fault});
        if (several && !request.inputs.empty() && file.fault.empty())
            has_torchscript = has_torchscript || is_torchscript(file.path);
    }
    if (several && !request.inputs.empty() && !has_torchscript)
        throw error("--input: none of the files is a TorchScript archive; only these need the types of inputs");
    refuse_collisions(jobs);
    if (!several && to_folder) fs::create_directories(wanted, ignored); // or else the export fails
    return jobs;
}

int export_several(export_request const& request, std::vector<export_job> const& jobs) {
    auto const start = std::chrono::steady_clock::now();
    if (thread_console == nullptr) postpone_closed_pipes(); // of stdout
    int const opset = request.options.opset;
    bool const is_json = request.format == "json";
    json_writer json;
    json.begin_array();
    std::size_t failed = 0;
    {
        worker_threads workers(request, jobs);
        for (std::size_t i = 0; i != jobs.size(); ++i) {
            export_outcome const made = workers.take(i);
            if (is_json) write_json(json.new_line("  "), made, opset);
            if (!request.quiet && !is_json) print_warnings(made);
            if (!request.quiet && !is_json && made.report) print_out(line_of(made, opset));
            if (made.passed()) continue;
            ++failed;
            complain(failure_of(made), made.refused);
        }
    }
    if (is_json && !(request.quiet && failed == 0)) print_out(json.new_line().end_array().text() + '\n');
    std::string const all = std::to_string(jobs.size()) + (jobs.size() == 1 ? " file" : " files");
    if (failed != 0) complain(std::to_string(failed) + " of " + all + " failed");
    else if (!request.quiet && !is_json)
        print_out(all + " exported, 0 failed, " + time_text(std::chrono::steady_clock::now() - start) + '\n');
    return failed == 0 ? 0 : 1;
}

} // namespace aton::tool
