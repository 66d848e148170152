/*
 * Preloaded by .ci/clock: the clock is AHEAD seconds ahead, and timeouts last as long as ever. Debian's
 * libfaketime doesn't do: signal handlers that run inside its waits see the real clock, so a
 * statement_timeout of PostgreSQL never ends a statement.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Seconds since the start of a machine are fewer, those since 1970 are more. */
#define SINCE_1970 1000000000L

static long ahead;
static int (*timed_wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

__attribute__((constructor)) static void start(void)
{
    const char *given = getenv("AHEAD");
    ahead = given ? atol(given) : 0;
    timed_wait = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int status = syscall(SYS_clock_gettime, clock, now);
    if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += ahead;
    return status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec exact;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &exact) == 0)
    {
        now->tv_sec = exact.tv_sec;
        now->tv_usec = exact.tv_nsec / 1000;
    }
    return 0;
}

time_t time(time_t *now)
{
    struct timespec exact = {0};
    clock_gettime(CLOCK_REALTIME, &exact);
    if (now != NULL)
        *now = exact.tv_sec;
    return exact.tv_sec;
}

/* Until a time of day, which the kernel knows by its own clock. */
int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until)
{
    struct timespec real = *until;
    if (real.tv_sec > SINCE_1970)
        real.tv_sec -= ahead;
    return timed_wait(condition, mutex, &real);
}
