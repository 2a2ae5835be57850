/* SPDX-License-Identifier: MIT */
/* What GCC's libstdc++ takes from the C library and glibc 2.28 does not have. */

/* Whether the process has one thread; without an answer, reference counts are atomic. glibc has it since 2.32. */
char __libc_single_threaded = 0;
