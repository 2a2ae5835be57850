/* SPDX-License-Identifier: MIT */
/* Aton as a C library (C99 and later): what the command `aton` does, in the process of the caller.
 *
 *     aton_task *task = NULL;
 *     aton_option const options[] = {{"opset", "18"}, {"weights", "external"}};
 *     if (aton_export_file("model.pt2", "model.onnx", options, 2, &task) != ATON_OK)
 *         fprintf(stderr, "%s\n", aton_task_error(task)->message);
 *     aton_task_free(task);
 *
 * A task is one run of a command: its options, its callback, and its results. The names of commands and options, and their values, are those
 * of `aton --help`; a task can have all of them.
 *
 * Text is UTF-8 and ends with a zero byte, paths as well. What a function takes is copied. What a function returns belongs to the task, until the
 * task runs again or is freed. Nothing is thrown, and no function ends the process, but aton_main().
 *
 * Tasks may run at the same time in any number of threads. On one task, functions wait for each other while it does not run; while it runs,
 * aton_task_cancel() stops it, and all others return ATON_BUSY, NULL or 0. A task must not be freed while it runs.
 *
 * The work of a task is done by threads of the library with stacks of their own, so that the caller's may be small. The library changes no signal
 * handler, no locale and no environment variable of the process. Plugins run in the process: what crashes in a plugin ends it. */
#ifndef ATON_C_ATON_H
#define ATON_C_ATON_H

#include <stddef.h>
#include <stdint.h>

/* Changes when a function or a member of a struct changes or is removed. New functions, codes and members at the end of a struct do not change
 * it: compare a struct's `size` with offsetof before reading a member that is younger than your header. */
#define ATON_ABI_VERSION 1

#if defined(_WIN32) && defined(ATON_C_BUILDS_LIBRARY)
#define ATON_C_API __declspec(dllexport)
#elif defined(_WIN32)
#define ATON_C_API __declspec(dllimport)
#else
#define ATON_C_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What became of a call. */
typedef int32_t aton_code;
enum {
    ATON_OK = 0,
    ATON_FAILED = 1,        /* a file cannot be read or written, is malformed, or is refused */
    ATON_USAGE = 2,         /* a command, an option or an argument is wrong, or options do not go together */
    ATON_UNCONVERTIBLE = 3, /* operators cannot be converted: aton_task_refused() has them */
    ATON_DIFFERENT = 4,     /* the command ran, and what it compared differs: the output says where */
    ATON_CANCELLED = 5,     /* nothing was written, and nothing half-written remains */
    ATON_OUT_OF_MEMORY = 6,
    ATON_BUSY = 7           /* the task runs */
};

/* Why a task failed, or an operator that cannot be converted. A text that is not known is "", never NULL. */
typedef struct aton_error {
    uint32_t size;       /* of this struct in the library */
    aton_code code;
    char const *message; /* one line, without the name of the program */
    char const *op;      /* the overload: "aten::foo.Tensor" */
    char const *node;    /* its first node in the program: "foo_1" */
    char const *place;   /* of that node in the Python source: "model.py:12 in forward" */
    char const *nearest; /* the overload with the most similar name that can be converted */
    uint64_t count;      /* of the operator's calls */
} aton_error;

/* An option: its name in `--help` without dashes, such as "opset" or "o", and its value; NULL for an option that takes none. */
typedef struct aton_option {
    char const *name;
    char const *value;
} aton_option;

/* What is counted. */
enum {
    ATON_UNIT_NONE = 0, /* how much is left is not known */
    ATON_UNIT_THINGS = 1,
    ATON_UNIT_BYTES = 2
};

/* How far a task is. */
typedef struct aton_progress {
    uint32_t size;     /* of this struct in the library */
    int32_t unit;
    char const *stage; /* what is being done: "model.pt2: reading" */
    char const *what;  /* what is counted: "nodes"; "" for bytes */
    uint64_t done;
    uint64_t total;
} aton_progress;

/* Is called in the thread that runs the task: when a stage begins, for which the work waits, and about ten times a second while it lasts. `progress`
 * is only valid during the call. Any result but 0 cancels the task. It may call aton_task_cancel(), and functions of other tasks. */
typedef int32_t aton_progress_function(void *user, aton_progress const *progress);

typedef struct aton_task aton_task;

/* The ATON_ABI_VERSION of the library. */
ATON_C_API uint32_t aton_abi_version(void);
/* The version of Aton, such as "0.2.0". */
ATON_C_API char const *aton_version(void);

/* A task for a command: "export", "print", "ops", "unconvertible", "stub", "view", "check", "record-check" or "verify"; "" for none, as in
 * `aton --help`. NULL if there is no memory. */
ATON_C_API aton_task *aton_task_new(char const *command);
/* Frees a task and everything that belongs to it. NULL is allowed. */
ATON_C_API void aton_task_free(aton_task *task);

/* Adds an option by its name in `--help`, without dashes; `value` is NULL for an option that takes none. An option that may be repeated is set
 * several times. Whether the command has it, is found when the task runs. */
ATON_C_API aton_code aton_task_set(aton_task *task, char const *name, char const *value);
/* Adds a file or folder, in the order of `--help`. A name that starts with a dash is no option. */
ATON_C_API aton_code aton_task_add_file(aton_task *task, char const *path);
/* Adds a file with these bytes, which are copied. `name` is what messages call it, and must be the name of a file, without a folder. */
ATON_C_API aton_code aton_task_add_memory(aton_task *task, char const *name, void const *bytes, size_t size);
/* Adds an argument as the command line has it: "--opset=18", "-q", "model.pt2". */
ATON_C_API aton_code aton_task_add_argument(aton_task *task, char const *argument);
/* The option -o, but what the command would write to this file is kept in memory: aton_task_result(). `name` must be the name of a file, without a
 * folder; the model refers to external weights by it. */
ATON_C_API aton_code aton_task_keep_output(aton_task *task, char const *name);
/* Calls `function` with `user` while the task runs. NULL: nothing is called. */
ATON_C_API aton_code aton_task_on_progress(aton_task *task, aton_progress_function *function, void *user);

/* Runs the command, and returns when it has ended. A task may run several times. */
ATON_C_API aton_code aton_task_run(aton_task *task);
/* Makes the task stop soon, from any thread or callback. If it does not run yet, the next run is cancelled. A run that is about to end may still
 * succeed, and returns ATON_OK then. */
ATON_C_API void aton_task_cancel(aton_task *task);

/* The exit status that the command would have: 0, 1 or 2. */
ATON_C_API int32_t aton_task_exit_status(aton_task *task);
/* What the command prints as its result: text, or JSON with the option "json". Never NULL but while the task runs; `size` may be NULL. */
ATON_C_API char const *aton_task_output(aton_task *task, size_t *size);
/* What the command prints on stderr: warnings and errors, a line each. */
ATON_C_API char const *aton_task_messages(aton_task *task, size_t *size);
/* Why the last call of a function that returns a code failed; NULL if it succeeded. With ATON_UNCONVERTIBLE, `op` and what follows it are those of
 * the first operator. */
ATON_C_API aton_error const *aton_task_error(aton_task *task);
/* The operators that cannot be converted, in the order of the program; NULL if there are not so many. */
ATON_C_API aton_error const *aton_task_refused(aton_task *task, size_t index);
/* The files that aton_task_keep_output() keeps: the first is what `name` says, the second its external weights. NULL if there are not so many;
 * `name` and `size` may be NULL. */
ATON_C_API void const *aton_task_result(aton_task *task, size_t index, char const **name, size_t *size);

/* Exports a file to a file. *task is the task that ran, with its error and its results, for aton_task_free(); NULL if there is no memory. `task` may
 * be NULL, and `options` if `count` is 0. */
ATON_C_API aton_code aton_export_file(char const *from, char const *to, aton_option const *options, size_t count, aton_task **task);
/* The same from memory to memory: aton_task_result(*task, 0, ...) is the model. `name` is what messages call the bytes: "model.pt2". */
ATON_C_API aton_code aton_export_memory(char const *name, void const *bytes, size_t size, aton_option const *options, size_t count,
                                        aton_task **task);

/* The command, for a program that is nothing else: handles the signals of the process, prints to its streams, and returns its exit status. */
ATON_C_API int aton_main(int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
