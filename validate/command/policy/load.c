/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/policy/policy.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/read_all.h"
#include "lib/base/safe_directory.h"
#include "validate/slurm/operations.h"

enum { TEXT_MOST = 64 << 20 };

/* Whether this host has the user or group. A name service that does not answer does not mean that
 * there is none. */
static int host_knows(enum site_name what, const char *name, void *context)
{
    bool is_there;

    (void)context;
    errno = 0;
    is_there = what == SITE_GROUP ? getgrnam(name) != NULL : getpwnam(name) != NULL;
    if (is_there)
        return 1;
    return errno == 0 || errno == ENOENT || errno == ESRCH ? 0 : -1;
}

/* Whether the line is "name:password:ID:...". */
static bool is_entry(const char *line)
{
    const char *id = strchr(line, ':');

    id = id ? strchr(id + 1, ':') : NULL;
    return id && isdigit((unsigned char)id[1]) && strchr(id + 1, ':');
}

/* The same for the files passwd and group in the saved copy. */
static int file_knows(enum site_name what, const char *name, void *context)
{
    size_t length = strlen(name), size = 0;
    char path[4096], *line = NULL;
    int found = 0;
    bool is_list = false;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", (const char *)context,
             what == SITE_GROUP ? "group" : "passwd");
    file = fopen(path, "re");
    if (!file)
        return -1;
    while (!found && getline(&line, &size, file) > 0) {
        found = strncmp(line, name, length) == 0 && line[length] == ':';
        is_list |= is_entry(line);
    }
    free(line);
    fclose(file);
    return found || is_list ? found : -1;
}

static char *read_text(const char *directory, enum cluster_text what, struct error *err)
{
    char path[4096], *text = NULL;
    int fd;

    snprintf(path, sizeof path, "%s/%s", directory, cluster_text_name(what));
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        error_set(err, "%s: %m", path);
    else if (!(text = read_to_end(fd, TEXT_MOST, err)))
        error_prefix(err, "%s", path);
    if (fd >= 0)
        close(fd);
    return text;
}

static int load_text(const struct policy_options *options, struct site *site,
                     enum cluster_text what, struct error *err)
{
    char *text = NULL;

    if (options->from)
        text = read_text(options->from, what, err);
    else if (operations_slurm.show(what, site_config(site, "ClusterName"), &text, err) != 0)
        return -1;
    if (!text)
        return -1;
    if (options->save &&
        safe_directory_write(options->save, cluster_text_name(what), text, err) != 0) {
        free(text);
        return -1;
    }
    if (site_parse(site, what, text, err) != 0)
        return error_prefix(err, "%s", cluster_text_name(what));
    return 0;
}

/* Loads QOS and associations if there is a database and all of it is visible. Returns 0, or -1 with
 * err and without them. */
static int load_accounting(const struct policy_options *options, struct site *site,
                           struct error *err)
{
    static const char *const hidden[] = {"accounts", "users", "usage"};

    if (!strcasestr(site_config(site, "AccountingStorageType"), "slurmdbd"))
        return 0;
    for (size_t i = 0; !options->from && geteuid() != 0 && i < 3; i++)
        if (site_list_has(site_config(site, "PrivateData"), hidden[i]))
            return error_set(err, "PrivateData=%s hides accounts from this user; run it as root",
                             site_config(site, "PrivateData"));
    if (load_text(options, site, CLUSTER_QOS, err) != 0 ||
        load_text(options, site, CLUSTER_ASSOCIATIONS, err) != 0)
        return -1;
    site->has_accounting = true;
    return 0;
}

bool policy_is_current(const struct site *site)
{
    const char *match = site_config(site, "HASH_VAL");

    return !*match || strcasecmp(match, "Match") == 0;
}

/* Loads the lines of slurm.conf, which locate findings, if the file is what the controller has
 * read. Returns 0, also if the file cannot be read completely, or -1 with err if a saved file has
 * no ClusterName; err is set only then. */
static int load_lines(const struct policy_options *options, struct site *site, struct error *err)
{
    char directory[512];
    char name[256];

    if (options->from) {
        if (slurm_lines_read(options->from, "", "slurm.conf", &site->lines, NULL) < 0) {
            slurm_lines_clear(&site->lines); /* includes a file that was not saved */
            return 0;
        }
        if (site->lines.count > 0 &&
            !slurm_lines_value(&site->lines, "ClusterName", name, sizeof name))
            return error_set(err, "%s/slurm.conf: found no ClusterName", options->from);
        return 0;
    }
    if (policy_is_current(site) &&
        slurm_client_directory("", directory, sizeof directory, NULL) == 0)
        slurm_lines_read("", directory, "slurm.conf", &site->lines, NULL);
    return 0;
}

int policy_load(const struct policy_options *options, struct site *site, struct error *err,
                struct error *accounting)
{
    static const enum cluster_text texts[] = {CLUSTER_CONFIG, CLUSTER_PARTITIONS, CLUSTER_NODES,
                                              CLUSTER_RESERVATIONS};
    char cluster[256];

    if (!options->from) {
        step_clean_environment();
        /* SLURM_CLUSTERS is checked and removed, as scontrol would show another cluster */
        if (operations_slurm.open(err) != 0 ||
            operations_slurm.name(cluster, sizeof cluster, err) != 0)
            return -1;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (load_text(options, site, texts[i], err) != 0)
            return -1;
    if (site_finish(site, err) != 0)
        return -1;
    load_accounting(options, site, accounting);
    if (load_lines(options, site, err) != 0)
        return -1;
    site->knows = options->from ? file_knows : host_knows;
    site->context = (void *)options->from;
    return 0;
}
