/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/doctor/doctor.h"

#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/base/path.h"
#include "lib/base/sha256.h"
#include "lib/base/sysfs.h"
#include "lib/base/text.h"
#include "lib/certificate/seal.h"
#include "lib/constants/command_constants.h"
#include "validate/checks/checks.h"
#include "validate/command/plugstack.h"
#include "validate/history/history.h"
#include "validate/slurm/release.h"
#include "validate/slurm/step/process.h"

static const char *path_below(const struct doctor_site *site, const char *path)
{
    static char whole[1200];

    snprintf(whole, sizeof whole, "%s%s", path == site->config ? "" : site->root, path);
    return whole;
}

/* Whether users can read the file, as their srun must. Sets *mode to its mode. */
static bool is_for_all(const struct doctor_site *site, const char *path, unsigned *mode)
{
    struct stat status;

    *mode = stat(path_below(site, path), &status) == 0 ? (unsigned)status.st_mode & 07777 : S_IROTH;
    return *mode & S_IROTH;
}

static enum verdict look_version(const struct doctor_site *site, char found[DOCTOR_FOUND])
{
    (void)site;
    return FOUND(VERDICT_PASS, "muster " PACKAGE_VERSION);
}

static enum verdict look_slurm(const struct doctor_site *site, char found[DOCTOR_FOUND])
{
    if (*site->slurm_error.text)
        return FOUND(*site->slurm_directory ? VERDICT_UNKNOWN : VERDICT_FAIL, "%s",
                     site->slurm_error.text);
    if (site->slurm.file_count > 0)
        return FOUND(VERDICT_PASS, "%s", site->slurm.files[0]);
    return FOUND(VERDICT_PASS, "%s/slurm.conf", site->slurm_directory);
}

/* Reports a hash of the configuration file, so that nodes with another file differ. */
static enum verdict look_configuration(const struct doctor_site *site, char found[DOCTOR_FOUND])
{
    const char *path = site->config ? site->config : conf_default_path();
    struct error err;
    struct sha256 sum;
    unsigned char digest[32];
    char *text = NULL;
    struct conf conf;
    unsigned mode;
    int rv = conf_load(path_below(site, path), &text, &err);

    if (rv == 1)
        return FOUND(VERDICT_PASS, "no %s: using the defaults", path);
    if (rv != 0)
        return FOUND(VERDICT_FAIL, "%s", err.text);
    sha256_start(&sum);
    sha256_add(&sum, text, strlen(text));
    sha256_end(&sum, digest);
    rv = conf_parse(path, text, &conf, &err);
    conf_clear(&conf);
    free(text);
    if (rv != 0)
        return FOUND(VERDICT_FAIL, "%s", err.text);
    if (!is_for_all(site, path, &mode))
        return FOUND(VERDICT_FAIL, "%s has mode %04o: users' srun cannot read it; chmod a+r", path,
                     mode);
    return FOUND(VERDICT_PASS, "%s is valid, checksum %02x%02x%02x%02x", path, digest[0], digest[1],
                 digest[2], digest[3]);
}

/* Whether the plugin's file is there, where Slurm looks for it, _spank_plugin_find() of its
 * plugstack.c. Sets where to its directory, or to all that lack it. */
static bool has_plugin(const struct doctor_site *site, const char *file, char where[512])
{
    char list[512], path[1024], *rest = list, *directory;

    if (*file == '/' && path_directory(file, where, sizeof list))
        return access(path_below(site, file), R_OK) == 0;
    if (!slurm_lines_value(&site->slurm, "PluginDir", where, sizeof list))
        snprintf(where, sizeof list, "%s", MUSTER_SLURMPLUGINDIR);
    snprintf(list, sizeof list, "%s", where);
    while ((directory = strsep(&rest, ":"))) {
        snprintf(path, sizeof path, "%s/%s", directory, file);
        if (access(path_below(site, path), R_OK) != 0)
            continue;
        snprintf(where, sizeof list, "%s", directory);
        return true;
    }
    return false;
}

static enum verdict look_plugin(const struct doctor_site *site, char found[DOCTOR_FOUND])
{
    struct plugstack_line line;
    char stack[1024], where[512];
    bool is_on, is_there;
    unsigned mode;

    plugstack_path(&site->slurm, *site->slurm_directory ? site->slurm_directory : "/etc/slurm",
                   stack, sizeof stack);
    if (!is_for_all(site, stack, &mode))
        return FOUND(
            VERDICT_FAIL,
            "%s has mode %04o: Slurm starts no srun of users, who cannot read it; chmod a+r", stack,
            mode);
    is_on = plugstack_loads(site->root, stack, &line);
    is_there = has_plugin(site, is_on ? line.file : "spank_muster.so", where);
    if (!is_on)
        return FOUND(is_there ? VERDICT_WARN : VERDICT_FAIL,
                     "off: no line of %s loads spank_muster.so, which is %sin %s", stack,
                     is_there ? "" : "not ", where);
    return FOUND(is_there ? VERDICT_PASS : VERDICT_FAIL, "%s by %s, %sin %s", line.need, stack,
                 is_there ? "" : "not ", where);
}

static enum verdict look_battery(const struct doctor_site *site, char found[DOCTOR_FOUND])
{
    static const char *const programs[] = {"muster-launch", "muster-links", "muster-collectives"};
    char path[512];

    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        snprintf(path, sizeof path, "%s/%s", MUSTER_BINDIR, programs[i]);
        if (access(path_below(site, path), X_OK) != 0)
            return FOUND(VERDICT_FAIL, "%s: %s", path, strerror(errno));
    }
    return FOUND(VERDICT_PASS, "its programs are in %s", MUSTER_BINDIR);
}

static enum verdict look_user(const struct doctor_site *site, char found[DOCTOR_FOUND])
{
    const char *name = site->conf->battery_user;
    FILE *file = *site->root ? fopen(path_below(site, "/etc/passwd"), "re") : NULL;
    const struct passwd *user = NULL;
    enum verdict verdict;

    if (!*site->root)
        user = getpwnam(name);
    while (file && (user = fgetpwent(file)) && strcmp(user->pw_name, name) != 0)
        ;
    verdict = user ? FOUND(VERDICT_PASS, "%s, UID %u", name, (unsigned)user->pw_uid)
                   : FOUND(VERDICT_FAIL, "no user %s", name);
    if (file)
        fclose(file);
    return verdict;
}

struct worst {
    enum verdict verdict;
    char *found;
};

static void take_record(const struct record *record, void *context)
{
    struct worst *worst = context;

    if (record->verdict >= worst->verdict && record->message)
        text_put(worst->found, DOCTOR_FOUND, "%s", record->message);
    if (record->verdict > worst->verdict)
        worst->verdict = record->verdict;
}

/* Runs a test of muster check. Returns its worst verdict, with its message in found. */
static enum verdict look_check(const struct doctor_site *site, const char *test,
                               char found[DOCTOR_FOUND])
{
    struct worst worst = {VERDICT_NONE, found};
    const struct checks checks = {.root = site->root,
                                  .node = "",
                                  .conf = site->conf,
                                  .inventory = site->inventory,
                                  .fabric = site->fabric,
                                  .sink = take_record,
                                  .context = &worst};

    for (size_t i = 0; i < check_count; i++)
        if (strcmp(check_table[i].name, test) == 0)
            check_run(&check_table[i], &checks);
    return worst.verdict;
}

/* Checks munged by making a seal: even if Slurm has another AuthType, certificates need munged. */
static enum verdict look_munge(const struct doctor_site *site, char found[DOCTOR_FOUND])
{
    static const char text[] = "muster doctor";
    enum verdict verdict = look_check(site, "host.munge", found);
    size_t length = strlen(found);
    char *seal = NULL;
    struct error err;

    if (verdict == VERDICT_SKIP && !*site->root) {
        verdict = seal_make(text, strlen(text), &seal, &err) == 0 ? VERDICT_PASS : VERDICT_WARN;
        text_put(found + length, DOCTOR_FOUND - length,
                 "; certificates are sealed by MUNGE, which %s%s",
                 verdict == VERDICT_PASS ? "answers" : "does not answer: ",
                 verdict == VERDICT_PASS ? "" : err.text);
    }
    free(seal);
    return verdict;
}

/* Returns the number of nodes in slurm.conf. */
static size_t nodes_named(const struct slurm_lines *lines)
{
    size_t count = 0;

    for (size_t i = 0; i < lines->count; i++) {
        char *text = strncasecmp(lines->lines[i].text, "NodeName", strlen("NodeName")) == 0
                         ? slurm_line_text(&lines->lines[i], "NodeName")
                         : NULL;
        struct hostlist names = {0};

        if (text && strcasecmp(text, "DEFAULT") != 0 && hostlist_expand(text, &names, NULL) == 0)
            count += names.count;
        hostlist_clear(&names);
        free(text);
    }
    return count;
}

static bool is_rail(const struct fabric *fabric, const struct nic *nic)
{
    for (size_t i = 0; i < fabric->rail_count; i++)
        if (fabric->rails[i].nic == nic)
            return true;
    return false;
}

/* Returns how many entries in the neighbor table `nodes` nodes can cause on this host, over all its
 * networks: a network has no more nodes than addresses, and nodes behind a router are no neighbors.
 */
static size_t neighbors_most(const struct doctor_site *site, size_t nodes)
{
    size_t most = 0;

    for (size_t i = 0; i < site->inventory->nic_count; i++) {
        const struct nic *nic = &site->inventory->nics[i];

        if (!nic->is_physical && !nic->has_default_route && !is_rail(site->fabric, nic))
            continue; /* a bridge of containers */
        for (size_t k = 0; k < nic->address_count; k++) {
            const char *slash = strchr(nic->addresses[k], '/');
            int length = slash ? atoi(slash + 1) : 32;
            double room = ldexp(1, 32 - length) - 2;

            if (!strchr(nic->addresses[k], ':') && room > 0)
                most += room < (double)nodes ? (size_t)room : nodes;
        }
    }
    return most;
}

/* Checks the size of the kernel's neighbor table: if it is full, addresses are not resolved, which
 * looks like bad links. */
static enum verdict look_neighbors(const struct doctor_site *site, char found[DOCTOR_FOUND])
{
    long long limit = sysfs_number(site->root, "proc/sys/net/ipv4/neigh/default/gc_thresh3");
    size_t nodes = nodes_named(&site->slurm), most = neighbors_most(site, nodes);

    if (limit < 0 || nodes == 0)
        return FOUND(VERDICT_SKIP, "%s",
                     limit < 0 ? "gc_thresh3 of the neighbor table cannot be read"
                               : "slurm.conf names no nodes");
    return FOUND(
        (long long)most > limit ? VERDICT_WARN : VERDICT_PASS,
        "the neighbor table holds %lld addresses (gc_thresh3), the nodes on this host's networks "
        "may have %zu",
        limit, most);
}

static enum verdict look_space(const struct doctor_site *site, const char *path, double least_MB,
                               char found[DOCTOR_FOUND])
{
    struct statvfs space;
    double free_MB;

    if (statvfs(path_below(site, path), &space) != 0)
        return FOUND(VERDICT_FAIL, "%s: %s", path, strerror(errno));
    free_MB = (double)space.f_bavail * (double)space.f_frsize / 1e6;
    if (free_MB < least_MB)
        return FOUND(VERDICT_FAIL, "%s has %.0f MB left, expected %.0f", path, free_MB, least_MB);
    return FOUND(VERDICT_PASS, "%s has room", path);
}

static enum verdict look_state(const struct doctor_site *site, char found[DOCTOR_FOUND])
{
    char path[sizeof site->conf->certificate_path], *directory;

    snprintf(path, sizeof path, "%s", site->conf->certificate_path);
    directory = dirname(path);
    /* muster makes the directory if only its last component is missing */
    if (access(path_below(site, directory), F_OK) != 0 && errno == ENOENT)
        directory = dirname(directory);
    return look_space(site, directory, DOCTOR_STATE_MB, found);
}

static enum verdict look_spool(const struct doctor_site *site, char found[DOCTOR_FOUND])
{
    char path[512], *pattern;

    if (!slurm_lines_value(&site->slurm, "SlurmdSpoolDir", path, sizeof path))
        snprintf(path, sizeof path, "/var/spool/slurmd");
    pattern = strchr(path, '%');
    if (pattern)
        pattern[1] = '\0'; /* one directory per node, by its name: use its parent */
    return look_space(site, pattern ? dirname(path) : path, DOCTOR_SPOOL_MB, found);
}

static enum verdict look_health(const struct doctor_site *site, char found[DOCTOR_FOUND])
{
    char program[200], interval[32], states[64];

    if (!slurm_lines_value(&site->slurm, "HealthCheckProgram", program, sizeof program))
        return FOUND(VERDICT_WARN, "slurm.conf has no HealthCheckProgram");
    slurm_lines_value(&site->slurm, "HealthCheckInterval", interval, sizeof interval);
    slurm_lines_value(&site->slurm, "HealthCheckNodeState", states, sizeof states);
    if (strtol(interval, NULL, 10) <= 0)
        return FOUND(VERDICT_WARN, "slurmd does not run %s: HealthCheckInterval is %s", program,
                     *interval ? interval : "not set");
    if (strcasestr(states, "START_ONLY"))
        return FOUND(VERDICT_WARN, "slurmd runs %s only as it starts: HealthCheckNodeState=%s",
                     program, states);
    return FOUND(VERDICT_PASS, "HealthCheckProgram=%s", program);
}

static enum verdict look_timer(const struct doctor_site *site, char found[DOCTOR_FOUND])
{
    static const char link[] = "/etc/systemd/system/timers.target.wants/muster-certify.timer";

    if (access(path_below(site, link), F_OK) != 0)
        return FOUND(
            VERDICT_WARN,
            "muster-certify.timer is not enabled on this host: certificates end unrenewed");
    return FOUND(VERDICT_PASS, "muster-certify.timer is enabled");
}

static void take_type(const char *line, bool is_error, void *context)
{
    char *found = context, *word, *rest, text[200];

    (void)is_error; /* srun of 22.05 prints the list on standard error */
    snprintf(text, sizeof text, "%s", line);
    for (word = strtok_r(text, " \t:,", &rest); word; word = strtok_r(NULL, " \t:,", &rest))
        if (strncmp(word, "pm", 2) == 0 || strcmp(word, "cray_shasta") == 0)
            text_join(found, DOCTOR_FOUND, " ", "%s", word);
}

static enum verdict look_mpi(const struct doctor_site *site, char found[DOCTOR_FOUND])
{
    static char srun[] = "srun", list[] = "--mpi=list", *argv[] = {srun, list, NULL};
    char standard[64], types[DOCTOR_FOUND] = "";
    struct process_result result;
    struct error err;

    slurm_lines_value(&site->slurm, "MpiDefault", standard, sizeof standard);
    if (*site->root)
        return FOUND(VERDICT_SKIP, "srun not queried for a recorded tree");
    if (process_run(&(struct process){.argv = argv,
                                      .deadline_s = 10,
                                      .grace_s = 1,
                                      .on_line = take_type,
                                      .context = types},
                    &result, &err) != 0)
        return FOUND(VERDICT_UNKNOWN, "%s", err.text);
    return FOUND(!*types                                           ? VERDICT_FAIL
                 : !*standard || strcasecmp(standard, "none") == 0 ? VERDICT_WARN
                 : !strstr(types, standard)                        ? VERDICT_FAIL
                 : strncasecmp(standard, "pmix", 4) != 0           ? VERDICT_WARN
                                                                   : VERDICT_PASS,
                 "srun has %.200s%s; MpiDefault is %s", *types ? types : "no PMI type",
                 strstr(types, "pmix") ? "" : " but no pmix, which Open MPI needs",
                 *standard ? standard : "not set");
}

static enum verdict look_pmix(const struct doctor_site *site, char found[DOCTOR_FOUND])
{
    struct slurm_lines lines;
    struct error err;
    char standard[64], direct[16] = "";
    bool is_set;

    slurm_lines_value(&site->slurm, "MpiDefault", standard, sizeof standard);
    if (!release_pmix_refuses() || strncasecmp(standard, "pmix", 4) != 0)
        return FOUND(VERDICT_PASS, "%s",
                     release_pmix_refuses() ? "MpiDefault is not pmix" : "nothing to set");
    if (slurm_lines_read(site->root, site->slurm_directory, "mpi.conf", &lines, &err) == 0)
        slurm_lines_value(&lines, "PMIxDirectConn", direct, sizeof direct);
    slurm_lines_clear(&lines);
    is_set = strcasecmp(direct, "false") == 0 || strcasecmp(direct, "no") == 0;
    return FOUND(is_set ? VERDICT_PASS : VERDICT_WARN, "PMIxDirectConn in mpi.conf is %s%s",
                 *direct ? direct : "not set",
                 is_set ? "" : ": with Slurm before 23.02 MPI_Init can hang on busy nodes");
}

static enum verdict look_last_run(const struct doctor_site *site, char found[DOCTOR_FOUND])
{
    struct history_run run;
    struct error err = {""};
    char text[192];
    int rv = history_run_find(path_below(site, site->conf->history_path), "last", &run, text, &err);

    if (rv < 0)
        return FOUND(VERDICT_UNKNOWN, "%s", err.text);
    if (rv == 0)
        return FOUND(VERDICT_WARN, "nothing was certified from this host");
    return FOUND(VERDICT_PASS, "%s ended with %d", run.run, run.status);
}

const struct precondition precondition_table[] = {
    {"version", "install the same package on head and nodes", look_version, ON_ALL, SAME},
    {"slurm", "install Slurm's configuration, or name it in SLURM_CONF", look_slurm, ON_ALL},
    {"configuration",
     "correct the line (muster conf --check); use one file on head and nodes, with lines that are "
     "right for all of them (GPUsPerNode, FabricInterfaces: only where all nodes are alike)",
     look_configuration, ON_ALL, SAME_ON_NODES},
    {"plugin", "install libspank-muster for this Slurm, and make its line in plugstack.conf active",
     look_plugin, ON_NODES},
    {"battery", "install the package muster, or make install", look_battery, ON_NODES},
    {"user", "create BatteryUser with the same UID on head and nodes (operations.md, 1)", look_user,
     ON_ALL, SAME},
    {"munge", "start munged, and copy the same munge.key to head and nodes", look_munge, ON_ALL},
    {"clock", "run chrony or another NTP client", NULL, ON_ALL, .test = "host.clock"},
    {"limits", "raise slurmd's limits (systemctl edit slurmd)", NULL, ON_NODES,
     .test = "host.limits"},
    {"neighbors",
     "set net.ipv4.neigh.default.gc_thresh3 above that in /etc/sysctl.d, and gc_thresh2 to half",
     look_neighbors, ON_ALL},
    {"state", "create the directory of CertificateFile, owned by root, or free space there",
     look_state, ON_ALL},
    {"spool", "free space in SlurmdSpoolDir", look_spool, ON_NODES},
    {"health", "set HealthCheckProgram and HealthCheckInterval in slurm.conf (operations.md, 9)",
     look_health, ON_HEAD},
    {"timer", "systemctl enable --now muster-certify.timer, on one host", look_timer, ON_HEAD},
    {"mpi",
     "set MpiDefault in slurm.conf to a type that matches the MPI, or use certify --mpi TYPE",
     look_mpi, ON_HEAD},
    {"transports",
     "install UCX's modules for these ports (on RHEL ucx-ib, ucx-rdmacm) and the drivers of "
     "rdma-core; try muster-links --transports as BatteryUser",
     doctor_look_transports, ON_NODES},
    {"ports",
     "open the TCP ports of net.ipv4.ip_local_port_range between nodes, or those to which the site "
     "limits MPI, UCX and srun (SrunPortRange)",
     doctor_look_ports, ON_NODES},
    {"pmix", "PMIxDirectConn=false and PMIxCollFence=tree in mpi.conf", look_pmix, ON_ALL},
    {"last-run", "muster certify", look_last_run, ON_HEAD},
    /* of the cluster, checked by doctor_cluster() */
    {"controller", "start slurmctld, and check that this host reaches it"},
    {"slurmd", "start slurmd, open its port to this host"},
    {"extra", "empty Extra, or make it a JSON object (scontrol update node=NODE extra=...)"},
    {"answer", "run muster doctor --here on the node"},
    {"time", "run chrony or another NTP client on head and node"},
};
const size_t precondition_count = sizeof precondition_table / sizeof *precondition_table;

const struct precondition *precondition_find(const char *name)
{
    for (size_t i = 0; i < precondition_count; i++)
        if (strcmp(precondition_table[i].name, name) == 0)
            return &precondition_table[i];
    return NULL;
}

void doctor_host(const struct doctor_site *site, const char *host, bool is_head,
                 struct findings *findings)
{
    for (size_t i = 0; i < precondition_count; i++) {
        const struct precondition *each = &precondition_table[i];
        char found[DOCTOR_FOUND] = "";
        enum verdict verdict;

        if (!(each->hosts & (is_head ? ON_HEAD : ON_NODES)))
            continue;
        verdict = each->check ? each->check(site, found) : look_check(site, each->test, found);
        doctor_add(findings, host, each->name, verdict, found);
    }
}
