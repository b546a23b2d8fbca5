/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_GPU_STATE_H
#define MUSTER_TESTS_GPU_STATE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A function of a library that is not the real one uses only some of its parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Declares and begins a function that the library exports; it returns an int. */
#define API(function, ...)                                                                         \
    __attribute__((visibility("default"))) int function(__VA_ARGS__);                              \
    int function(__VA_ARGS__)

/* The device model of the stand-ins (README.md). Each stand-in is one file that includes this. The
 * state is at most 20 ms old, because tests change faults while a program runs. */

static inline const char *state_path(void)
{
    const char *path = getenv("MUSTER_GPU_STATE");

    return path ? path : "/etc/muster-gpu-state";
}

/* The whole text of the state; "" if there is no file. */
static inline const char *state_read(void)
{
    static char text[16384];
    static double read_s = -1;
    struct timespec now;
    double now_s;
    FILE *file;

    clock_gettime(CLOCK_MONOTONIC, &now);
    now_s = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    if (read_s >= 0 && now_s - read_s < 0.02)
        return text;
    read_s = now_s;
    file = fopen(state_path(), "re");
    text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
    if (file)
        fclose(file);
    return text;
}

/* Copies the value of the key; of several lines with this key the last counts. Returns whether the
 * state has the key. */
static inline int state_find(const char *key, char *value, size_t size)
{
    size_t length = strlen(key);
    int is_found = 0;

    for (const char *line = state_read(), *end; *line; line = end + (*end == '\n')) {
        end = line + strcspn(line, "\n");
        if (strncmp(line, key, length) == 0 && line[length] == ' ') {
            snprintf(value, size, "%.*s", (int)(end - line - (long)length - 1), line + length + 1);
            is_found = 1;
        }
    }
    return is_found;
}

/* The value of a key, valid until the next call; standard if the state does not have the key.
 * device < 0: of the key itself; else of "gpuN.KEY", or without that of "gpu.KEY". */
static inline const char *state_text(int device, const char *key, const char *standard)
{
    static char value[256];
    char name[128];

    if (device < 0)
        return state_find(key, value, sizeof value) ? value : standard;
    snprintf(name, sizeof name, "gpu%d.%s", device, key);
    if (state_find(name, value, sizeof value))
        return value;
    snprintf(name, sizeof name, "gpu.%s", key);
    return state_find(name, value, sizeof value) ? value : standard;
}

static inline long long state_number(int device, const char *key, long long standard)
{
    const char *text = state_text(device, key, NULL);

    return text ? strtoll(text, NULL, 0) : standard;
}

static inline double state_factor(int device, const char *key, double standard)
{
    const char *text = state_text(device, key, NULL);

    return text ? strtod(text, NULL) : standard;
}

/* Whether the value of the key, a list of words, has the word. device: as for state_text(). */
static inline int state_lists(int device, const char *key, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = state_text(device, key, ""); *at; at += strspn(at, " ")) {
        if (strncmp(at, word, length) == 0 && (at[length] == '\0' || at[length] == ' '))
            return 1;
        at += strcspn(at, " ");
    }
    return 0;
}

/* Each function of a library calls this first. Hangs or aborts if the state lists the function
 * under "hang" or "crash". Returns the value of "return.FUNCTION", else 0. */
static inline int state_enter(int device, const char *function)
{
    char key[128];

    if (state_lists(-1, "hang", function) || (device >= 0 && state_lists(device, "hang", function)))
        for (;;)
            pause();
    if (state_lists(-1, "crash", function))
        abort();
    snprintf(key, sizeof key, "return.%s", function);
    return (int)state_number(device, key, 0);
}

#endif
