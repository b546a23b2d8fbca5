/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/node.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "lib/base/write_all.h"
#include "lib/slurm/slurmconf.h"
#include "spank/deadline.h"
#include "spank/host.h"

/* The parts that are sent through the pipe, in this order, each after its head. The least
 * important part is the last. */

/* muster.conf: its text follows. */
struct conf_head {
    int status; /* conf_load()'s */
    struct error err;
    size_t size;
};

/* The inventory follows, without the unused elements of its arrays, which are most of its size. */
struct inventory_head {
    bool is_read; /* false: err says why not */
    struct error err;
    size_t nic_count, rdma_count, gpu_count;
};

/* The names of failed rails follow, each with its NUL. */
struct failed_rails_head {
    char why[sizeof((struct failed_rails *)NULL)->why];
    size_t count, size;
};

/* The devices follow. */
struct gres_head {
    bool has_gres, is_named;
    long counted;
    size_t count;
};

enum { PARTS = 4 };

/* Sets parts to the used parts of an inventory with the device counts of head. */
static void list_parts(struct inventory *inventory, const struct inventory_head *head,
                       struct iovec parts[PARTS])
{
    parts[0] = (struct iovec){inventory, offsetof(struct inventory, nics)};
    parts[1] = (struct iovec){inventory->nics, head->nic_count * sizeof *inventory->nics};
    parts[2] = (struct iovec){inventory->rdma, head->rdma_count * sizeof *inventory->rdma};
    parts[3] = (struct iovec){inventory->gpus, head->gpu_count * sizeof *inventory->gpus};
}

static bool is_node_wanted(const struct node_request *request, const struct conf *conf)
{
    return request->is_requested || conf->set_environment || conf->check_steps;
}

/* ---------------------------------------------------------------- the child: sends */

/* Sends muster.conf. Returns whether the other parts can be sent; conf is set then. */
static bool conf_send(int fd, const struct node_request *request, struct conf *conf)
{
    struct conf_head head = {0};
    char *text = NULL;

    head.status = conf_load(request->config_path, &text, &head.err);
    head.size = head.status == 0 ? strlen(text) + 1 : 0;
    if (write_all(fd, &head, sizeof head) != 0 ||
        (head.size > 0 && write_all(fd, text, head.size) != 0))
        return false;
    if (head.status == 1)
        conf_defaults(conf);
    return head.status == 1 ||
           (head.status == 0 && conf_parse(request->config_path, text, conf, NULL) == 0);
}

static bool inventory_send(int fd, const struct node_request *request)
{
    struct inventory_head head = {.is_read = false};
    struct inventory *inventory =
        inventory_read(request->root != NULL ? request->root : "", &head.err);
    struct iovec parts[PARTS];

    if (inventory != NULL) {
        head.is_read = true;
        head.nic_count = inventory->nic_count;
        head.rdma_count = inventory->rdma_count;
        head.gpu_count = inventory->gpu_count;
    }
    if (write_all(fd, &head, sizeof head) != 0 || inventory == NULL)
        return false;
    list_parts(inventory, &head, parts);
    for (int i = 0; i < PARTS; i++)
        if (write_all(fd, parts[i].iov_base, parts[i].iov_len) != 0)
            return false;
    return true;
}

static bool failed_rails_send(int fd, const struct node_request *request, const struct conf *conf)
{
    struct failed_rails failed = {0};
    struct failed_rails_head head = {0};

    if (request->root == NULL)
        failed_rails_read(conf, &failed);
    memcpy(head.why, failed.why, sizeof head.why);
    head.count = failed.rails.count;
    for (size_t i = 0; i < head.count; i++)
        head.size += strlen(failed.rails.names[i]) + 1;
    if (write_all(fd, &head, sizeof head) != 0)
        return false;
    for (size_t i = 0; i < head.count; i++)
        if (write_all(fd, failed.rails.names[i], strlen(failed.rails.names[i]) + 1) != 0)
            return false;
    return true;
}

/* With AutoDetect Slurm finds devices on the bus, so gres.conf need not list all: no has_gres. */
static void gres_send(int fd, const struct node_request *request, const struct conf *conf)
{
    const char *root = request->root != NULL ? request->root : "";
    char directory[256], auto_detect[32];
    struct gres_devices devices = {0};
    struct gres_head head = {0};
    struct slurm_lines lines;

    if (request->gres_node != NULL && conf->check_steps &&
        slurm_directory(root, directory, sizeof directory, NULL) == 0 &&
        slurm_lines_read(root, directory, "gres.conf", &lines, NULL) == 0) {
        gres_auto_detect(&lines, request->gres_node, auto_detect, sizeof auto_detect);
        head.has_gres = gres_devices_list(&lines, request->gres_node, &devices, NULL) == 0 &&
                        auto_detect[0] == '\0';
        head.is_named = devices.is_named;
        head.counted = devices.counted;
        head.count = head.has_gres ? devices.count : 0;
    }
    if (write_all(fd, &head, sizeof head) == 0 && head.count > 0)
        write_all(fd, devices.devices, head.count * sizeof *devices.devices);
}

static void send_node(int fd, void *context)
{
    const struct node_request *request = context;
    struct conf conf;

    if (conf_send(fd, request, &conf) && is_node_wanted(request, &conf) &&
        inventory_send(fd, request) && failed_rails_send(fd, request, &conf))
        gres_send(fd, request, &conf);
}

/* ---------------------------------------------------------------- the parent: receives */

/* The result of receiving a part. */
enum receipt { RECEIVED, NOT_RECEIVED, RECEIVED_BAD /* err says why */ };

static enum receipt conf_receive(const struct deadline *deadline,
                                 const struct node_request *request, struct node_facts *facts,
                                 struct error *err)
{
    struct conf_head head;
    enum receipt receipt = NOT_RECEIVED;
    char *text = NULL;

    if (!deadline_read(deadline, &head, sizeof head))
        return NOT_RECEIVED;
    if (head.status < 0) {
        *err = head.err;
        facts->is_conf_bad = true;
        return RECEIVED_BAD;
    }
    if (head.status == 0) {
        text = malloc(head.size);
        if (text != NULL && deadline_read(deadline, text, head.size))
            receipt = conf_parse(request->config_path, text, &facts->conf, err) == 0 ? RECEIVED
                                                                                     : RECEIVED_BAD;
        free(text);
    } else {
        receipt = RECEIVED;
    }
    facts->is_conf_bad = receipt == RECEIVED_BAD;
    return receipt;
}

static enum receipt inventory_receive(const struct deadline *deadline, struct inventory *inventory,
                                      struct error *err)
{
    struct inventory_head head;
    struct iovec parts[PARTS];

    if (!deadline_read(deadline, &head, sizeof head))
        return NOT_RECEIVED;
    if (!head.is_read) {
        *err = head.err;
        return RECEIVED_BAD;
    }
    list_parts(inventory, &head, parts);
    for (int i = 0; i < PARTS; i++)
        if (!deadline_read(deadline, parts[i].iov_base, parts[i].iov_len))
            return NOT_RECEIVED;
    inventory->nic_count = head.nic_count;
    inventory->rdma_count = head.rdma_count;
    inventory->gpu_count = head.gpu_count;
    return RECEIVED;
}

static enum receipt failed_rails_receive(const struct deadline *deadline,
                                         struct failed_rails *failed)
{
    struct failed_rails_head head;
    char *names, *name;
    enum receipt receipt = RECEIVED;

    if (!deadline_read(deadline, &head, sizeof head))
        return NOT_RECEIVED;
    memcpy(failed->why, head.why, sizeof failed->why);
    if (head.count == 0)
        return RECEIVED;
    name = names = malloc(head.size);
    if (names == NULL || !deadline_read(deadline, names, head.size))
        receipt = NOT_RECEIVED;
    for (size_t i = 0; receipt == RECEIVED && i < head.count; i++, name += strlen(name) + 1)
        if (hostlist_append(&failed->rails, name) != 0)
            receipt = NOT_RECEIVED;
    free(names);
    return receipt;
}

static enum receipt gres_receive(const struct deadline *deadline, struct node_facts *facts)
{
    struct gres_devices *gres = &facts->gres;
    struct gres_head head;

    if (!deadline_read(deadline, &head, sizeof head))
        return NOT_RECEIVED;
    if (head.count > 0) {
        gres->devices = malloc(head.count * sizeof *gres->devices);
        if (gres->devices == NULL ||
            !deadline_read(deadline, gres->devices, head.count * sizeof *gres->devices))
            return NOT_RECEIVED;
    }
    for (size_t i = 0; i < head.count; i++)
        gres->devices[i].file = NULL; /* the pointer was valid in the child only */
    gres->count = head.count;
    gres->counted = head.counted;
    gres->is_named = head.is_named;
    facts->has_gres = head.has_gres;
    return RECEIVED;
}

/* The source of each part, for the message about a part that is not received. */
static const char *const sources[] = {"muster.conf", "/sys", "the certificate", "gres.conf"};
enum source { SOURCE_CONF, SOURCE_SYSFS, SOURCE_CERTIFICATE, SOURCE_GRES };

/* Receives all parts. If one is not received, *source is its source. */
static enum receipt receive(const struct deadline *deadline, const struct node_request *request,
                            struct node_facts *facts, enum source *source, struct error *err)
{
    enum receipt receipt;

    *source = SOURCE_CONF;
    receipt = conf_receive(deadline, request, facts, err);
    if (receipt != RECEIVED || !is_node_wanted(request, &facts->conf))
        return receipt;
    *source = SOURCE_SYSFS;
    facts->inventory = calloc(1, sizeof *facts->inventory);
    if (facts->inventory == NULL) {
        error_set(err, "inventory: %m");
        return RECEIVED_BAD;
    }
    receipt = inventory_receive(deadline, facts->inventory, err);
    if (receipt != RECEIVED)
        return receipt;
    *source = SOURCE_CERTIFICATE;
    receipt = failed_rails_receive(deadline, &facts->failed);
    if (receipt != RECEIVED)
        return receipt;
    *source = SOURCE_GRES;
    return gres_receive(deadline, facts);
}

int node_read_with_deadline(const struct node_request *request, struct node_facts *facts,
                            struct error *err)
{
    struct deadline deadline;
    enum source source;
    enum receipt receipt;
    struct error why = {"the process that reads the node ended without an answer"};

    *facts = (struct node_facts){0};
    conf_defaults(&facts->conf);
    if (!deadline_start(&deadline, NODE_DEADLINE_MS, send_node, (void *)request))
        return error_set(err, "cannot start a process to read the node: %m");
    receipt = receive(&deadline, request, facts, &source, err);
    if (deadline_end(&deadline, receipt == RECEIVED))
        error_set(&why, "%s was not read within %d s, %s", sources[source], NODE_DEADLINE_MS / 1000,
                  source == SOURCE_SYSFS ? "a driver hangs; the kernel log shows which"
                                         : "its file system hangs");
    if (receipt == RECEIVED)
        return 0;
    if (receipt == NOT_RECEIVED && source == SOURCE_GRES) { /* not needed for the environment */
        host_error("a step's devices are not compared with gres.conf: %s", why.text);
        return 0;
    }
    if (receipt == NOT_RECEIVED)
        *err = why;
    inventory_free(facts->inventory);
    facts->inventory = NULL;
    return -1;
}

void node_facts_clear(struct node_facts *facts)
{
    conf_clear(&facts->conf);
    inventory_free(facts->inventory);
    failed_rails_clear(&facts->failed);
    gres_devices_clear(&facts->gres);
    *facts = (struct node_facts){0};
}
