// SPDX-License-Identifier: MIT
#include "c_task.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <aton/core/error.hpp>
#include <aton/model_io/model_io.hpp>

#include "commands.hpp"
#include "large_stack.hpp"

namespace aton::tool {

namespace {

/// Whether a name is that of a file in a folder, and no path.
bool is_file_name(std::string_view name) {
    return !name.empty() && name != "." && name != ".." && name.find_first_of("/\\") == std::string_view::npos;
}

} // namespace

kept_error::kept_error(unconvertible const& op, std::string message)
    : message_(message.empty() ? op.reason : std::move(message)),
      op_(op.op),
      node_(op.calls.empty() ? std::string() : op.calls.front().node),
      place_(op.places.empty() ? std::string() : op.places.front()),
      nearest_(op.nearest) {
    fill(ATON_UNCONVERTIBLE, op.count);
}

void kept_error::fill(aton_code code, std::uint64_t count) {
    view_ = {sizeof view_, code, message_.c_str(), op_.c_str(), node_.c_str(), place_.c_str(), nearest_.c_str(), count};
}

aton_code task::fail(aton_code code, std::string message) {
    if (code != ATON_OK) failure_.emplace(code, std::move(message));
    else failure_.reset();
    return code;
}

aton_code task::change(argument one, std::string fault) {
    std::lock_guard const lock(mutex_);
    if (is_running_) return ATON_BUSY;
    if (!fault.empty()) return fail(ATON_USAGE, std::move(fault));
    if (one.kind != argument_kind::text && !is_file_name(one.text))
        return fail(ATON_USAGE, "'" + plain(std::move(one.text)) + "' is not the name of a file without a folder");
    bool const is_named_again =
        one.kind != argument_kind::text && std::ranges::any_of(arguments_, [&](argument const& each) {
            return each.kind != argument_kind::text && each.text == one.text;
        });
    if (is_named_again) return fail(ATON_USAGE, one.text + ": is the name of two files in memory");
    arguments_.push_back(std::move(one));
    return fail(ATON_OK, {});
}

aton_code task::add_option(std::string_view name, char const* value) {
    if (name.empty() || name.front() == '-' || name.find('=') != std::string_view::npos)
        return change({}, "'" + plain(std::string(name)) + "' is not the name of an option; write it without dashes");
    if (name.size() == 1)
        return change({argument_kind::text, '-' + std::string(name) + (value != nullptr ? value : "")});
    return change({argument_kind::text, "--" + std::string(name) + (value != nullptr ? '=' + std::string(value) : "")});
}

aton_code task::add_file(std::string_view path) {
    if (path.empty()) return change({}, "the path of a file is empty");
    return change({argument_kind::text, (path.front() == '-' ? "./" : "") + std::string(path)});
}

aton_code task::add_memory(std::string_view name, std::string_view bytes) {
    return change({argument_kind::memory, std::string(name), std::string(bytes)});
}

aton_code task::add_argument(std::string_view argument) { return change({argument_kind::text, std::string(argument)}); }

aton_code task::keep_output(std::string_view name) { return change({argument_kind::kept_output, std::string(name)}); }

aton_code task::observe(aton_progress_function* function, void* user) {
    std::lock_guard const lock(mutex_);
    if (is_running_) return ATON_BUSY;
    function_ = function;
    user_ = user;
    return fail(ATON_OK, {});
}

/// Runs the command in this thread.
void task::work(kept_console& out, system::private_folder const* folder) {
    thread_console = &out;
    cancellation_scope const cancels(&stop_);
    status_ = 1;
    try {
        stop_if_cancelled();
        std::vector<std::string> words{"aton"};
        if (!command_.empty()) words.push_back(command_);
        for (argument const& each : arguments_) {
            if (each.kind == argument_kind::text) {
                words.push_back(each.text);
                continue;
            }
            std::string const path = folder->file(each.text);
            if (each.kind == argument_kind::memory) write_file(each.bytes, path);
            words.push_back((each.kind == argument_kind::kept_output ? "--output=" : "") + path);
        }
        std::vector<char*> argv;
        for (std::string& each : words) argv.push_back(each.data());
        argv.push_back(nullptr);
        status_ = run_reported(run_command, static_cast<int>(words.size()), argv.data());
        if (status_ == 0 && folder != nullptr) keep_results(*folder);
    } catch (std::exception const& e) {
        status_ = 1;
        out.failure = e.what();
    }
    thread_console = nullptr;
    out.end();
}

void task::keep_results(system::private_folder const& folder) {
    for (argument const& each : arguments_) {
        if (each.kind != argument_kind::kept_output) continue;
        for (std::string const& name : {each.text, each.text + ".data"})
            if (std::optional<std::string> bytes = folder.read(name)) results_.emplace_back(name, std::move(*bytes));
    }
}

/// Puts what became of the command where the caller finds it.
void task::publish(kept_console& out, system::private_folder const* folder) {
    auto const known = [&](std::string text) {
        return folder != nullptr ? folder->without_path(std::move(text)) : text;
    };
    output_ = known(std::move(out.output));
    messages_ = known(std::move(out.notes));
    std::string message = known(std::move(out.failure));
    for (unconvertible const& each : out.refused) refused_.emplace_back(each, std::string());
    failure_.reset();
    if (status_ == 0) return;
    if (stop_) failure_.emplace(ATON_CANCELLED, cancelled().what());
    else if (status_ == 2) failure_.emplace(ATON_USAGE, std::move(message));
    else if (!out.refused.empty()) failure_.emplace(out.refused.front(), std::move(message));
    else if (!message.empty()) failure_.emplace(ATON_FAILED, std::move(message));
    else failure_.emplace(ATON_DIFFERENT, "there is a difference; the output says where");
}

/// Calls the caller's function. Whether the work goes on.
bool task::show(progress_state const& now, system::private_folder const* folder) const {
    std::string const stage = folder != nullptr ? folder->without_path(now.stage) : now.stage;
    bool const has_bytes = now.unit == progress_unit::bytes;
    std::int32_t const unit = now.total == 0 ? ATON_UNIT_NONE : has_bytes ? ATON_UNIT_BYTES : ATON_UNIT_THINGS;
    aton_progress const shown{
        sizeof shown, unit, stage.c_str(), has_bytes ? "" : now.what.c_str(), now.done, now.total};
    return function_(user_, &shown) == 0;
}

aton_code task::run() {
    std::unique_lock lock(mutex_);
    if (is_running_) return ATON_BUSY;
    is_running_ = true;
    output_.clear();
    messages_.clear();
    failure_.reset();
    refused_.clear();
    results_.clear();
    lock.unlock();
    try {
        bool const needs_folder =
            std::ranges::any_of(arguments_, [](argument const& each) { return each.kind != argument_kind::text; });
        std::unique_ptr<system::private_folder const> const folder =
            needs_folder ? std::make_unique<system::private_folder const>() : nullptr;
        kept_console::observer observer;
        if (function_ != nullptr) observer = [&](progress_state const& now) { return show(now, folder.get()); };
        kept_console out(std::move(observer), stop_);
        {
            large_stack_thread const worker([&] { work(out, folder.get()); });
            out.attend();
        }
        lock.lock();
        publish(out, folder.get());
    } catch (std::exception const& e) {
        if (!lock.owns_lock()) lock.lock();
        status_ = 1;
        bool const no_memory = dynamic_cast<std::bad_alloc const*>(&e) != nullptr;
        fail(no_memory ? ATON_OUT_OF_MEMORY : ATON_FAILED, no_memory ? "out of memory" : e.what());
    }
    is_running_ = false;
    stop_ = false;
    return failure_ ? failure_->get().code : ATON_OK;
}

int task::exit_status() {
    std::lock_guard const lock(mutex_);
    return is_running_ ? 0 : status_;
}

std::string const* task::output() {
    std::lock_guard const lock(mutex_);
    return is_running_ ? nullptr : &output_;
}

std::string const* task::messages() {
    std::lock_guard const lock(mutex_);
    return is_running_ ? nullptr : &messages_;
}

aton_error const* task::failure() {
    std::lock_guard const lock(mutex_);
    return is_running_ || !failure_ ? nullptr : &failure_->get();
}

aton_error const* task::refused(std::size_t index) {
    std::lock_guard const lock(mutex_);
    return is_running_ || index >= refused_.size() ? nullptr : &refused_[index].get();
}

std::pair<std::string, std::string> const* task::result(std::size_t index) {
    std::lock_guard const lock(mutex_);
    return is_running_ || index >= results_.size() ? nullptr : &results_[index];
}

} // namespace aton::tool
