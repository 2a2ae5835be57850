/* SPDX-License-Identifier: MIT */
/* The native methods of aton.Task. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jni.h>

#include <aton/c/aton.h>

#define METHOD(type, name) JNIEXPORT type JNICALL Java_aton_Task_##name

static aton_task* task_of(jlong task) { return (aton_task*)(intptr_t)task; }

static jbyteArray array_of(JNIEnv* env, void const* bytes, size_t size) {
    jbyteArray out;
    if (bytes == NULL || size > INT32_MAX) return NULL;
    out = (*env)->NewByteArray(env, (jsize)size);
    if (out != NULL) (*env)->SetByteArrayRegion(env, out, 0, (jsize)size, bytes);
    return out;
}

/* Texts of a call. They are released in the opposite order. */
struct texts {
    JNIEnv* env;
    jbyteArray arrays[2];
    jbyte* bytes[2];
};
static char const* text(struct texts* all, int at, jbyteArray from) {
    all->arrays[at] = from;
    all->bytes[at] = from != NULL ? (*all->env)->GetByteArrayElements(all->env, from, NULL) : NULL;
    return (char const*)all->bytes[at];
}
static jint released(struct texts* all, aton_code code) {
    for (int at = 1; at >= 0; --at)
        if (all->bytes[at] != NULL)
            (*all->env)->ReleaseByteArrayElements(all->env, all->arrays[at], all->bytes[at], JNI_ABORT);
    return code;
}

METHOD(jlong, create)(JNIEnv* env, jclass c, jbyteArray command) {
    struct texts all = {env, {NULL}, {NULL}};
    aton_task* const task = aton_abi_version() == ATON_ABI_VERSION ? aton_task_new(text(&all, 0, command)) : NULL;
    (void)c;
    released(&all, ATON_OK);
    return (jlong)(intptr_t)task;
}

METHOD(void, free)(JNIEnv* env, jclass c, jlong task) {
    (void)env, (void)c;
    aton_task_free(task_of(task));
}

METHOD(jint, set)(JNIEnv* env, jclass c, jlong task, jbyteArray name, jbyteArray value) {
    struct texts all = {env, {NULL}, {NULL}};
    char const* const name_text = text(&all, 0, name);
    (void)c;
    return released(&all, aton_task_set(task_of(task), name_text, text(&all, 1, value)));
}

METHOD(jint, addFile)(JNIEnv* env, jclass c, jlong task, jbyteArray path) {
    struct texts all = {env, {NULL}, {NULL}};
    (void)c;
    return released(&all, aton_task_add_file(task_of(task), text(&all, 0, path)));
}

METHOD(jint, addMemory)(JNIEnv* env, jclass c, jlong task, jbyteArray name, jbyteArray bytes) {
    struct texts all = {env, {NULL}, {NULL}};
    char const* const name_text = text(&all, 0, name);
    (void)c;
    return released(&all,
                    aton_task_add_memory(
                        task_of(task), name_text, text(&all, 1, bytes), (size_t)(*env)->GetArrayLength(env, bytes)));
}

METHOD(jint, keepOutput)(JNIEnv* env, jclass c, jlong task, jbyteArray name) {
    struct texts all = {env, {NULL}, {NULL}};
    (void)c;
    return released(&all, aton_task_keep_output(task_of(task), text(&all, 0, name)));
}

struct observed {
    JNIEnv* env;
    jobject task;
    jmethodID observe;
};

static int32_t observe(void* user, aton_progress const* now) {
    struct observed const* const o = user;
    JNIEnv* const env = o->env;
    jboolean goes_on = JNI_FALSE;
    if ((*env)->ExceptionCheck(env)) return 1; /* of the call before */
    if ((*env)->PushLocalFrame(env, 4) != 0) return 1;
    {
        jbyteArray const stage = array_of(env, now->stage, strlen(now->stage));
        jbyteArray const what = array_of(env, now->what, strlen(now->what));
        if (stage != NULL && what != NULL)
            goes_on =
                (*env)->CallBooleanMethod(env, o->task, o->observe, stage, what, (jlong)now->done, (jlong)now->total);
    }
    (*env)->PopLocalFrame(env, NULL);
    return (*env)->ExceptionCheck(env) || !goes_on;
}

METHOD(jint, run)(JNIEnv* env, jclass c, jlong task, jobject observed) {
    struct observed o = {env, observed, NULL};
    if (observed != NULL) {
        o.observe = (*env)->GetMethodID(env, c, "observe", "([B[BJJ)Z");
        if (o.observe == NULL) return ATON_FAILED;
    }
    aton_task_on_progress(task_of(task), observed != NULL ? observe : NULL, &o);
    return aton_task_run(task_of(task));
}

METHOD(void, cancel)(JNIEnv* env, jclass c, jlong task) {
    (void)env, (void)c;
    aton_task_cancel(task_of(task));
}

METHOD(jbyteArray, bytes)(JNIEnv* env, jclass c, jlong task, jint index) {
    size_t size = 0;
    void const* const found = index == -1   ? aton_task_output(task_of(task), &size)
                              : index == -2 ? aton_task_messages(task_of(task), &size)
                              : index < 0   ? NULL
                                            : aton_task_result(task_of(task), (size_t)index, NULL, &size);
    (void)c;
    return array_of(env, found, size);
}

/* The failure of the task (-1), or an operator that cannot be converted: its texts in the order of aton_error. */
METHOD(jobjectArray, error)(JNIEnv* env, jclass c, jlong task, jint index) {
    aton_error const* const found =
        index < 0 ? aton_task_error(task_of(task)) : aton_task_refused(task_of(task), (size_t)index);
    char count[24];
    jobjectArray out;
    (void)c;
    if (found == NULL) return NULL;
    snprintf(count, sizeof count, "%llu", (unsigned long long)found->count);
    out = (*env)->NewObjectArray(env, 6, (*env)->FindClass(env, "[B"), NULL);
    if (out != NULL) {
        char const* const texts[] = {found->message, found->op, found->node, found->place, found->nearest, count};
        for (jsize i = 0; i != 6; ++i) {
            jbyteArray const each = array_of(env, texts[i], strlen(texts[i]));
            (*env)->SetObjectArrayElement(env, out, i, each);
            (*env)->DeleteLocalRef(env, each);
        }
    }
    return out;
}
