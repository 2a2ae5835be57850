/* SPDX-License-Identifier: MIT */
/* The C interface as a C99 program uses it.
 *
 * usage: c_api_test DATA FOLDER [verify]
 *
 * DATA is tests/data, FOLDER an empty folder to write to; with `verify` the library has the runtime. */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aton/c/aton.h>

static char const *data_folder;
static char const *work_folder;
static int failures;

#define CHECK(condition) ((condition) ? (void)0 : complain(__LINE__, #condition))

static void complain(int line, char const *what) {
    fprintf(stderr, "c_api_test.c:%d: %s\n", line, what);
    ++failures;
}

/* Paths, in one of a few buffers. */
static char const *path_in(char const *folder, char const *name) {
    static char buffers[4][1024];
    static int next;
    char *const to = buffers[next++ % 4];
    snprintf(to, sizeof buffers[0], "%s/%s", folder, name);
    return to;
}
static char const *sample(char const *name) { return path_in(data_folder, name); }
static char const *output(char const *name) { return path_in(work_folder, name); }

/* The bytes of a file, for free(); NULL if there is none. */
static char *read_file(char const *path, size_t *size) {
    FILE *const file = fopen(path, "rb");
    char *bytes;
    *size = 0;
    if (file == NULL) return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(*size + 1);
    if (fread(bytes, 1, *size, file) != *size) *size = 0;
    fclose(file);
    return bytes;
}

static int exists(char const *path) {
    FILE *const file = fopen(path, "rb");
    if (file != NULL) fclose(file);
    return file != NULL;
}

static int has(char const *text, char const *part) { return text != NULL && strstr(text, part) != NULL; }

static char const *const models[] = {"pt2/conv_bn_channels_last.pt2", "pt2/lstm.pt2"};

static void test_memory_gives_the_bytes_of_files(void) {
    for (size_t i = 0; i != sizeof models / sizeof models[0]; ++i) {
        aton_option const options[] = {{"opset", "18"}, {"no-optimize", NULL}};
        size_t input_size, file_size, size;
        char *const input = read_file(sample(models[i]), &input_size);
        char const *name;
        void const *made;
        char *file;
        aton_task *task = NULL;
        CHECK(aton_export_file(sample(models[i]), output("a.onnx"), options, 2, NULL) == ATON_OK);
        file = read_file(output("a.onnx"), &file_size);
        CHECK(aton_export_memory("model.pt2", input, input_size, options, 2, &task) == ATON_OK);
        made = aton_task_result(task, 0, &name, &size);
        CHECK(made != NULL && file_size > 100 && size == file_size && memcmp(made, file, size) == 0);
        CHECK(strcmp(name, "model.onnx") == 0);
        CHECK(aton_task_result(task, 1, &name, &size) == NULL && name == NULL && size == 0);
        CHECK(aton_task_error(task) == NULL && aton_task_exit_status(task) == 0);
        CHECK(has(aton_task_output(task, NULL), "model.onnx: ") && !has(aton_task_output(task, NULL), "/"));
        aton_task_free(task);
        free(file);
        free(input);
        remove(output("a.onnx"));
    }
}

static void test_small_external_weights_stay_in_the_model(void) {
    aton_option const options[] = {{"weights", "external"}};
    size_t size, input_size;
    char *const input = read_file(sample(models[1]), &input_size);
    char const *name = NULL;
    aton_task *task = NULL;
    CHECK(aton_export_memory("model.pt2", input, input_size, options, 1, &task) == ATON_OK);
    CHECK(aton_task_result(task, 0, &name, &size) != NULL && size > 100 && strcmp(name, "model.onnx") == 0);
    CHECK(aton_task_result(task, 1, &name, &size) == NULL && size == 0); /* weights as small as these stay in the model */
    aton_task_free(task);
    free(input);
}

static void test_an_operator_that_cannot_be_converted(void) {
    aton_task *task = NULL;
    aton_error const *error;
    CHECK(aton_export_file(sample("plugin/custom_op.pt2"), output("b.onnx"), NULL, 0, &task) == ATON_UNCONVERTIBLE);
    error = aton_task_error(task);
    CHECK(error != NULL && error->size == sizeof *error && error->code == ATON_UNCONVERTIBLE && error->count == 1);
    CHECK(has(error->message, "custom_op.pt2: 1 operator cannot be converted at opset 20: custom_ops::foo_forward"));
    CHECK(strcmp(error->op, "custom_ops::foo_forward") == 0);
    CHECK(strcmp(error->node, "foo_forward") == 0);
    CHECK(strcmp(error->place, "make_tiny.py:44 in forward") == 0);
    CHECK(strcmp(error->nearest, "") == 0);
    error = aton_task_refused(task, 0);
    CHECK(error != NULL && strcmp(error->message, "no mapping") == 0 && strcmp(error->op, "custom_ops::foo_forward") == 0);
    CHECK(aton_task_refused(task, 1) == NULL && aton_task_refused(task, SIZE_MAX) == NULL);
    CHECK(aton_task_exit_status(task) == 1 && !exists(output("b.onnx")));
    /* the same task again, with another option: no trace of the first run is left */
    CHECK(aton_task_set(task, "operators", "keep") == ATON_OK);
    CHECK(aton_task_run(task) == ATON_OK && aton_task_error(task) == NULL && aton_task_refused(task, 0) == NULL);
    CHECK(exists(output("b.onnx")));
    remove(output("b.onnx"));
    aton_task_free(task);
}

/* Runs a command with one option, and expects this code and this part of the message. */
static void expect(char const *command, char const *file, char const *name, char const *value, aton_code code, char const *part) {
    aton_task *const task = aton_task_new(command);
    aton_code got = ATON_OK;
    if (file != NULL) got = aton_task_add_file(task, file);
    if (got == ATON_OK && name != NULL) got = aton_task_set(task, name, value);
    if (got == ATON_OK) got = aton_task_run(task);
    if (got != code || aton_task_error(task) == NULL || !has(aton_task_error(task)->message, part)) {
        fprintf(stderr, "%s %s: %d, %s\n", command, name != NULL ? name : "", (int)got,
                aton_task_error(task) != NULL ? aton_task_error(task)->message : "no error");
        complain(__LINE__, part);
    }
    aton_task_free(task);
}

static void test_what_is_refused(void) {
    aton_task *task = NULL;
    expect("export", "missing.pt2", NULL, NULL, ATON_FAILED, "missing.pt2: no such file");
    expect("export", sample(models[0]), "opset", "3", ATON_USAGE, "--opset");
    expect("export", sample(models[0]), "opset", "", ATON_USAGE, "--opset");
    expect("export", sample(models[0]), "opset", NULL, ATON_USAGE, "--opset");
    expect("export", sample(models[0]), "weights", "none", ATON_USAGE, "embed, external, reference");
    expect("export", sample(models[0]), "no-such-option", NULL, ATON_USAGE, "--no-such-option");
    expect("export", sample(models[0]), "--opset", "18", ATON_USAGE, "without dashes");
    expect("export", sample(models[0]), "opset=18", NULL, ATON_USAGE, "not the name of an option");
    expect("export", sample(models[0]), "", NULL, ATON_USAGE, "not the name of an option");
    expect("export", "", NULL, NULL, ATON_USAGE, "path");
    expect("export", NULL, NULL, NULL, ATON_USAGE, "MODEL.pt2");
    expect("export", "--help", NULL, NULL, ATON_FAILED, "--help: no such file");
    expect("export", sample(models[0]), "plugin", "missing.so", ATON_FAILED, "missing.so");
    expect("nonsense", NULL, NULL, NULL, ATON_USAGE, "subcommand");
    expect("", NULL, NULL, NULL, ATON_USAGE, "subcommand");
    expect("check", sample(models[0]), NULL, NULL, ATON_FAILED, "conv_bn_channels_last.pt2");
    CHECK(aton_export_memory("model.pt2", "no archive", 10, NULL, 0, &task) == ATON_FAILED);
    CHECK(strncmp(aton_task_error(task)->message, "model.pt2: ", 11) == 0);
    aton_task_free(task);
    CHECK(aton_export_memory("model.pt2", NULL, 0, NULL, 0, &task) == ATON_FAILED);
    CHECK(has(aton_task_error(task)->message, "is empty"));
    aton_task_free(task);
    CHECK(aton_export_memory("../model.pt2", "x", 1, NULL, 0, &task) == ATON_USAGE);
    aton_task_free(task);
    CHECK(aton_export_memory("model.onnx", "x", 1, NULL, 0, &task) == ATON_USAGE); /* the name of the output */
    aton_task_free(task);
    CHECK(aton_export_file(NULL, NULL, NULL, 0, NULL) == ATON_USAGE);
    CHECK(aton_task_run(NULL) == ATON_USAGE && aton_task_error(NULL) == NULL && aton_task_output(NULL, NULL) == NULL);
    aton_task_cancel(NULL);
    aton_task_free(NULL);
}

/* The output of a command that succeeds has this part. */
static void shows(char const *command, char const *file, char const *name, char const *value, char const *part) {
    aton_task *const task = aton_task_new(command);
    size_t size = 0;
    if (file != NULL) CHECK(aton_task_add_file(task, file) == ATON_OK);
    if (name != NULL) CHECK(aton_task_set(task, name, value) == ATON_OK);
    CHECK(aton_task_run(task) == ATON_OK);
    CHECK(has(aton_task_output(task, &size), part));
    CHECK(size == strlen(aton_task_output(task, NULL)));
    aton_task_free(task);
}

static void test_all_commands(int has_runtime) {
    aton_task *task;
    char const *name = NULL;
    size_t size = 0;
    CHECK(aton_export_file(sample(models[0]), output("c.onnx"), NULL, 0, NULL) == ATON_OK);
    shows("", NULL, "version", NULL, aton_version());
    shows("", NULL, "help", NULL, "unconvertible");
    shows("export", NULL, "help", NULL, "--weights-from");
    shows("print", sample(models[0]), NULL, NULL, "aten::conv2d");
    shows("print", output("c.onnx"), "json", NULL, "\"kind\": \"graph\"");
    shows("check", output("c.onnx"), NULL, NULL, "ok");
    shows("ops", NULL, "opset", "17", "aten::relu");
    shows("unconvertible", sample("plugin/custom_op.pt2"), "format", "json", "\"custom_ops::foo_forward\"");
    shows("stub", sample("plugin/custom_op.pt2"), NULL, NULL, "symbolic<");
    task = aton_task_new("view");
    CHECK(aton_task_add_file(task, sample(models[0])) == ATON_OK && aton_task_keep_output(task, "page.html") == ATON_OK);
    CHECK(aton_task_run(task) == ATON_OK);
    CHECK(has(aton_task_result(task, 0, &name, &size), "<html") && strcmp(name, "page.html") == 0 && size > 10000);
    aton_task_free(task);
    task = aton_task_new("verify");
    CHECK(aton_task_add_file(task, sample(models[0])) == ATON_OK && aton_task_add_file(task, output("c.onnx")) == ATON_OK);
    CHECK(aton_task_add_argument(task, "--samples=1") == ATON_OK);
    if (has_runtime) {
        CHECK(aton_task_run(task) == ATON_OK);
        expect("verify", NULL, "torch", NULL, ATON_FAILED, "--torch");
    } else {
        CHECK(aton_task_run(task) == ATON_FAILED && has(aton_task_error(task)->message, "ATON_BUILD_RUNTIME"));
    }
    aton_task_free(task);
    remove(output("c.onnx"));
}

struct watch {
    aton_task *task;
    pthread_t caller;
    char stages[512];
    char const *cancel_at; /* a stage; NULL: none */
    aton_code while_running;
};

static int32_t watch(void *user, aton_progress const *now) {
    struct watch *const w = user;
    CHECK(now->size == sizeof *now && pthread_equal(w->caller, pthread_self()));
    w->while_running = aton_task_run(w->task);
    CHECK(aton_task_output(w->task, NULL) == NULL && aton_task_error(w->task) == NULL);
    if (!has(w->stages, now->stage)) strncat(w->stages, now->stage, sizeof w->stages - strlen(w->stages) - 1);
    return w->cancel_at != NULL && has(now->stage, w->cancel_at);
}

static void test_progress_and_cancellation(void) {
    static char const *const stages[] = {NULL, "reading", "converting", "optimizing", "writing"};
    for (size_t i = 0; i != sizeof stages / sizeof stages[0]; ++i) {
        struct watch w = {NULL, pthread_self(), "", stages[i], ATON_OK};
        w.task = aton_task_new("export");
        CHECK(aton_task_add_file(w.task, sample(models[0])) == ATON_OK);
        CHECK(aton_task_set(w.task, "output", output("e.onnx")) == ATON_OK);
        CHECK(aton_task_on_progress(w.task, watch, &w) == ATON_OK);
        CHECK(aton_task_run(w.task) == (stages[i] == NULL ? ATON_OK : ATON_CANCELLED));
        CHECK(w.while_running == ATON_BUSY && has(w.stages, stages[i] == NULL ? "writing" : stages[i]));
        CHECK(exists(output("e.onnx")) == (stages[i] == NULL));
        if (stages[i] == NULL) CHECK(has(w.stages, ".pt2: reading") && has(w.stages, ".pt2: converting"));
        else CHECK(has(aton_task_error(w.task)->message, "cancelled"));
        remove(output("e.onnx"));
        aton_task_on_progress(w.task, NULL, NULL); /* the task is as good as new */
        CHECK(aton_task_run(w.task) == ATON_OK && exists(output("e.onnx")));
        remove(output("e.onnx"));
        aton_task_cancel(w.task); /* before it runs */
        CHECK(aton_task_run(w.task) == ATON_CANCELLED && !exists(output("e.onnx")));
        CHECK(aton_task_run(w.task) == ATON_OK);
        remove(output("e.onnx"));
        aton_task_free(w.task);
    }
}

struct job {
    char *input[2], *expected[2];
    size_t input_size[2], expected_size[2];
};

static void *export_often(void *user) {
    struct job const *const j = user;
    for (int round = 0; round != 5; ++round) {
        for (size_t i = 0; i != 2; ++i) {
            size_t size;
            aton_task *task = NULL;
            void const *made;
            CHECK(aton_export_memory("model.pt2", j->input[i], j->input_size[i], NULL, 0, &task) == ATON_OK);
            made = aton_task_result(task, 0, NULL, &size);
            CHECK(made != NULL && size == j->expected_size[i] && memcmp(made, j->expected[i], size) == 0);
            aton_task_free(task);
        }
        expect("export", "missing.pt2", NULL, NULL, ATON_FAILED, "missing.pt2: no such file");
    }
    return NULL;
}

static void test_eight_threads_with_small_stacks(void) {
    pthread_t threads[8];
    struct job j = {{NULL}, {NULL}, {0}, {0}};
    pthread_attr_t small;
    pthread_attr_init(&small);
    CHECK(pthread_attr_setstacksize(&small, 1 << 17) == 0);
    for (size_t i = 0; i != 2; ++i) {
        CHECK(aton_export_file(sample(models[i]), output("f.onnx"), NULL, 0, NULL) == ATON_OK);
        j.input[i] = read_file(sample(models[i]), &j.input_size[i]);
        j.expected[i] = read_file(output("f.onnx"), &j.expected_size[i]);
    }
    for (size_t i = 0; i != 8; ++i) CHECK(pthread_create(&threads[i], &small, export_often, &j) == 0);
    for (size_t i = 0; i != 8; ++i) pthread_join(threads[i], NULL);
    for (size_t i = 0; i != 2; ++i) {
        free(j.input[i]);
        free(j.expected[i]);
    }
    remove(output("f.onnx"));
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    data_folder = argv[1];
    work_folder = argv[2];
    CHECK(aton_abi_version() == ATON_ABI_VERSION);
    test_memory_gives_the_bytes_of_files();
    test_small_external_weights_stay_in_the_model();
    test_an_operator_that_cannot_be_converted();
    test_what_is_refused();
    test_all_commands(argc > 3);
    test_progress_and_cancellation();
    test_eight_threads_with_small_stacks();
    if (failures == 0) puts("all passed");
    return failures == 0 ? 0 : 1;
}
