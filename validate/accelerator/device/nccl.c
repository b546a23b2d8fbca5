/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/accelerator/device/nccl.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "validate/accelerator/device/loader.h"

enum { ELEMENT = 4 /* bytes */ };

const char *const collective_names[COLLECTIVES] = {
    "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast",
};

#define FUNCTION(member, name, arguments) {{name, name}, offsetof(struct nccl_functions, member)},
static const struct loader_symbol symbols[] = {NCCL_FUNCTIONS(FUNCTION){
    {"ncclGetErrorString", "ncclGetErrorString"}, offsetof(struct nccl_functions, error_text)}};
#undef FUNCTION

int nccl_load(const char *path, enum device_vendor vendor, struct nccl_library *library,
              struct error *err)
{
    static const char *const names[DEVICE_VENDORS] = {"libnccl.so.2", "librccl.so.1"};
    enum device_outcome outcome;
    const char *name;
    void *handle = loader_open_any(path, &names[vendor], 1, &name, DEVICE_NO_DRIVER, &outcome, err);
    int status;

    *library = (struct nccl_library){.version = 0};
    if (!handle)
        return -1;
    if (loader_find(handle, name, symbols, sizeof symbols / sizeof *symbols, vendor, &library->call,
                    err) != 0)
        return -1;
    status = library->call.version(&library->version);
    if (status == NCCL_SUCCESS)
        return 0;
    nccl_error(library, "ncclGetVersion", status, err);
    return -1;
}

int nccl_error(const struct nccl_library *library, const char *what, int status, struct error *err)
{
    const char *text = library->call.error_text(status);

    error_set(err, "%s: %s (%d)", what, text ? text : "error", status);
    return status;
}

double collective_bus_factor(enum collective collective, int ranks)
{
    double share = (double)(ranks - 1) / ranks;

    return collective == COLLECTIVE_ALL_REDUCE  ? 2 * share
           : collective == COLLECTIVE_BROADCAST ? 1
                                                : share;
}

double collective_bytes(double bytes, int size)
{
    double unit = 128.0 * size, units = floor(bytes / unit);

    return (units < 1 ? 1 : units) * unit;
}

static int all_to_all(const struct nccl_functions *call, void *communicator, int size,
                      device_address from, device_address to, size_t each)
{
    int status = call->group_begin(), end;

    if (status != NCCL_SUCCESS)
        return status;
    for (int peer = 0; peer < size && status == NCCL_SUCCESS; peer++) {
        device_address offset = (device_address)peer * each * ELEMENT;

        status = call->send(from + offset, each, NCCL_INT32, peer, communicator, NULL);
        if (status == NCCL_SUCCESS)
            status = call->receive(to + offset, each, NCCL_INT32, peer, communicator, NULL);
    }
    end = call->group_end();
    return status != NCCL_SUCCESS ? status : end;
}

int collective_start(const struct nccl_library *library, enum collective collective,
                     void *communicator, int size, device_address from, device_address to,
                     size_t count, struct error *err)
{
    const struct nccl_functions *call = &library->call;
    size_t each = count / (size_t)size;
    int status = NCCL_SUCCESS;

    switch (collective) {
    case COLLECTIVE_ALL_REDUCE:
        status = call->all_reduce(from, to, count, NCCL_FLOAT32, NCCL_SUM, communicator, NULL);
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        status = call->reduce_scatter(from, to, each, NCCL_FLOAT32, NCCL_SUM, communicator, NULL);
        break;
    case COLLECTIVE_ALL_GATHER:
        status = call->all_gather(from, to, each, NCCL_INT32, communicator, NULL);
        break;
    case COLLECTIVE_ALL_TO_ALL:
        status = all_to_all(call, communicator, size, from, to, each);
        break;
    case COLLECTIVE_BROADCAST:
        status = call->broadcast(from, to, count, NCCL_INT32, 0, communicator, NULL);
        break;
    case COLLECTIVES:
        break;
    }
    return status == NCCL_SUCCESS ? 0
                                  : nccl_error(library, collective_names[collective], status, err);
}

size_t collective_sent(enum collective collective, int size, size_t count)
{
    return collective == COLLECTIVE_ALL_GATHER ? count / (size_t)size : count;
}

size_t collective_received(enum collective collective, int size, size_t count)
{
    return collective == COLLECTIVE_REDUCE_SCATTER ? count / (size_t)size : count;
}

/* ---------------------------------------------------------------- contents */

/* The parts of a term of a sum: 0 to 63 by the index only, and 0 to 7 by rank and index. For up to
 * 239,000 ranks the sum is below 2^24. */
static unsigned common_part(size_t index)
{
    return ((uint32_t)index * 2654435761U) >> 26;
}

static unsigned own_part(int rank, size_t index)
{
    return ((unsigned)rank * 7 + (unsigned)index) & 7;
}

static unsigned bits_of(float value)
{
    unsigned bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static unsigned word_of(int rank, size_t index)
{
    uint32_t x = (uint32_t)rank * 0x9e3779b1U ^ (uint32_t)index;

    x *= 0x85ebca6bU;
    x ^= x >> 13;
    x *= 0xc2b2ae35U;
    return x ^ x >> 16;
}

static int is_sum(enum collective collective)
{
    return collective == COLLECTIVE_ALL_REDUCE || collective == COLLECTIVE_REDUCE_SCATTER;
}

void collective_sums_begin(int size, struct collective_sums *sums)
{
    *sums = (struct collective_sums){.size = size};
    for (int rank = 0; rank < size; rank++)
        for (size_t index = 0; index < 8; index++)
            sums->of_index[index] += own_part(rank, index);
}

void collective_fill(enum collective collective, int rank, unsigned *elements, size_t count)
{
    if (is_sum(collective))
        for (size_t i = 0; i < count; i++)
            elements[i] = bits_of((float)(common_part(i) + own_part(rank, i)));
    else
        for (size_t i = 0; i < count; i++)
            elements[i] = word_of(rank, i);
}

static unsigned expected_at(enum collective collective, const struct collective_sums *sums,
                            int rank, size_t each, size_t index)
{
    size_t at = index;

    switch (collective) {
    case COLLECTIVE_REDUCE_SCATTER:
        at = (size_t)rank * each + index;
        break;
    case COLLECTIVE_ALL_GATHER:
        return word_of((int)(index / each), index % each);
    case COLLECTIVE_ALL_TO_ALL:
        return word_of((int)(index / each), (size_t)rank * each + index % each);
    case COLLECTIVE_BROADCAST:
        return word_of(0, index);
    case COLLECTIVE_ALL_REDUCE:
    case COLLECTIVES:
        break;
    }
    return bits_of((float)((unsigned)sums->size * common_part(at) + sums->of_index[at & 7]));
}

size_t collective_verify(enum collective collective, const struct collective_sums *sums, int rank,
                         size_t count, const unsigned *received, size_t *index, unsigned *expected)
{
    size_t each = count / (size_t)sums->size, wrong = 0;

    for (size_t i = 0; i < collective_received(collective, sums->size, count); i++) {
        unsigned right = expected_at(collective, sums, rank, each, i);

        if (received[i] == right)
            continue;
        if (wrong++ == 0) {
            *index = i;
            *expected = right;
        }
    }
    return wrong;
}
