// SPDX-License-Identifier: MIT
// The functions of aton.h: exceptions become codes.
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <aton/c/aton.h>
#include <aton/version.hpp>

#include "c_task.hpp"
#include "commands.hpp"

struct aton_task : aton::tool::task {
    using task::task;
};

namespace {

using text_result = std::pair<std::string, std::string>;

/// Calls a function of a task. The caller may have given no task.
template <class Function>
aton_code called(aton_task* task, Function const& function) noexcept {
    if (task == nullptr) return ATON_USAGE;
    try {
        return function(*task);
    } catch (std::exception const&) { // these functions only allocate
        return ATON_OUT_OF_MEMORY;
    }
}

std::string_view text_of(char const* text) { return text != nullptr ? text : std::string_view(); }

/// Reads a text of a task.
char const* shown(std::string const* text, std::size_t* size) {
    if (size != nullptr) *size = text != nullptr ? text->size() : 0;
    return text != nullptr ? text->c_str() : nullptr;
}

/// Runs a task with these options, and gives it to the caller.
aton_code run_export(std::unique_ptr<aton_task> task, aton_code code, aton_option const* options, std::size_t count,
                     aton_task** to) noexcept {
    if (!task) return ATON_OUT_OF_MEMORY;
    for (std::size_t i = 0; i != count && code == ATON_OK; ++i)
        code = aton_task_set(task.get(), options[i].name, options[i].value);
    if (code == ATON_OK) code = aton_task_run(task.get());
    if (to != nullptr) *to = task.release();
    return code;
}

} // namespace

extern "C" {

uint32_t aton_abi_version(void) { return ATON_ABI_VERSION; }
char const* aton_version(void) { return aton::version.data(); }

aton_task* aton_task_new(char const* command) {
    try {
        return new aton_task(std::string(text_of(command)));
    } catch (std::exception const&) {
        return nullptr;
    }
}

void aton_task_free(aton_task* task) { delete task; }

aton_code aton_task_set(aton_task* task, char const* name, char const* value) {
    return called(task, [&](aton_task& t) { return t.add_option(text_of(name), value); });
}

aton_code aton_task_add_file(aton_task* task, char const* path) {
    return called(task, [&](aton_task& t) { return t.add_file(text_of(path)); });
}

aton_code aton_task_add_memory(aton_task* task, char const* name, void const* bytes, size_t size) {
    std::string_view const all =
        bytes != nullptr ? std::string_view(static_cast<char const*>(bytes), size) : std::string_view();
    return called(task, [&](aton_task& t) { return t.add_memory(text_of(name), all); });
}

aton_code aton_task_add_argument(aton_task* task, char const* argument) {
    return called(task, [&](aton_task& t) { return t.add_argument(text_of(argument)); });
}

aton_code aton_task_keep_output(aton_task* task, char const* name) {
    return called(task, [&](aton_task& t) { return t.keep_output(text_of(name)); });
}

aton_code aton_task_on_progress(aton_task* task, aton_progress_function* function, void* user) {
    return called(task, [&](aton_task& t) { return t.observe(function, user); });
}

aton_code aton_task_run(aton_task* task) {
    return called(task, [](aton_task& t) { return t.run(); });
}

void aton_task_cancel(aton_task* task) {
    if (task != nullptr) task->cancel();
}

int32_t aton_task_exit_status(aton_task* task) { return task != nullptr ? task->exit_status() : 2; }

char const* aton_task_output(aton_task* task, size_t* size) {
    return shown(task != nullptr ? task->output() : nullptr, size);
}
char const* aton_task_messages(aton_task* task, size_t* size) {
    return shown(task != nullptr ? task->messages() : nullptr, size);
}

aton_error const* aton_task_error(aton_task* task) { return task != nullptr ? task->failure() : nullptr; }
aton_error const* aton_task_refused(aton_task* task, size_t index) {
    return task != nullptr ? task->refused(index) : nullptr;
}

void const* aton_task_result(aton_task* task, size_t index, char const** name, size_t* size) {
    text_result const* const found = task != nullptr ? task->result(index) : nullptr;
    if (name != nullptr) *name = found != nullptr ? found->first.c_str() : nullptr;
    return shown(found != nullptr ? &found->second : nullptr, size);
}

aton_code aton_export_file(char const* from, char const* to, aton_option const* options, size_t count,
                           aton_task** task) {
    if (task != nullptr) *task = nullptr;
    std::unique_ptr<aton_task> made(aton_task_new("export"));
    aton_code code = aton_task_add_file(made.get(), from);
    if (code == ATON_OK) code = aton_task_set(made.get(), "output", to != nullptr ? to : "");
    return run_export(std::move(made), code, options, count, task);
}

aton_code aton_export_memory(char const* name, void const* bytes, size_t size, aton_option const* options, size_t count,
                             aton_task** task) {
    if (task != nullptr) *task = nullptr;
    std::unique_ptr<aton_task> made(aton_task_new("export"));
    aton_code code = aton_task_add_memory(made.get(), name, bytes, size);
    if (code == ATON_OK) code = aton_task_keep_output(made.get(), "model.onnx");
    return run_export(std::move(made), code, options, count, task);
}

int aton_main(int argc, char** argv) { return aton::tool::guarded(aton::tool::run_command, argc, argv); }

} // extern "C"
