/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

/* A stand-in for libmunge: a credential is "MUNGE:", uid and payload in hexadecimal, ":"; anybody
 * can forge it. FAKE_MUNGE in the environment selects a fault: "silent" (munged does not answer),
 * "rotated" (munged has another key), "hangs" (the call does not return), "freezes" (the same, and
 * the parent process is stopped: the plugin calls libmunge in a process of its own, whose parent
 * waits for it). */

/* the declarations of these two differ between releases */
#define munge_ctx_get munge_ctx_get_declared
#define munge_ctx_set munge_ctx_set_declared
#include <munge.h>
#undef munge_ctx_get
#undef munge_ctx_set
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define EXPORTED __attribute__((visibility("default")))

static munge_err_t fault_status(void)
{
    const char *text = getenv("FAKE_MUNGE");

    if (text != NULL && strcmp(text, "freezes") == 0)
        kill(getppid(), SIGSTOP);
    if (text != NULL && (strcmp(text, "freezes") == 0 || strcmp(text, "hangs") == 0))
        for (;;)
            pause();
    return text != NULL && strcmp(text, "silent") == 0 ? EMUNGE_SOCKET : EMUNGE_SUCCESS;
}

EXPORTED munge_err_t munge_encode(char **credential, munge_ctx_t context, const void *payload,
                                  int length)
{
    const unsigned char *bytes = payload;
    size_t size = 64 + 2 * (size_t)length, n;

    if (fault_status() != EMUNGE_SUCCESS)
        return fault_status();
    *credential = malloc(size);
    n = (size_t)snprintf(*credential, size, "MUNGE:%08x", (unsigned)getuid());
    for (int i = 0; i < length; i++)
        n += (size_t)snprintf(*credential + n, size - n, "%02x", bytes[i]);
    snprintf(*credential + n, size - n, ":");
    return EMUNGE_SUCCESS;
}

EXPORTED munge_err_t munge_decode(const char *credential, munge_ctx_t context, void **payload,
                                  int *length, uid_t *uid, gid_t *gid)
{
    unsigned maker, byte;
    const char *is = getenv("FAKE_MUNGE");
    char *bytes;
    int at = 0, n = 0;

    if (is != NULL && strcmp(is, "rotated") == 0)
        return EMUNGE_CRED_INVALID;
    if (fault_status() != EMUNGE_SUCCESS)
        return fault_status();
    if (sscanf(credential, "MUNGE:%8x%n", &maker, &at) != 1)
        return EMUNGE_BAD_CRED;
    bytes = malloc(strlen(credential));
    for (; sscanf(credential + at, "%2x", &byte) == 1; at += 2)
        bytes[n++] = (char)byte;
    *payload = bytes;
    *length = n;
    *uid = maker;
    return EMUNGE_CRED_REPLAYED;
}

EXPORTED const char *munge_strerror(munge_err_t code)
{
    return code == EMUNGE_SOCKET ? "munged is silent" : "forged";
}

EXPORTED munge_ctx_t munge_ctx_create(void)
{
    static char context;

    return (munge_ctx_t)&context;
}

EXPORTED void munge_ctx_destroy(munge_ctx_t context)
{
}

EXPORTED munge_err_t munge_ctx_set(munge_ctx_t context, int option, ...);

EXPORTED munge_err_t munge_ctx_set(munge_ctx_t context, int option, ...)
{
    return EMUNGE_SUCCESS;
}

EXPORTED munge_err_t munge_ctx_get(munge_ctx_t context, int option, ...);

EXPORTED munge_err_t munge_ctx_get(munge_ctx_t context, int option, ...)
{
    return EMUNGE_BAD_ARG;
}

EXPORTED const char *munge_ctx_strerror(munge_ctx_t context)
{
    return NULL;
}
