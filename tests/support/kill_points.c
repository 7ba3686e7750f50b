/* Preloaded into a test process: counts the calls that change files, and kills the process at the n-th one.
 *
 *   kill_at(n)   arm: SIGKILL right before the n-th call from now (0: only count)
 *   calls()      the number of calls since then
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

static volatile long count, limit;
static volatile int armed;

void kill_at(long n) { count = 0; limit = n; armed = 1; }
long calls(void) { return count; }

static void call(void) {
    if (armed && __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST) == limit) kill(getpid(), SIGKILL);
}

#define WRAP(type, name, parameters, arguments)                          \
    type name parameters {                                               \
        static type(*real) parameters;                                   \
        if (!real) real = (type(*) parameters)dlsym(RTLD_NEXT, #name);   \
        call();                                                          \
        return real arguments;                                           \
    }

WRAP(int, rename, (const char *from, const char *to), (from, to))
WRAP(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
WRAP(int, link, (const char *from, const char *to), (from, to))
WRAP(int, unlink, (const char *path), (path))
WRAP(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
WRAP(int, fsync, (int file), (file))
WRAP(int, fdatasync, (int file), (file))
WRAP(int, ftruncate, (int file, off_t size), (file, size))
WRAP(int, ftruncate64, (int file, off64_t size), (file, size))
WRAP(ssize_t, pwrite, (int file, const void *data, size_t size, off_t at), (file, data, size, at))
WRAP(ssize_t, pwrite64, (int file, const void *data, size_t size, off64_t at), (file, data, size, at))
WRAP(ssize_t, write, (int file, const void *data, size_t size), (file, data, size))
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode))
