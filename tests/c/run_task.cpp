// SPDX-License-Identifier: MIT
// The command through the C interface: its arguments as those of a task. The tests of the command run it in place of aton.
#include <cstdio>

#include <aton/c/aton.h>

int main(int argc, char** argv) {
    aton_task* const task = aton_task_new(argc > 1 ? argv[1] : "");
    for (int i = 2; i < argc; ++i)
        if (aton_task_add_argument(task, argv[i]) != ATON_OK) return 3;
    aton_code const code = aton_task_run(task);
    aton_error const* const error = aton_task_error(task);
    if ((code != ATON_OK) != (error != nullptr) || (error != nullptr && error->code != code)) return 3;
    std::size_t size = 0;
    char const* const output = aton_task_output(task, &size);
    std::fwrite(output, 1, size, stdout);
    std::fputs(aton_task_messages(task, nullptr), stderr);
    int const status = aton_task_exit_status(task);
    aton_task_free(task);
    return status;
}
