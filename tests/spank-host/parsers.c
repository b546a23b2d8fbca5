/* SPDX-License-Identifier: Apache-2.0 */

/* The parsers of texts that muster did not write, for clang's libFuzzer, which searches for inputs
 * that reach new branches. tests/spank-host/fuzz --parsers builds and runs it. The first byte of an
 * input selects the parser. What a parser accepts must be accepted again after it was printed. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/hostlist.h"
#include "lib/base/quantity.h"
#include "lib/certificate/certificate.h"
#include "lib/conf/conf.h"
#include "lib/conf/netif.h"
#include "lib/envplan/envplan.h"
#include "lib/node/gpu/visible_gpus.h"
#include "lib/node/inventory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int held, const char *what)
{
    if (held)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* ---------------------------------------------------------------- muster.conf */

static int read_conf(const char *text, size_t size, struct conf *conf)
{
    int fd = memfd_create("conf", 0), status;
    char path[64];

    must(write(fd, text, size) == (ssize_t)size, "memfd");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    status = conf_read(path, conf, NULL);
    close(fd);
    return status;
}

static void fuzz_conf(const char *text, size_t size)
{
    struct conf conf, again;
    char *printed = NULL;
    size_t printed_size;
    FILE *stream;

    if (read_conf(text, size, &conf) == 0) {
        stream = open_memstream(&printed, &printed_size);
        must(conf_print(&conf, stream) == 0 && fclose(stream) == 0, "conf_print");
        must(read_conf(printed, printed_size, &again) == 0, "conf_read of conf_print");
        conf_clear(&again);
        free(printed);
    }
    conf_clear(&conf);
}

/* ---------------------------------------------------------------- the others */

static void fuzz_certificate(const char *text)
{
    struct certificate certificate;
    char *seal = NULL, *again;
    size_t length;

    if (certificate_parse(text, &certificate, &seal, &length, NULL) != 0)
        return;
    again = certificate_format(&certificate);
    must(again != NULL && strlen(again) == length && memcmp(again, text, length) == 0,
         "certificate_format of certificate_parse");
    free(again);
    free(seal);
    certificate_clear(&certificate);
}

static void fuzz_hostlist(const char *text)
{
    struct hostlist list, again;
    char *folded;

    if (hostlist_expand(text, &list, NULL) != 0)
        return;
    folded = hostlist_fold(&list);
    must(folded != NULL && hostlist_expand(folded, &again, NULL) == 0, "hostlist_fold");
    must(again.count <= list.count, "hostlist_fold makes names");
    for (size_t i = 0; i < list.count && i < 50; i++)
        must(hostlist_contains(&again, list.names[i]), "hostlist_fold loses a name");
    hostlist_clear(&again);
    hostlist_clear(&list);
    free(folded);
}

static void fuzz_quantity(const char *text)
{
    double number;

    if (quantity_parse_time(text, &number))
        must(number >= 0, "a time below 0");
    if (quantity_parse_speed(text, &number))
        must(number >= 0, "a speed below 0");
}

static void fuzz_interface(const char *text)
{
    struct netif_line line, again;
    char *printed = NULL;
    size_t size;
    FILE *stream;

    if (netif_line_parse(text, &line, NULL) != 0)
        return;
    stream = open_memstream(&printed, &size);
    must(netif_line_print(&line, stream) == 0 && fclose(stream) == 0, "netif_line_print");
    must(netif_line_parse(printed, &again, NULL) == 0, "netif_line_parse of netif_line_print");
    netif_line_clear(&again);
    netif_line_clear(&line);
    free(printed);
}

/* ---------------------------------------------------------------- an environment */

static struct {
    const char *text; /* entries "NAME=value", each with a NUL at its end */
    size_t size;
} given;

static const char *lookup(const char *name, void *context)
{
    size_t length = strlen(name);

    for (size_t at = 0; at < given.size; at += strlen(given.text + at) + 1)
        if (strncmp(given.text + at, name, length) == 0 && given.text[at + length] == '=')
            return given.text + at + length + 1;
    return NULL;
}

static int open_anything(const char *device_file, void *unused)
{
    return 1;
}

static void fuzz_environment(char *text, size_t size)
{
    static struct inventory *inventory;
    static struct conf conf;
    static struct envplan_node node;
    static struct visible_gpus visible;
    struct envplan_task task;
    struct envplan plan;
    char line[8192];

    if (inventory == NULL) {
        inventory = inventory_read(getenv("MUSTER_FUZZ_ROOT"), NULL);
        must(inventory != NULL, "MUSTER_FUZZ_ROOT names no machine");
        conf_defaults(&conf);
    }
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\n')
            text[i] = '\0';
    given.text = text;
    given.size = size;
    envplan_task_read(lookup, NULL, &task);
    task.launcher = size % 3 == 0 ? ENVPLAN_AGENT : ENVPLAN_RANK;
    envplan_node_make(inventory, &conf, "n2", lookup("SLURM_STEP_NODELIST", NULL), NULL, &node);
    visible_gpus_read(inventory, lookup, NULL, open_anything, NULL, &visible);
    must(visible.count <= inventory->gpu_count, "more GPUs than there are");
    if (envplan_make(&node, &task, &visible, lookup, NULL, &plan) == 0) {
        for (size_t i = 0; i < plan.count; i++)
            envplan_explain(&plan.variables[i], line, sizeof line);
        envplan_clear(&plan);
    }
    if (envplan_make_off(lookup, NULL, &plan) == 0)
        envplan_clear(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text;

    if (size == 0)
        return 0;
    text = malloc(size); /* the exact size, so that AddressSanitizer reports reads past the end */
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0]) {
    case 'c':
        fuzz_conf(text, size - 1);
        break;
    case 's':
        fuzz_certificate(text);
        break;
    case 'h':
        fuzz_hostlist(text);
        break;
    case 'q':
        fuzz_quantity(text);
        break;
    case 'i':
        fuzz_interface(text);
        break;
    case 'e':
        fuzz_environment(text, size);
        break;
    default:
        break;
    }
    free(text);
    return 0;
}
