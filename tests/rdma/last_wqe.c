/* SPDX-License-Identifier: Apache-2.0 */
/* last_wqe - a library to be preloaded. Soft-RoCE of Linux 6.12 reports several times that the last
 * request of a queue pair was reached when the pair is taken down; a network card reports it once.
 * At the second event UCX 1.13 sometimes ends the program ("Assertion `wait_ctx->cb_id == (-1)'
 * failed"). This library passes on the first event of each pair, and turns further ones into an
 * event that UCX only logs. It must be linked with libibverbs, which UCX loads privately. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>

enum { QUEUE_PAIRS = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct ibv_qp *seen[QUEUE_PAIRS]; /* NULL: free */

static const struct ibv_qp **find(const struct ibv_qp *pair)
{
    for (size_t i = 0; i < QUEUE_PAIRS; i++)
        if (seen[i] == pair)
            return &seen[i];
    return NULL;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    int (*next)(struct ibv_context *, struct ibv_async_event *);
    const struct ibv_qp **place;
    bool is_again;
    int result;

    *(void **)&next = dlsym(RTLD_NEXT, "ibv_get_async_event");
    result = next(context, event);
    if (result != 0 || event->event_type != IBV_EVENT_QP_LAST_WQE_REACHED)
        return result;
    pthread_mutex_lock(&lock);
    is_again = find(event->element.qp) != NULL;
    if (!is_again && (place = find(NULL)) != NULL)
        *place = event->element.qp;
    pthread_mutex_unlock(&lock);
    if (is_again)
        event->event_type = IBV_EVENT_COMM_EST;
    return 0;
}

/* Forgets the queue pair: the next one may have its address. */
int ibv_destroy_qp(struct ibv_qp *pair)
{
    int (*next)(struct ibv_qp *);
    const struct ibv_qp **place;

    *(void **)&next = dlsym(RTLD_NEXT, "ibv_destroy_qp");
    pthread_mutex_lock(&lock);
    if ((place = find(pair)) != NULL)
        *place = NULL;
    pthread_mutex_unlock(&lock);
    return next(pair);
}
