/* SPDX-License-Identifier: MIT */
/* What GCC's libstdc++ takes from the C library and glibc 2.28 does not have. */
#include <errno.h>
#include <pthread.h>
#include <time.h>

/* Whether the process has one thread; without an answer, reference counts are atomic. glibc has it since 2.32. */
char __libc_single_threaded = 0;

/* Waits until a time of any clock; glibc has it since 2.30. The caller asks its own clock afterwards, and waits again if it must. */
__attribute__((visibility("hidden"))) int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                                                const struct timespec* until) {
    struct timespec now, end;
    if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &end) != 0) return EINVAL;
    end.tv_sec += until->tv_sec - now.tv_sec;
    end.tv_nsec += until->tv_nsec - now.tv_nsec;
    if (end.tv_nsec < 0) {
        end.tv_nsec += 1000000000;
        --end.tv_sec;
    } else if (end.tv_nsec >= 1000000000) {
        end.tv_nsec -= 1000000000;
        ++end.tv_sec;
    }
    return pthread_cond_timedwait(condition, mutex, &end);
}
