/* SPDX-License-Identifier: MIT */
/* Prints what a program that was compiled with aton.h has fixed: sizes and offsets of structs, and numbers. tests/c/abi.txt has it. */
#include <stddef.h>
#include <stdio.h>

#include <aton/c/aton.h>

#define STRUCT(type) printf("struct %s %zu\n", #type, sizeof(type))
#define MEMBER(type, member) printf("member %s.%s %zu %zu\n", #type, #member, offsetof(type, member), sizeof(((type *)NULL)->member))
#define NUMBER(name) printf("number %s %d\n", #name, (int)(name))

int main(void) {
    STRUCT(aton_error);
    MEMBER(aton_error, size);
    MEMBER(aton_error, code);
    MEMBER(aton_error, message);
    MEMBER(aton_error, op);
    MEMBER(aton_error, node);
    MEMBER(aton_error, place);
    MEMBER(aton_error, nearest);
    MEMBER(aton_error, count);
    STRUCT(aton_option);
    MEMBER(aton_option, name);
    MEMBER(aton_option, value);
    STRUCT(aton_progress);
    MEMBER(aton_progress, size);
    MEMBER(aton_progress, unit);
    MEMBER(aton_progress, stage);
    MEMBER(aton_progress, what);
    MEMBER(aton_progress, done);
    MEMBER(aton_progress, total);
    NUMBER(ATON_ABI_VERSION);
    NUMBER(ATON_OK);
    NUMBER(ATON_FAILED);
    NUMBER(ATON_USAGE);
    NUMBER(ATON_UNCONVERTIBLE);
    NUMBER(ATON_DIFFERENT);
    NUMBER(ATON_CANCELLED);
    NUMBER(ATON_OUT_OF_MEMORY);
    NUMBER(ATON_BUSY);
    NUMBER(ATON_UNIT_NONE);
    NUMBER(ATON_UNIT_THINGS);
    NUMBER(ATON_UNIT_BYTES);
    return 0;
}
