/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/path/channel.h"

#include <math.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucp/api/ucp.h>
#include <ucs/config/global_opts.h>

#include "lib/base/clock.h"
#include "lib/base/memory_stream.h"
#include "lib/constants/battery_constants.h"
#include "validate/battery/links/path/transport.h"
#include "validate/harness/watch/watch.h"

enum {
    SMALL_SLOT = CHANNEL_WINDOW, /* of channel_send_small() and channel_receive_small() */
    SLOTS = CHANNEL_WINDOW + 1,
    SMALL_BYTES = 256,
};

struct channel {
    ucp_context_h context;
    ucp_worker_h worker;
    int event_fd; /* -1: UCX cannot sleep here */
    bool is_rdma;
    double poll_s; /* how long a wait polls before it sleeps */
    int sleep_ms;  /* longest sleep between two checks */
    ucp_ep_h endpoint;
    ucp_address_t *address;
    size_t address_size;
    ucs_status_t broken;                  /* status that the error handler got, or UCS_OK */
    void *sends[SLOTS], *receives[SLOTS]; /* UCX requests, NULL when none is under way */
    void *marks[CHANNEL_MARKS];           /* requests */
    double mark_times[CHANNEL_MARKS];
    char mark_data[CHANNEL_MARKS][8];
    bool is_watched;            /* channel_watch() */
    double polled_s, stalled_s; /* when it was polled last; pauses */
    double late_s;              /* channel_late_s() */
    unsigned char *out, *in;
    unsigned char small_out[SMALL_BYTES], small_in[SMALL_BYTES];
    char name[INVENTORY_NAME];
};

void channel_prepare(void)
{
    if (!getenv("UCX_LOG_LEVEL"))
        ucs_global_opts_set_value("LOG_LEVEL", "fatal");
    /* A connection to nowhere must not hold the program: UCX's connect() blocks for minutes.
     * ucp_config_modify() takes this setting and does nothing with it (UCX 1.13). */
    setenv("UCX_TCP_CONN_NB", "y", 0);
}

bool channel_is_rdma(const struct rail *rail)
{
    return rail->port && fabric_class_is_rdma(rail->class);
}

const char *channel_device(const struct rail *rail)
{
    return channel_is_rdma(rail) ? rail->name : rail->nic->name;
}

static int configure(const struct rail *rail, ucp_config_t *config, struct error *err)
{
    const char *const settings[][2] = {
        {"NET_DEVICES", channel_device(rail)},
        {"TLS", channel_is_rdma(rail) ? "rc,ud,dc" : "tcp"},
    };

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        ucs_status_t status = ucp_config_modify(config, settings[i][0], settings[i][1]);

        if (status != UCS_OK)
            return error_set(err, "UCX rejected %s=%s: %s", settings[i][0], settings[i][1],
                             ucs_status_string(status));
    }
    return 0;
}

/* Sets UCX_IB_GID_INDEX, which UCX's transport reads when the worker is made, unless the user has
 * set it. */
static void set_gid_index(const struct rail *rail, bool is_users)
{
    char gid_index[16];

    if (is_users)
        return;
    unsetenv("UCX_IB_GID_INDEX");
    if (channel_is_rdma(rail) && rail_ucx_gid_index(rail) >= 0) {
        snprintf(gid_index, sizeof gid_index, "%d", rail_ucx_gid_index(rail));
        setenv("UCX_IB_GID_INDEX", gid_index, 1);
    }
}

/* Makes context and worker. If no transport here can wake a process that sleeps, UCX is used
 * without wake-ups. */
static ucs_status_t init_worker(struct channel *channel, const ucp_config_t *config)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                           .features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP};
    /* one thread at a time, but not always the one that made it: rails measured at once have one
     * each */
    ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                         .thread_mode = UCS_THREAD_MODE_SERIALIZED};
    ucs_status_t status = ucp_init(&params, config, &channel->context);

    if (status == UCS_OK)
        status = ucp_worker_create(channel->context, &worker_params, &channel->worker);
    if (status == UCS_OK) {
        if (ucp_worker_get_efd(channel->worker, &channel->event_fd) != UCS_OK)
            channel->event_fd = -1;
        return UCS_OK;
    }
    if (channel->context)
        ucp_cleanup(channel->context);
    channel->context = NULL;
    params.features = UCP_FEATURE_TAG;
    status = ucp_init(&params, config, &channel->context);
    return status == UCS_OK ? ucp_worker_create(channel->context, &worker_params, &channel->worker)
                            : status;
}

static int open_worker(struct channel *channel, const struct rail *rail, struct error *err)
{
    bool is_users = getenv("UCX_IB_GID_INDEX") != NULL;
    ucp_config_t *config;
    ucs_status_t status;

    set_gid_index(rail, is_users);
    status = ucp_config_read(NULL, NULL, &config);
    if (status != UCS_OK)
        return error_set(err, "UCX: %s", ucs_status_string(status));
    if (configure(rail, config, err) != 0) {
        ucp_config_release(config);
        return -1;
    }
    status = init_worker(channel, config);
    ucp_config_release(config);
    if (status == UCS_OK)
        status = ucp_worker_get_address(channel->worker, &channel->address, &channel->address_size);
    if (status != UCS_OK)
        return error_set(err, "UCX on %s: %s", rail->name, ucs_status_string(status));
    return 0;
}

/* Checks that enough memory can be locked. Memory that UCX registers counts as locked, and with too
 * low a limit UCX 1.13 may hang. */
static int check_locked_memory(const struct channel *channel, const struct rail *rail,
                               struct error *err)
{
    size_t size = (size_t)CHANNEL_WINDOW * CHANNEL_MESSAGE_BYTES;
    struct rlimit limit;

    if (mlock(channel->in, size) == 0) {
        munlock(channel->in, size);
        return 0;
    }
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
        return error_set(err, "%s: cannot lock memory: %m", rail->name);
    return error_set(
        err,
        "%s needs %.0f MB of locked memory, the limit here is %.4g MB; set LimitMEMLOCK=infinity "
        "of slurmd's unit and PropagateResourceLimitsExcept=MEMLOCK",
        rail->name, 1e-6 * (double)size, 1e-6 * (double)limit.rlim_cur);
}

int channel_open(const struct rail *rail, struct channel **channel, struct error *err)
{
    struct channel *opened;

    if (!channel_is_rdma(rail) && !rail->nic)
        return error_set(err, "%s (%s): UCX has no transport for it", rail->name,
                         fabric_class_name(rail->class));
    opened = calloc(1, sizeof *opened);
    if (!opened)
        return error_set(err, "out of memory");
    opened->event_fd = -1;
    opened->is_rdma = channel_is_rdma(rail);
    channel_set_wait(opened, CHANNEL_IDLE);
    snprintf(opened->name, sizeof opened->name, "%s", rail->name);
    opened->out = malloc(CHANNEL_MESSAGE_BYTES);
    opened->in = malloc((size_t)CHANNEL_WINDOW * CHANNEL_MESSAGE_BYTES);
    if (!opened->out || !opened->in)
        error_set(err, "out of memory");
    if (!opened->out || !opened->in ||
        (channel_is_rdma(rail) && check_locked_memory(opened, rail, err) != 0) ||
        open_worker(opened, rail, err) != 0) {
        channel_close(opened);
        return -1;
    }
    *channel = opened;
    return 0;
}

void channel_close(struct channel *channel)
{
    if (!channel)
        return;
    if (channel->worker)
        channel_disconnect(channel);
    if (channel->address)
        ucp_worker_release_address(channel->worker, channel->address);
    if (channel->worker)
        ucp_worker_destroy(channel->worker);
    if (channel->context)
        ucp_cleanup(channel->context);
    free(channel->out);
    free(channel->in);
    free(channel);
}

const void *channel_address(const struct channel *channel, size_t *size_bytes)
{
    *size_bytes = channel->address_size;
    return channel->address;
}

static void on_error(void *argument, ucp_ep_h endpoint, ucs_status_t status)
{
    struct channel *channel = argument;

    if (endpoint == channel->endpoint)
        channel->broken = status;
}

int channel_connect(struct channel *channel, const void *address, struct error *err)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = address,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = on_error, .arg = channel},
    };
    ucs_status_t status;

    channel->broken = UCS_OK;
    status = ucp_ep_create(channel->worker, &params, &channel->endpoint);
    if (status != UCS_OK) {
        channel->endpoint = NULL;
        return error_set(err, "%s", ucs_status_string(status));
    }
    return 0;
}

int channel_arm(struct channel *channel)
{
    ucs_status_t status;

    if (channel->event_fd < 0)
        return -1;
    do {
        while (ucp_worker_progress(channel->worker) != 0)
            ;
        status = ucp_worker_arm(channel->worker);
    } while (status == UCS_ERR_BUSY);
    return status == UCS_OK ? channel->event_fd : -1;
}

/* Frees the requests that are complete; true when none is left. */
static bool reap(void **requests, int count)
{
    bool is_empty = true;

    for (int i = 0; i < count; i++) {
        if (!requests[i])
            continue;
        if (ucp_request_check_status(requests[i]) == UCS_INPROGRESS) {
            is_empty = false;
            continue;
        }
        ucp_request_free(requests[i]);
        requests[i] = NULL;
    }
    return is_empty;
}

void channel_disconnect(struct channel *channel)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                 .flags = UCP_EP_CLOSE_FLAG_FORCE};
    double until = clock_s() + 1;
    void *closing = NULL;

    for (int i = 0; i < SLOTS; i++)
        if (channel->receives[i])
            ucp_request_cancel(channel->worker, channel->receives[i]);
    for (int i = 0; i < CHANNEL_MARKS; i++)
        if (channel->marks[i])
            ucp_request_cancel(channel->worker, channel->marks[i]);
    if (channel->endpoint)
        closing = ucp_ep_close_nbx(channel->endpoint, &param);
    channel->endpoint = NULL;
    while (clock_s() < until) {
        bool is_closed =
            !UCS_PTR_IS_PTR(closing) || ucp_request_check_status(closing) != UCS_INPROGRESS;
        bool has_sent = reap(channel->sends, SLOTS);
        bool has_received = reap(channel->receives, SLOTS);

        if (is_closed && has_sent && has_received && reap(channel->marks, CHANNEL_MARKS))
            break;
        if (ucp_worker_progress(channel->worker) == 0)
            poll(NULL, 0, 1); /* what ends a request here may be no event */
    }
    if (UCS_PTR_IS_PTR(closing))
        ucp_request_free(closing);
}

void channel_transport(const struct channel *channel, char *text, size_t size)
{
    char *print = NULL;
    size_t print_size;
    FILE *stream;

    *text = '\0';
    stream = channel->endpoint ? memory_stream(&print, &print_size) : NULL;
    if (!stream)
        return;
    ucp_ep_print_info(channel->endpoint, stream);
    if (fclose(stream) == 0)
        transport_read(print, text, size);
    free(print);
}

void *channel_out(struct channel *channel)
{
    return channel->out;
}

void *channel_in(struct channel *channel, int slot)
{
    return channel->in + (size_t)slot * CHANNEL_MESSAGE_BYTES;
}

static int store_request(ucs_status_ptr_t request, void **slot, struct error *err)
{
    if (UCS_PTR_IS_ERR(request))
        return error_set(err, "%s", ucs_status_string(UCS_PTR_STATUS(request)));
    *slot = request;
    return 0;
}

static int start_send(struct channel *channel, int slot, uint64_t tag, const void *data,
                      size_t size_bytes, struct error *err)
{
    ucp_request_param_t param = {.op_attr_mask = 0};

    if (!channel->endpoint)
        return error_set(err, "not connected");
    return store_request(ucp_tag_send_nbx(channel->endpoint, data, size_bytes, tag, &param),
                         &channel->sends[slot], err);
}

static int start_receive(struct channel *channel, int slot, uint64_t tag, void *data,
                         size_t size_bytes, struct error *err)
{
    ucp_request_param_t param = {.op_attr_mask = 0};

    return store_request(
        ucp_tag_recv_nbx(channel->worker, data, size_bytes, tag, UINT64_MAX, &param),
        &channel->receives[slot], err);
}

int channel_send(struct channel *channel, int slot, uint64_t tag, size_t size_bytes,
                 struct error *err)
{
    return start_send(channel, slot, tag, channel->out, size_bytes, err);
}

int channel_receive(struct channel *channel, int slot, uint64_t tag, size_t size_bytes,
                    struct error *err)
{
    return start_receive(channel, slot, tag, channel_in(channel, slot), size_bytes, err);
}

void channel_watch(struct channel *channel)
{
    channel->is_watched = true;
    channel->polled_s = clock_s();
    channel->stalled_s = 0;
}

double channel_unwatch(struct channel *channel)
{
    channel->is_watched = false;
    return channel->stalled_s;
}

/* Notes a pause. Called before the poll, so that a pause is noted before what it made late is
 * seen. */
static void note_pause(struct channel *channel, double now_s)
{
    double pause_s = now_s - channel->polled_s;

    if (pause_s > CHANNEL_PAUSE_S)
        channel->stalled_s += pause_s - CHANNEL_PAUSE_S;
    channel->polled_s = now_s;
}

double channel_late_s(const struct channel *channel)
{
    return channel->late_s;
}

void channel_set_wait(struct channel *channel, enum channel_wait wait)
{
    channel->sleep_ms = wait == CHANNEL_IDLE ? CHANNEL_SLEEP_MS : CHANNEL_STREAM_SLEEP_MS;
    channel->poll_s = wait == CHANNEL_IDLE                          ? 0
                      : wait == CHANNEL_STREAM && !channel->is_rdma ? CHANNEL_STREAM_POLL_S
                                                                    : INFINITY;
}

/* Sleeps until UCX has something to do. Arming may have completed the request. */
static void sleep_for(struct channel *channel, void *request)
{
    struct pollfd wake = {.fd = channel_arm(channel), .events = POLLIN};

    if (wake.fd < 0)
        sched_yield();
    else if (ucp_request_check_status(request) == UCS_INPROGRESS && channel->broken == UCS_OK)
        poll(&wake, 1, channel->sleep_ms);
}

/* Waits for the request. An idle poller yields: if cores are few, the peer may need this one. */
static int wait_for(struct channel *channel, void **request, double timeout_s, struct error *err)
{
    double begin_s = clock_s(), now_s = begin_s, looked_s = begin_s;
    ucs_status_t status;

    channel->late_s = 0;
    if (!*request)
        return 0;
    for (unsigned turn = 1; (status = ucp_request_check_status(*request)) == UCS_INPROGRESS;
         turn++) {
        bool is_idle, sleeps;

        looked_s = now_s; /* the request was not complete then */
        now_s = clock_s();
        if (channel->is_watched)
            note_pause(channel, now_s);
        is_idle = ucp_worker_progress(channel->worker) == 0;
        if (channel->broken != UCS_OK)
            return error_set(err, "%s", ucs_status_string(channel->broken));
        sleeps = is_idle && !isinf(channel->poll_s) && now_s - begin_s >= channel->poll_s;
        if (sleeps)
            sleep_for(channel, *request);
        else if (is_idle && turn % 8 == 0)
            sched_yield();
        if (!sleeps && turn % 64 != 0)
            continue;
        watch_step();                    /* a wait that ends by itself is no hang */
        if (now_s - begin_s > timeout_s) /* progress alone is no answer: UCX may retry forever */
            return error_set(err, "no answer in %g s", timeout_s);
    }
    channel->late_s = clock_s() - looked_s;
    ucp_request_free(*request);
    *request = NULL;
    return status == UCS_OK ? 0 : error_set(err, "%s", ucs_status_string(status));
}

int channel_wait_send(struct channel *channel, int slot, double timeout_s, struct error *err)
{
    return wait_for(channel, &channel->sends[slot], timeout_s, err);
}

int channel_wait_receive(struct channel *channel, int slot, double timeout_s, struct error *err)
{
    return wait_for(channel, &channel->receives[slot], timeout_s, err);
}

int channel_send_small(struct channel *channel, uint64_t tag, const void *data, size_t size_bytes,
                       double timeout_s, struct error *err)
{
    memcpy(channel->small_out, data, size_bytes);
    if (start_send(channel, SMALL_SLOT, tag, channel->small_out, size_bytes, err) != 0)
        return -1;
    return channel_wait_send(channel, SMALL_SLOT, timeout_s, err);
}

int channel_receive_small(struct channel *channel, uint64_t tag, void *data, size_t size_bytes,
                          double timeout_s, struct error *err)
{
    if (start_receive(channel, SMALL_SLOT, tag, channel->small_in, size_bytes, err) != 0 ||
        channel_wait_receive(channel, SMALL_SLOT, timeout_s, err) != 0)
        return -1;
    memcpy(data, channel->small_in, size_bytes);
    return 0;
}

static void on_mark(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
                    void *user_data)
{
    (void)request;
    (void)status;
    (void)info;
    *(double *)user_data = clock_s();
}

int channel_expect_marks(struct channel *channel, uint64_t tag, int count, struct error *err)
{
    ucp_request_param_t param = {.op_attr_mask =
                                     UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb = {.recv = on_mark}};

    for (int i = 0; i < count && i < CHANNEL_MARKS; i++) {
        ucs_status_ptr_t request;

        channel->mark_times[i] = 0;
        param.user_data = &channel->mark_times[i];
        request = ucp_tag_recv_nbx(channel->worker, channel->mark_data[i],
                                   sizeof channel->mark_data[i], tag, UINT64_MAX, &param);
        if (store_request(request, &channel->marks[i], err) != 0)
            return -1;
        if (!request)
            channel->mark_times[i] = clock_s();
    }
    return 0;
}

int channel_wait_mark(struct channel *channel, int index, double timeout_s, double *time_s,
                      struct error *err)
{
    if (wait_for(channel, &channel->marks[index], timeout_s, err) != 0)
        return -1;
    *time_s = channel->mark_times[index];
    return 0;
}
