/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CONF_H
#define MUSTER_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/base/error.h"
#include "lib/base/fabric_class.h"
#include "lib/base/hostlist.h"
#include "lib/catalog/kernel_event.h"
#include "lib/conf/netif.h"

/* muster.conf: the site's configuration. It has `Key=Value` lines like Slurm's; `#` begins a
 * comment, and keys may be in any case. A line that begins with '-' may have an unknown key, that
 * of a newer muster, and is skipped then, as sysctl.d(5) has it. One table in conf.c drives
 * parsing, messages, `muster conf` and muster.conf(5). */

enum conf_policy { POLICY_IGNORE, POLICY_LOG, POLICY_REFUSE };
const char *conf_policy_name(enum conf_policy policy); /* "ignore", "log", "refuse" */

/* The level of the preflight, a short battery before a step; or off. */
enum conf_preflight { PREFLIGHT_OFF, PREFLIGHT_QUICK, PREFLIGHT_STANDARD };
const char *conf_preflight_name(enum conf_preflight level); /* "off", "quick", "standard" */
/* Returns the level with this name, in any case; -1 if there is none. */
int conf_preflight_parse(const char *name);

/* The configured speed of interfaces, for links whose speed in sysfs is wrong (virtual functions,
 * shaped links). */
struct nominal_speed {
    struct hostlist interfaces;
    double mbps;
};

/* The properties in Slurm that two nodes must share, besides their hardware, to be compared. */
enum conf_compare { COMPARE_GRES = 1, COMPARE_FEATURES = 2, COMPARE_PARTITIONS = 4 };
/* Parses "gres,features", "none". Returns 0, or -1 for another text. */
int conf_compare_parse(const char *text, unsigned *by);

/* Nodes that reach each other over one fabric; between islands there is only plain TCP. */
struct island {
    char name[32];
    struct hostlist nodes;
    enum fabric_class fabric;
    unsigned line; /* of the file */
};

/* The action for a variable of tasks. */
enum variable_action {
    VARIABLE_SET,
    VARIABLE_EXTEND, /* append value to the present value */
    VARIABLE_LEAVE,  /* muster does not set it; the user may */
    VARIABLE_FORBID, /* nobody may set it */
};

/* One line Variable=...; it applies if all of its conditions hold. */
struct variable_line {
    char name[64];
    enum variable_action action;
    bool is_forced; /* overrides the user's value */
    char value[1024];
    char separator[8];
    struct hostlist partitions, nodes, accounts; /* empty: any */
    unsigned fabrics;                            /* bits 1 << enum fabric_class; 0: any */
    unsigned line;                               /* of the file */
};

/* One line KernelLog=SOURCE:EVENT:ACTION. */
struct kernel_rule {
    char source[KERNEL_NAME], name[KERNEL_NAME]; /* of kernel_event_find() */
    enum kernel_action action;
    unsigned line; /* of the file */
};

/* One line Report=FORMAT:PATH. */
struct conf_report {
    const char *format; /* one of conf_report_format() */
    char path[256];     /* absolute; %r stands for the run's name, %% for a percent sign */
};

/* Returns the format of Report with this index, from 0; NULL past the last one. */
const char *conf_report_format(size_t index);

enum { CONF_NOMINAL_SPEEDS = 16, CONF_INTERFACES = 1024 /* names in one list */ };

struct conf {
    char file[64];                     /* last component of the file's path: "muster.conf" */
    char management_interface[64];     /* ManagementInterface=eth0; "": by the default route */
    struct hostlist fabric_interfaces; /* FabricInterfaces=eth[1-2],mlx5_0; empty: automatic */
    struct nominal_speed nominal_speeds[CONF_NOMINAL_SPEEDS]; /* NominalSpeed=eth[1-2]:200Mb/s */
    size_t nominal_speed_count;
    int mtu_bytes;     /* MTU=9000 of the fabric's interfaces; 0: the majority decides */
    int gpus_per_node; /* GPUsPerNode=8; -1: by gres.conf and the peers */
    int memlock_mb;    /* MemlockMB: least RLIMIT_MEMLOCK, 10^6 bytes; -1 unlimited (default) */
    int shm_mb;        /* ShmMB: least size of /dev/shm, 10^6 bytes; 0 any (default) */

    bool set_environment;                    /* SetEnvironment=yes */
    bool check_steps;                        /* CheckSteps=yes */
    int master_port_first, master_port_last; /* MasterPorts=29500-29999 */
    bool nearest_rails;                      /* NearestRails=yes: UCX uses rails near the GPUs */
    bool routed_rails;                       /* RailsAreRouted=no; yes: each rail reaches all */
    bool gpu_by_local_rank;                  /* GPUByLocalRank=no */
    struct hostlist island_interfaces;       /* IslandInterfaces=eth0; empty: management */
    struct island *islands;                  /* Island=..., any number of lines */
    size_t island_count;
    struct variable_line *variables; /* Variable=..., any number of lines, in their order */
    size_t variable_count;

    struct netif_line netif_lines[NETIF_LINES]; /* Interface=eth[1-2] mtu=9000 ..., repeatable */
    size_t netif_line_count;
    enum conf_policy on_interface; /* OnInterface: a setting that cannot be made */
    char interface_journal[256];   /* InterfaceJournal=/run/muster/interfaces */

    bool write_extra; /* WriteExtra=yes: level and expiry of certificates in the nodes' Extra */

    char battery_user[33];       /* BatteryUser=muster: the user of certify's MPI programs */
    char munge_socket[108];      /* MungeSocket; "": libmunge's default; for seal_use_socket() */
    char certificate_path[256];  /* CertificateFile; default LOCALSTATEDIR/lib/muster/certificate */
    char history_path[256];      /* HistoryFile; default LOCALSTATEDIR/lib/muster/history.db */
    struct conf_report *reports; /* Report=prometheus:/path, any number of lines */
    size_t report_count;
    long history_keep_s;      /* HistoryKeep=730d */
    char reference_path[256]; /* Reference; default PKGDATADIR/reference.conf */
    char golden_path[256];    /* Golden: the expected state of nodes; "": the majority's */
    unsigned compare_by;      /* CompareBy=gres,features,partitions|none, enum conf_compare */
    long certificate_valid_s; /* CertificateValidity=7d (also h, m, s) */
    enum conf_policy on_missing, on_expired, on_changed; /* OnMissing=log|refuse|ignore */
    enum conf_policy on_unverifiable;                    /* OnUnverifiable=log */
    int gate_brake;                                      /* GateBrake=3; 0: off */

    double link_nominal_percent; /* LinkNominalPercent=80: fail below this share of nominal */
    double link_peers_percent; /* LinkPeersPercent=85: fail below this share of the peers' median */
    double latency_peers_ratio; /* LatencyPeersRatio=5: warn above this multiple of the median */
    int link_times;             /* LinkTimes=3: measurements of all pairs; 0: auto */
    int concurrency;            /* Concurrency=16: pairs at once; 0: auto */
    int leaf_concurrency, uplink_concurrency; /* of these, within a leaf (0: all), and over its
                                                 uplinks (0: auto) */
    double clock_offset_ms;                   /* ClockOffsetMs=1000 */
    int allow_failed_rails;                   /* AllowFailedRails=1; 0: none */
    double drain_cap_percent; /* DrainCap=25%: at most this share of the cluster's nodes drained
                                 by muster at a time, never less than one node */
    int strikes;              /* Strikes=3: failures near the limit until the node is drained */
    long strike_window_s;     /* StrikeWindow=1d: strikes count within this time */
    double test_cap_percent;  /* TestCap=100%: at most this share of the nodes in tests at a time,
                                 never less than two nodes */
    double idle_cap_percent;  /* IdleCap=2%: share of nodes that certify --idle takes, at least 2 */
    double idle_grace_s;      /* IdleGrace=30s: it gives nodes back to a job within this time */
    char gpu_container[1024]; /* GpuContainer: srun's options, or words before a command; "" */
    char gpu_library_path[1024]; /* GpuLibraryPath: directories of NVML and its like, "/a:/b"; "":
                                    the usual ones */
    double gpu_deadline_s;       /* GpuDeadline=15s: for the answer of these libraries */
    struct kernel_rule *kernel_rules; /* KernelLog=xid:63:ignore, any number of lines */
    size_t kernel_rule_count;
    struct hostlist mounts;   /* Mounts=/home,/scratch:rw; empty: none is checked */
    char disk_test_path[256]; /* DiskTestPath=/scratch; "": no disk is tested */
    struct hostlist services; /* Services=sssd,nvidia-fabricmanager; empty: none is checked */
    bool health_drain;        /* HealthDrain=no: muster check --health drains its node */
    double quick_budget_s, standard_budget_s,
        full_budget_s;             /* QuickBudget=2m StandardBudget=5m FullBudget=30m; 0: auto */
    enum conf_preflight preflight; /* Preflight=off|quick|standard */
    double preflight_budget_s;     /* PreflightBudget=30s */
    bool preflight_gpus;           /* PreflightGpus=yes */
};

/* Fills conf with the defaults. */
void conf_defaults(struct conf *conf);

/* Reads the file over the defaults. path NULL: conf_default_path(); $MUSTER_CONF is not read here,
 * the caller decides about it. Returns 0, 1 with the defaults if the file is missing, or -1 with
 * the defaults and err "PATH:LINE: Key=Value: found what, allowed what": a part of a configuration
 * is never used. Overwrites conf; release it with conf_clear() in any case. Re-entrant. The file
 * must be a regular file of at most 1 MiB, with lines of at most 4096 bytes and line ends LF or CR
 * LF, the last one optional. Each key may occur once, but Island, Variable, Interface, KernelLog
 * and Report any number of times. */
int conf_read(const char *path, struct conf *conf, struct error *err);

/* The two steps of conf_read(), for callers that must not wait for a file. conf_load() reads the
 * text, malloc'd, and returns as regular_file_read(). conf_parse() parses and overwrites the text;
 * returns 0 or -1. */
int conf_load(const char *path, char **text, struct error *err);
int conf_parse(const char *path, char *text, struct conf *conf, struct error *err);
void conf_clear(struct conf *conf);

/* Returns the configured speed of an interface in 10^6 bit/s, or -1. For a rail "mlx5_0:1" without
 * a speed, returns the speed of its device "mlx5_0". */
double conf_nominal_mbps(const struct conf *conf, const char *interface);

/* SYSCONFDIR/muster/muster.conf */
const char *conf_default_path(void);

/* Writes every key with its value, as a file that conf_read() accepts, each below a comment with
 * its meaning and the allowed values. Returns 0, or -1 with errno. */
int conf_print(const struct conf *conf, FILE *stream);

/* Writes the value of key number index, as in the file; a key with several lines as
 * "VALUE\nKEY=VALUE". Returns 0, or -1 past the last key or if memory is out. */
int conf_key_print(const struct conf *conf, size_t index, FILE *stream);

/* Gets the name, default and help text of key number index, for tests and documents. Returns 0, or
 * -1 past the last key. default_text and help may be NULL. */
int conf_key(size_t index, const char **name, const char **default_text, const char **help);

#endif
