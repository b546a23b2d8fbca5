/* SPDX-License-Identifier: Apache-2.0 */
/* last_wqe - to be preloaded. Soft-RoCE of Linux 6.12 reports that the last request of a queue pair
 * was reached several times for one that is being taken down, where a network card does so once; at
 * the second one UCX 1.13 ends the program now and then ("Assertion `wait_ctx->cb_id == (-1)'
 * failed"). This hands each of them on once; a further one becomes an event that UCX only logs. To
 * be linked with libibverbs: UCX loads that privately. */
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

/* Its address may be that of the next one. */
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
