/* Preloaded before sink by .ci/kill: FAULT=CALL:K makes the K-th such call on a file that is being
 * written fail, CALL being open, write, flush, sync, close or rename. A write that fails puts half
 * of its bytes into the file first; then the disk is full, as /dev/full is. Build: cc -shared -fPIC .ci/faults.c -o out/faults.so -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPEN_MOST = 64 };
static FILE *being_written[OPEN_MOST];

static int *place(FILE *f, int *none) {
    for (int i = 0; i < OPEN_MOST; i++)
        if (f && being_written[i] == f) return (*none = i, none);
    return NULL;
}

/* Is this the call that FAULT names? If so the file STRUCK is made. */
static int strikes(const char *call) {
    static int seen;
    const char *fault = getenv("FAULT"), *struck = getenv("STRUCK");
    size_t n = strlen(call);
    if (!fault || strncmp(fault, call, n) || fault[n] != ':' || ++seen != atoi(fault + n + 1)) return 0;
    int made = struck ? open(struck, O_WRONLY | O_CREAT, 0666) : -1;
    if (made >= 0) close(made);
    return 1;
}

static FILE *open_or_fail(const char *name, const char *path, const char *mode) {
    FILE *(*real)(const char *, const char *) =
        (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, name);
    if (mode[0] == 'w' && strikes("open")) return (errno = EACCES, NULL);
    FILE *f = real(path, mode);
    for (int i = 0; f && mode[0] == 'w' && i < OPEN_MOST; i++)
        if (!being_written[i]) { being_written[i] = f; break; }
    return f;
}

/* What fopen is called where files may pass 2 GB. */
FILE *fopen64(const char *path, const char *mode) { return open_or_fail("fopen64", path, mode); }
FILE *fopen(const char *path, const char *mode) { return open_or_fail("fopen", path, mode); }

size_t fwrite(const void *at, size_t size, size_t n, FILE *f) {
    size_t (*real)(const void *, size_t, size_t, FILE *) =
        (size_t(*)(const void *, size_t, size_t, FILE *))dlsym(RTLD_NEXT, "fwrite");
    int i;
    if (!place(f, &i) || !strikes("write")) return real(at, size, n, f);
    size_t half = real(at, size, n / 2, f);
    fflush(f);
    int full = open("/dev/full", O_WRONLY);
    if (full < 0 || dup2(full, fileno(f)) < 0) abort();
    close(full);
    return half + real((const char *)at + half * size, size, n - half, f);
}

int fflush(FILE *f) {
    int (*real)(FILE *) = (int (*)(FILE *))dlsym(RTLD_NEXT, "fflush"), i;
    return place(f, &i) && strikes("flush") ? (errno = ENOSPC, EOF) : real(f);
}

int fsync(int file) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    return strikes("sync") ? (errno = EIO, -1) : real(file);
}

int fclose(FILE *f) {
    int (*real)(FILE *) = (int (*)(FILE *))dlsym(RTLD_NEXT, "fclose"), i;
    int *at = place(f, &i);
    if (at) being_written[i] = NULL;
    int done = real(f);
    return at && strikes("close") ? (errno = EDQUOT, EOF) : done;
}

int rename(const char *from, const char *to) {
    int (*real)(const char *, const char *) =
        (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    return strikes("rename") ? (errno = EACCES, -1) : real(from, to);
}
