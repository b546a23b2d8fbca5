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

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct seen {
        struct ibv_context *context;
        uint32_t number;
    } seen[QUEUE_PAIRS];
    static size_t count;
    int (*next)(struct ibv_context *, struct ibv_async_event *);
    bool is_again = false;
    int result;

    *(void **)&next = dlsym(RTLD_NEXT, "ibv_get_async_event");
    result = next(context, event);
    if (result != 0 || event->event_type != IBV_EVENT_QP_LAST_WQE_REACHED)
        return result;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count && !is_again; i++)
        is_again = seen[i].context == context && seen[i].number == event->element.qp->qp_num;
    if (!is_again && count < QUEUE_PAIRS)
        seen[count++] = (struct seen){context, event->element.qp->qp_num};
    pthread_mutex_unlock(&lock);
    if (is_again)
        event->event_type = IBV_EVENT_SQ_DRAINED;
    return 0;
}
