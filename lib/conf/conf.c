/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/conf/conf_table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/base_name.h"
#include "lib/base/regular_file.h"
#include "lib/base/text.h"
#include "lib/constants/harness_constants.h"

enum { FILE_MAX = 1 << 20 };

#define AT(member) offsetof(struct conf, member)
#define TEXT(member) AT(member), 0, sizeof(((struct conf *)0)->member) - 1
#define STATE MUSTER_LOCALSTATEDIR "/lib/muster/"
#define RUN "/run/muster/" /* a reboot removes it, wherever localstatedir is */

static const struct conf_key keys[] = {
    {"ManagementInterface", KIND_INTERFACE, TEXT(management_interface), "",
     "The interface of logins and services, never used for a job's data; empty: the one with the "
     "default route."},
    {"FabricInterfaces", KIND_INTERFACES, AT(fabric_interfaces), 0, 0, "",
     "The interfaces that carry jobs' data; empty: all physical ones of the best kind but the "
     "management interface."},
    {"NominalSpeed", KIND_SPEEDS, AT(nominal_speeds), 1, 1e8, "",
     "The speed that links should have, for those whose speed the kernel reports wrongly; empty: "
     "what the kernel reports."},
    {"MTU", KIND_INTEGER, AT(mtu_bytes), 68, 65535, "majority",
     "The MTU that the fabric's interfaces must have, in bytes; majority: that of most nodes.",
     "majority", 0},
    {"GPUsPerNode", KIND_INTEGER, AT(gpus_per_node), 0, 64, "auto",
     "The GPUs that each node must have; auto: what gres.conf and the other nodes say.", "auto",
     -1},
    {"MemlockMB", KIND_INTEGER, AT(memlock_mb), 0, 1 << 30, "unlimited",
     "The least locked memory limit of a job, in MB (10^6 bytes).", "unlimited", -1},
    {"ShmMB", KIND_INTEGER, AT(shm_mb), 1, 1 << 30, "any",
     "The least size of /dev/shm, in MB (10^6 bytes).", "any", 0},
    {"SetEnvironment", KIND_YES_NO, AT(set_environment), 0, 0, "yes",
     "Whether the plugin sets the variables of UCX, NCCL, Open MPI and torch for each task."},
    {"CheckSteps", KIND_YES_NO, AT(check_steps), 0, 0, "yes",
     "Whether the plugin warns a step's user if its GPUs, devices or limits are not what it was "
     "given or needs."},
    {"MasterPorts", KIND_PORTS, AT(master_port_first), 1024, 65535, "29500-29999",
     "The TCP ports that MASTER_PORT is taken from."},
    {"NearestRails", KIND_YES_NO, AT(nearest_rails), 0, 0, "yes",
     "Whether UCX_NET_DEVICES of a task names only the rails nearest to its GPUs or, without GPUs, "
     "to the socket that it is bound to."},
    {"RailsAreRouted", KIND_YES_NO, AT(routed_rails), 0, 0, "no",
     "Whether each rail reaches the other rails of the other nodes, even in other IP networks or "
     "InfiniBand subnets. With no, NearestRails is off there."},
    {"GPUByLocalRank", KIND_YES_NO, AT(gpu_by_local_rank), 0, 0, "no",
     "Whether a task that sees as many GPUs as its node has tasks uses the one of its local rank."},
    {"Island", KIND_ISLAND, AT(islands), 0, 0, "",
     "Nodes that reach each other over one fabric; between islands there is plain TCP only."},
    {"IslandInterfaces", KIND_INTERFACES, AT(island_interfaces), 0, 0, "",
     "The interfaces by which nodes of different islands reach each other; empty: the management "
     "interface."},
    {"Variable", KIND_VARIABLE, AT(variables), 0, 0, "",
     "What the site sets, extends, leaves to the user or forbids in the environment of tasks."},
    {"Interface", KIND_SETTINGS, AT(netif_lines), 0, 0, "",
     "Settings that interfaces have while jobs run; put back afterwards. May be given several "
     "times."},
    {"OnInterface", KIND_POLICY, AT(on_interface), 0, 0, "log",
     "What happens to a job on a node where such a setting cannot be made."},
    {"InterfaceJournal", KIND_PATH, TEXT(interface_journal), RUN "interfaces",
     "Where a node keeps what its interfaces were before."},
    {"BatteryUser", KIND_USER, TEXT(battery_user), "muster",
     "The user that muster certify runs its MPI programs as, on all nodes; never root."},
    {"MungeSocket", KIND_FILE, TEXT(munge_socket), "",
     "The socket of the munged that seals certificates; empty: MUNGE's own."},
    {"CertificateFile", KIND_PATH, TEXT(certificate_path), STATE "certificate",
     "Where a node keeps its certificate."},
    {"HistoryFile", KIND_PATH, TEXT(history_path), STATE "history.db",
     "Where muster certify keeps what it has measured."},
    {"HistoryKeep", KIND_LONG_TIME, AT(history_keep_s), 86400, 36600.0 * 86400, "730d",
     "How long muster certify keeps runs in HistoryFile."},
    {"Reference", KIND_FILE, TEXT(reference_path), MUSTER_PKGDATADIR "/reference.conf",
     "The table of what others measure on known hardware, as hints; empty: none."},
    {"Golden", KIND_FILE, TEXT(golden_path), "",
     "The expected state of nodes, as muster compare --save-golden wrote it; empty: that of most."},
    {"CompareBy", KIND_COMPARE, AT(compare_by), 0, 0, "gres",
     "The properties in Slurm that two nodes must share, besides their hardware, to be compared."},
    {"Report", KIND_REPORT, AT(reports), 0, 0, "",
     "A report that muster certify writes after each run but a dry one: %r in its path is the "
     "run's name."},
    {"CertificateValidity", KIND_LONG_TIME, AT(certificate_valid_s), 60, 3660.0 * 86400, "7d",
     "How long a certificate is valid."},
    {"WriteExtra", KIND_YES_NO, AT(write_extra), 0, 0, "yes",
     "Whether muster certify writes level and end of a certificate into the node's Extra, so that "
     "jobs can request them."},
    {"OnMissing", KIND_POLICY, AT(on_missing), 0, 0, "log",
     "What happens to a job on a node that has no certificate."},
    {"OnExpired", KIND_POLICY, AT(on_expired), 0, 0, "log",
     "What happens to a job on a node whose certificate has expired."},
    {"OnChanged", KIND_POLICY, AT(on_changed), 0, 0, "log",
     "What happens to a job on a node that has changed since it was certified."},
    {"OnUnverifiable", KIND_POLICY, AT(on_unverifiable), 0, 0, "log",
     "What happens to a job on a node whose MUNGE key does not decode the seal of its "
     "certificate."},
    {"GateBrake", KIND_INTEGER, AT(gate_brake), 1, 1000000, "3",
     "At most this number of nodes refuse jobs for the same cause, within DrainCap. A node needs a "
     "permission, which muster check --health gets. off: no limit and no permission.",
     "off", 0},
    {"LinkNominalPercent", KIND_PERCENT, AT(link_nominal_percent), 0, 100, "80%",
     "A link fails below this share of its nominal speed."},
    {"LinkPeersPercent", KIND_PERCENT, AT(link_peers_percent), 0, 100, "85%",
     "A link fails below this share of the median of its peers."},
    {"LatencyPeersRatio", KIND_DECIMAL, AT(latency_peers_ratio), 1, 1000, "5",
     "A link is warned about above this multiple of its peers' median latency."},
    {"LinkTimes", KIND_INTEGER, AT(link_times), 1, 100, "auto",
     "How often all pairs of nodes are measured, if there is time; auto: up to four times if there "
     "are few nodes.",
     "auto", 0},
    {"Concurrency", KIND_INTEGER, AT(concurrency), 1, 100000, "auto",
     "Pairs of nodes that muster certify measures at once. auto: as many as there are, but no more "
     "ranks on a machine than its processors can run.",
     "auto", 0},
    {"LeafConcurrency", KIND_INTEGER, AT(leaf_concurrency), 1, 100000, "all",
     "Of these, pairs within one leaf switch.", "all", 0},
    {"UplinkConcurrency", KIND_INTEGER, AT(uplink_concurrency), 1, 100000, "auto",
     "Of these, pairs across the uplinks of one leaf switch. auto: as few as the rounds allow, and "
     "beside jobs a quarter of its nodes.",
     "auto", 0},
    {"ClockOffsetMs", KIND_DECIMAL, AT(clock_offset_ms), 0.001, 3.6e6, "1000",
     "How far the clocks of two nodes may be apart, in milliseconds."},
    {"AllowFailedRails", KIND_INTEGER, AT(allow_failed_rails), 0, 64, "none",
     "A node with at most this number of bad rails, and a good one, is certified; tasks are kept "
     "off the bad ones.",
     "none", 0},
    {"DrainCap", KIND_PERCENT, AT(drain_cap_percent), 0, 100, "25%",
     "At most this share of the cluster's nodes is drained by muster at a time, but at least one "
     "node."},
    {"Strikes", KIND_INTEGER, AT(strikes), 1, 100, "3",
     "How often the same part must fail near its limit within StrikeWindow before its node is "
     "drained; until then the node is a suspect."},
    {"StrikeWindow", KIND_LONG_TIME, AT(strike_window_s), 60, 366.0 * 86400, "1d",
     "How long a failure near the limit is remembered against a node."},
    {"TestCap", KIND_PERCENT, AT(test_cap_percent), 0, 100, "100%",
     "At most this share of the cluster's nodes is in tests at a time, but at least two nodes."},
    {"IdleCap", KIND_PERCENT, AT(idle_cap_percent), 0, 100, "2%",
     "At most this share of the cluster's nodes is chosen by one muster certify --idle, but at "
     "least two nodes."},
    {"IdleGrace", KIND_TIME, AT(idle_grace_s), 5, 3600, "30s",
     "How soon muster certify --idle gives its nodes back to a job that wants them."},
    {"GpuLibraryPath", KIND_PATH_LIST, TEXT(gpu_library_path), "",
     "The directories that are searched first for libraries of accelerators, such as "
     "libnvidia-ml.so.1 and libnvrtc.so.12; empty: only the usual places."},
    {"GpuContainer", KIND_WORDS, TEXT(gpu_container), "",
     "The container that muster certify and preflight run muster-gpu in: options of srun such as "
     "--container-image=FILE (pyxis), or a command such as apptainer exec --nv FILE."},
    {"GpuDeadline", KIND_TIME, AT(gpu_deadline_s), 1, 300, "15s",
     "How long such a library may take to report on all accelerators; then it is killed."},
    {"KernelLog", KIND_KERNEL, AT(kernel_rules), 0, 0, "",
     "The consequence of an event of the kernel log, instead of that of muster-codes(7)."},
    {"Mounts", KIND_PATHS, AT(mounts), 0, 0, "",
     "File systems that must be mounted and answer; with :rw behind it, not read-only."},
    {"Services", KIND_SERVICES, AT(services), 0, 0, "", "Services of systemd that must run."},
    {"DiskTestPath", KIND_FILE, TEXT(disk_test_path), "",
     "The folder on a local disk of each node in which muster-host tests that disk; empty: no disk "
     "is tested."},
    {"HealthDrain", KIND_YES_NO, AT(health_drain), 0, 0, "no",
     "Whether muster check --health drains its own node when a part of it is missing or dead."},
    {"QuickBudget", KIND_TIME, AT(quick_budget_s), 1, PROGRAM_TIME_LIMIT_MOST_S, "auto",
     "How long muster certify --level quick may take. auto: by nodes, rails and rounds.", "auto",
     0},
    {"StandardBudget", KIND_TIME, AT(standard_budget_s), 1, PROGRAM_TIME_LIMIT_MOST_S, "auto",
     "How long muster certify --level standard may take. auto: by nodes, rails and rounds.", "auto",
     0},
    {"FullBudget", KIND_TIME, AT(full_budget_s), 1, PROGRAM_TIME_LIMIT_MOST_S, "auto",
     "How long muster certify --level full may take. auto: by nodes, rails and rounds.", "auto", 0},
    {"Preflight", KIND_PREFLIGHT, AT(preflight), 0, 0, "off",
     "The preflight that srun runs on a step's nodes before the step, unless --preflight says "
     "otherwise."},
    {"PreflightBudget", KIND_TIME, AT(preflight_budget_s), 5, 3600, "30s",
     "How long a preflight may take; what is not known by then does not hold up the step."},
    {"PreflightGpus", KIND_YES_NO, AT(preflight_gpus), 0, 0, "yes",
     "Whether a preflight loads the GPUs of a job that has some."},
};

enum { KEY_COUNT = sizeof keys / sizeof *keys };

_Static_assert(sizeof(STATE "certificate") <= sizeof((struct conf *)0)->certificate_path,
               "localstatedir is too long");
_Static_assert(sizeof(MUSTER_PKGDATADIR "/reference.conf") <=
                   sizeof((struct conf *)0)->reference_path,
               "pkgdatadir is too long");
_Static_assert(AT(master_port_last) == AT(master_port_first) + sizeof(int),
               "KIND_PORTS wants its two numbers side by side");

static const char *const policy_names[] = {"ignore", "log", "refuse"};

const char *conf_policy_name(enum conf_policy policy)
{
    return (unsigned)policy <= POLICY_REFUSE ? policy_names[policy] : "unknown";
}

static const char *const preflight_names[] = {"off", "quick", "standard"};

const char *conf_preflight_name(enum conf_preflight level)
{
    return (unsigned)level <= PREFLIGHT_STANDARD ? preflight_names[level] : "unknown";
}

int conf_preflight_parse(const char *name)
{
    for (int level = PREFLIGHT_OFF; level <= PREFLIGHT_STANDARD; level++)
        if (strcasecmp(name, preflight_names[level]) == 0)
            return level;
    return -1;
}

const char *conf_default_path(void)
{
    return MUSTER_SYSCONFDIR "/muster/muster.conf";
}

int conf_key(size_t index, const char **name, const char **default_text, const char **help)
{
    if (index >= KEY_COUNT)
        return -1;
    *name = keys[index].name;
    if (default_text)
        *default_text = keys[index].default_text;
    if (help)
        *help = keys[index].help;
    return 0;
}

void conf_defaults(struct conf *conf)
{
    *conf = (struct conf){0};
    for (size_t i = 0; i < KEY_COUNT; i++)
        conf_value_set(conf, &keys[i], keys[i].default_text, 0,
                       NULL); /* unit tests check each default */
}

void conf_clear(struct conf *conf)
{
    if (!conf)
        return;
    hostlist_clear(&conf->fabric_interfaces);
    hostlist_clear(&conf->island_interfaces);
    hostlist_clear(&conf->mounts);
    hostlist_clear(&conf->services);
    conf_site_clear(conf);
    free(conf->reports);
    free(conf->kernel_rules);
    for (size_t i = 0; i < conf->nominal_speed_count; i++)
        hostlist_clear(&conf->nominal_speeds[i].interfaces);
    for (size_t i = 0; i < conf->netif_line_count; i++)
        netif_line_clear(&conf->netif_lines[i]);
    *conf = (struct conf){0};
}

static const struct conf_key *nearest_key(const char *name)
{
    const struct conf_key *nearest = NULL;
    size_t least = SIZE_MAX;

    for (size_t i = 0; i < KEY_COUNT; i++) {
        size_t distance = text_distance(name, keys[i].name);

        if (distance < least) {
            least = distance;
            nearest = &keys[i];
        }
    }
    /* a key that differs in more than half of its letters is another word */
    return nearest && 2 * least <= strlen(nearest->name) ? nearest : NULL;
}

static int unknown_key(const char *name, struct error *err)
{
    const struct conf_key *nearest = nearest_key(name);

    if (nearest)
        return error_set(err, "found an unknown key \"%.60s\", nearest is %s", name, nearest->name);
    return error_set(err, "found an unknown key \"%.60s\", allowed are those of muster.conf(5)",
                     name);
}

/* Cuts blanks at both ends of text in place. */
static char *trim(char *text)
{
    char *end;

    text += strspn(text, " \t");
    end = text + strlen(text);
    while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = '\0';
    return text;
}

/* Reads one line without its end. seen: for each key the line that set it, or 0. */
static int read_line(struct conf *conf, char *line, unsigned number, unsigned *seen,
                     struct error *err)
{
    char *equals, *name, *value;
    bool may_be_unknown;
    size_t i = 0;

    for (const char *c = line; *c; c++)
        if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7f)
            return error_set(err, "found a control character (byte 0x%02x)", (unsigned char)*c);
    line[strcspn(line, "#")] = '\0';
    name = trim(line);
    if (!*name)
        return 0;
    may_be_unknown = *name == '-';
    name += may_be_unknown;
    equals = strchr(name, '=');
    if (!equals || equals == name)
        return error_set(err, "found \"%.60s\", expected Key=Value", name);
    *equals = '\0';
    name = trim(name);
    value = trim(equals + 1);
    while (i < KEY_COUNT && strcasecmp(name, keys[i].name) != 0)
        i++;
    if (i == KEY_COUNT)
        return may_be_unknown ? 0 : unknown_key(name, err);
    if (seen[i] && !conf_value_is_repeatable(&keys[i]))
        return error_set(err, "%s: found a second time, first in line %u", keys[i].name, seen[i]);
    seen[i] = number;
    /* a list replaces its default, as every other value does */
    if (conf_value_is_list(&keys[i]))
        hostlist_clear((struct hostlist *)((char *)conf + keys[i].offset));
    if (conf_value_set(conf, &keys[i], value, number, err) != 0)
        return error_prefix(err, "%s=%.60s%s", keys[i].name, value,
                            strlen(value) > 60 ? "..." : "");
    return 0;
}

static int read_text(const char *path, char *text, struct conf *conf, struct error *err)
{
    unsigned seen[KEY_COUNT] = {0};
    char *line = text;

    for (unsigned number = 1; *line; number++) {
        size_t length = strcspn(line, "\n");
        char *next = line + length + (line[length] == '\n');

        length -= length > 0 && line[length - 1] == '\r';
        line[length] = '\0';
        if (length > CONF_LINE)
            return error_set(err, "%s:%u: found a line of %zu bytes, allowed %d", path, number,
                             length, CONF_LINE);
        if (read_line(conf, line, number, seen, err) != 0)
            return error_prefix(err, "%s:%u", path, number);
        line = next;
    }
    return 0;
}

int conf_load(const char *path, char **text, struct error *err)
{
    return regular_file_read(path ? path : conf_default_path(), FILE_MAX, text, err);
}

int conf_parse(const char *path, char *text, struct conf *conf, struct error *err)
{
    conf_defaults(conf);
    if (!path)
        path = conf_default_path();
    snprintf(conf->file, sizeof conf->file, "%s", base_name(path));
    if (read_text(path, text, conf, err) == 0)
        return 0;
    conf_clear(conf);
    conf_defaults(conf);
    return -1;
}

int conf_read(const char *path, struct conf *conf, struct error *err)
{
    char *text;
    int result = conf_load(path, &text, err);

    if (result != 0) {
        conf_defaults(conf);
        return result;
    }
    result = conf_parse(path, text, conf, err);
    free(text);
    return result;
}

double conf_nominal_mbps(const struct conf *conf, const char *interface)
{
    char device[64];

    for (size_t i = 0; i < conf->nominal_speed_count; i++)
        if (hostlist_contains(&conf->nominal_speeds[i].interfaces, interface))
            return conf->nominal_speeds[i].mbps;
    if (!strchr(interface, ':'))
        return -1;
    snprintf(device, sizeof device, "%.*s", (int)strcspn(interface, ":"), interface);
    return conf_nominal_mbps(conf, device);
}

int conf_key_print(const struct conf *conf, size_t index, FILE *stream)
{
    return index < KEY_COUNT ? conf_value_print(conf, &keys[index], stream) : -1;
}

int conf_print(const struct conf *conf, FILE *stream)
{
    char allowed[CONF_ALLOWED];

    for (size_t i = 0; i < KEY_COUNT; i++) {
        conf_value_allowed(&keys[i], allowed, sizeof allowed);
        fprintf(stream, "%s# %s\n# Allowed: %s.\n%s=", i ? "\n" : "", keys[i].help, allowed,
                keys[i].name);
        if (conf_value_print(conf, &keys[i], stream) != 0)
            return -1;
        fputc('\n', stream);
    }
    return ferror(stream) || fflush(stream) != 0 ? -1 : 0;
}
