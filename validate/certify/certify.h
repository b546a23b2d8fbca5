/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_H
#define MUSTER_CERTIFY_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/base/text.h"
#include "lib/conf/conf.h"
#include "validate/judge/index.h"
#include "validate/act/act.h"
#include "validate/certify/budget.h"
#include "validate/certify/outcome.h"
#include "validate/report/format.h"
#include "validate/report/progress.h"
#include "validate/report/records.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/operations.h"
#include "validate/slurm/process.h"
#include "validate/slurm/step.h"
#include "validate/slurm/undo.h"
#include "validate/slurm/user.h"

/* One run of `muster certify`: what its stages share. */

enum { CERTIFY_REPORTS = 16 };

const char *certify_level_name(enum certify_level level); /* "quick", "standard", "full" */

struct certify_options {
    const char *nodes, *partition, *config_path, *json_path, *junit_path,
        *mpi; /* NULL: not given */
    struct {
        const struct report_format *format;
        const char *path;
    } reports[CERTIFY_REPORTS]; /* --report */
    size_t report_count;
    enum certify_level level;
    bool has_level;             /* it was given */
    const char *campaign;       /* NULL: not given */
    const char *campaign_nodes; /* of a campaign: what -w named, and nodes is NULL; NULL: nothing */
    long at_a_time;             /* of a campaign: nodes of a run; 0: as many as are free */
    bool is_campaign;           /* several runs, of one name */
    bool is_dry_run, no_drain;
    bool is_suspects; /* only nodes that a claim or a strike is about, and partners */
    bool is_due;      /* only nodes whose certificate is missing or ends soon, and partners */
    double jitter_s;  /* begin after a random part of it */
    double budget_s;  /* 0: the configuration's */
    int concurrency;  /* 0: the configuration's */
};

/* A step has the user of its job, so a run that is root's has three jobs, one after the other in a
 * reservation of the run: root's for what reads and writes as root, the battery user's for the MPI
 * programs between. A dry run of an ordinary user has one, that user's own. */
enum certify_job { JOB_CHECK, JOB_BATTERY, JOB_CERTIFICATES };

/* A node that is looked at. */
struct subject {
    const char *name;
    struct cluster_node *slurm;
    struct plan plan;
    struct outcome outcome;
    bool is_in_job;
    bool is_asked;   /* among the nodes of the last certify_good() */
    bool is_resumed; /* its drain was lifted by us */
    bool is_partner; /* chosen only as another's partner */
    bool is_silent;  /* it stopped answering while it was in the job */
    bool is_missed;  /* it could not be had for one of the later jobs */
    bool is_suspect; /* a process died or hung in this stage: set aside for certify_retest() */
    char suspicion[200], suspect_part[64]; /* of a suspect: what was seen, and where */
    enum fault_code suspect_code;
    bool is_decided; /* decision is what was done */
    enum decision decision;
    int strike;       /* if its failure is near a limit: which one, from 1 */
    double rail_mbps; /* its worst rail's figure, NAN */
    char certified_until[32];
    bool is_revoked;          /* it has said that it has no certificate any more */
    struct hostlist unusable; /* rails that muster check found down or without an address */
    struct hostlist rails;    /* lines "links eth1: 196 Mb/s" for the certificate */
};

struct campaigning;

struct certify {
    struct certify_options options;
    const struct campaigning *campaign; /* whose run it is; NULL: of none */
    struct conf conf;
    double budget_s;                             /* the administrator's, 0: none */
    double begin;                                /* clock_s() */
    char run[64], job_name[96], reservation[96]; /* reservation "": none */
    const struct cluster_operations *operations; /* on the cluster, all that change it */
    struct cluster cluster;
    struct subject *subjects;
    size_t count;
    struct name_index by_name; /* of subjects */
    char *partition;
    struct hostlist reserved; /* what the reservation was made for */
    struct user battery;      /* whose the MPI programs are */
    bool is_root;             /* check and certificates are root's, in jobs of their own */
    enum certify_job job;
    uint32_t job_id; /* 0: no allocation */
    struct undo undo;
    struct records records;
    FILE *json;
    struct progress progress;
    struct hostlist headlines;  /* lines above the table: what is no node's fault and hit many */
    struct hostlist lossy;      /* "NODE RAIL" of those that fail for what they lose */
    struct hostlist notes;      /* lines under the table */
    bool is_misused;            /* a node or partition was named that is not there */
    bool has_fault;             /* a fault that is no node's */
    char *peers;                /* for certify_environment_peers(); NULL: not known */
    size_t drained;             /* nodes that muster has out of service, this run's included */
    char runs[512];             /* the directory of journals */
    size_t stray_lines;         /* lines of programs that were no records */
    size_t refused_records;     /* what nodes said of others, or too much of */
    char refused_node[64];      /* the first of those that did */
    struct complaint complaint; /* what a program said on standard error */
    time_t certified_until_s;   /* the end of this run's certificates */
};

/* options.c: returns -1 to go on, else the exit status. */
int certify_options_read(int argc, char **argv, struct certify_options *options);

/* Set by SIGINT, SIGTERM, SIGHUP to the signal's number once there may be something to undo;
 * before, they end the process. */
extern volatile sig_atomic_t certify_stop;

/* certify.c */
/* One run, from its beginning to its report; returns its exit status. To be cleared. */
int certify_run(struct certify *certify, int argc, char **argv);
void certify_clear(struct certify *certify);
void certify_note(struct certify *certify, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A random delay of 0 to most_s, another one in each process, so that not all begin at once. */
double certify_delay_s(double most_s);
struct subject *certify_subject(const struct certify *certify, const char *name);
/* Takes a record: keeps it and writes it to the JSON lines. */
void certify_record(struct certify *certify, const struct record *record);
/* A verdict of our own about a node: record and outcome. value, limit: NAN, unit NULL where there
 * is none. */
void certify_verdict(struct certify *certify, struct subject *subject, enum stage stage,
                     enum verdict verdict, const char *test, const char *part, const char *message);
/* The same with a fault code, where it is not that of the test. */
void certify_fault(struct certify *certify, struct subject *subject, enum stage stage,
                   enum verdict verdict, enum fault_code code, const char *test, const char *part,
                   const char *message);
/* The nodes of the job that have no fault so far and are no suspects; sets is_asked of these and no
 * others. names must be released. Returns their number. */
size_t certify_good(struct certify *certify, struct hostlist *names);
/* Ends a stage's line of progress: how many of the nodes are good. */
void certify_stage_end(struct certify *certify, size_t asked);

/* estimate.c: how long the stages take with so many nodes, by what is known of them (budget.h) */
struct budget_work certify_work(const struct certify *certify, size_t nodes);
double certify_limit_s(const struct certify *certify, enum stage stage, size_t nodes);
double certify_battery_s(const struct certify *certify, size_t nodes); /* all of them at most */
int certify_link_times(const struct certify *certify, size_t nodes);   /* all pairs so often */
/* A line with the estimate of each stage, for the nodes that are good. */
void certify_estimate_say(struct certify *certify);

/* choose/nodes.c */
/* Chooses the nodes that the run is about. Returns 0, or -1 with err where it cannot go on at all.
 */
int certify_select(struct certify *certify, struct error *err);
/* Adds the nodes of the list to the subjects, which must be nodes of the cluster. */
void certify_subjects_add(struct certify *certify, const struct hostlist *names);
/* Asks each node's slurmd. */
void certify_reach(struct certify *certify);
/* Asks those nodes of the list again that have no fault so far and notes who does not answer;
 * returns how many those are. */
size_t certify_reach_again(struct certify *certify, const struct hostlist *names, enum stage stage);
/* Asks all good ones a last time: nothing is certified whose slurmd went after its last stage. */
void certify_reach_last(struct certify *certify);
/* choose/allocate.c: an allocation of the nodes to be tested, job_id, for muster check. A node that
 * is not to be had has its verdict. */
void certify_allocate(struct certify *certify);
/* The next job, in place of the one that is there: JOB_BATTERY of the nodes that have no fault so
 * far, JOB_CERTIFICATES of those that certify_is_held().
 * Does nothing where all of the run is one user's. */
void certify_allocate_next(struct certify *certify, enum certify_job job);
/* Whether the node was in the jobs so far and answers, faulty or not: one that does not would only
 * hold up a step. */
bool certify_is_held(const struct subject *subject);
/* When the job was taken away, whatever its end did to the processes there is no node's fault.
 * Slurm does so once a prolog has failed, which may be a moment after the allocation seemed to be
 * there, and a controller may lose a job (cluster.h): ends the stage's progress and tries to have
 * another job with the nodes that are still to be had. Where no node explains the end, somebody
 * cancelled the job: then there is no other one, and all its nodes are unknown. Returns false, and
 * nothing is done, when the job is there. */
bool certify_allocate_again(struct certify *certify);
/* Whether the job was taken away. */
bool certify_job_is_over(const struct certify *certify);

/* choose/campaign.c: the next group of the campaign whose run this is. Returns 0, or -1 with err.
 */
int certify_select_group(struct certify *certify, struct error *err);

/* step.c */
struct certify_step {
    enum stage stage;
    const struct hostlist *nodes;
    int tasks_per_node;
    bool is_mpi;
    char *const *program;
    const char *const *environment;
    const char *input;
    double deadline_s;
    bool survives_loss; /* its program goes on without a node that is lost: muster-links */
};
/* Runs a step; its records are added, *first is the index of the first. While a step goes on for
 * longer than a few seconds its nodes are asked whether they are still there; one that does not
 * answer fails in this stage and the step is ended, at once or, where it survives that, when it has
 * had nothing to say for some seconds. Returns 0 when it ended by itself with a status
 * of the battery's (0, 1, 3), 1 when it did not (err says what was seen), -1 when it could not be
 * started. */
int certify_step(struct certify *certify, const struct certify_step *step, size_t *first,
                 struct error *err);
/* The nodes in the order of their tasks, where there is one on each: that of Slurm's own table of
 * nodes. Returns 0, or -1 when memory is out or a node is not the cluster's. */
int certify_task_nodes(const struct certify *certify, const struct hostlist *nodes,
                       struct hostlist *tasks);
/* Runs "muster WORDS..." (step_muster()) as one task on each of the nodes: certify_step() with the
 * step's stage, nodes, input and deadline. program is cleared. */
int certify_muster(struct certify *certify, const struct certify_step *step,
                   struct arguments *program, size_t *first, struct error *err);
/* The deadline of a step of so many nodes that takes a node less than seconds: Slurm starts the
 * tasks, and their output is read, at some 50 nodes a second at least. */
double certify_deadline_s(double seconds, size_t nodes);
/* The battery's environment, ends with NULL: control traffic on the management network; is_fabric:
 * data on the rails. Points into itself: not to be copied. */
struct certify_environment {
    const char *entries[10];
    char management[1024], oob[128], run[96];
};
void certify_environment(const struct certify *certify, bool is_fabric,
                         struct certify_environment *environment);

/* peers.c: whose connections the programs of the battery accept within MPI_Init, before their ranks
 * have told each other (validate/battery/watch/peers.h). */
/* Takes what muster check said of the nodes that were asked, in the records since first. The
 * addresses are known only when all of those that are good have told theirs. */
void certify_peers(struct certify *certify, size_t first);
/* Adds them to the environment, where they are known. For the first try of a stage alone: if a node
 * has an address that it did not tell, the next try shows what the stage is without them, and so
 * does each measurement for which a node may fail. */
void certify_environment_peers(const struct certify *certify,
                               struct certify_environment *environment);

/* stages.c */
/* How often a step of a stage was tried, with nobody at fault, and for how many jobs that ended too
 * early; zeros at first. */
struct certify_tries {
    int made, blameless, jobs;
};
/* After a step that did not run to its end with all of names (rv: what certify_step() gave; 0: err
 * is filled in): accuses who is at fault, by the records since first or by asking the nodes.
 * Returns whether another try is worth it, and then names are those that are still good. */
bool certify_once_more(struct certify *certify, enum stage stage, struct certify_tries *tries,
                       struct hostlist *names, size_t first, int rv, struct error *err);
/* retest.c: what a program says of its own processes, died, hung, silent, makes suspects */
bool certify_is_death(const struct record *record);
/* Those that were asked and about which there is such a record since first. Returns how many are
 * new. */
size_t certify_suspect(struct certify *certify, size_t first);
/* Runs a stage's program on the nodes, which are two; *first is the index of its first record.
 * Returns 0 when it ran to its end, 1 when it did not, -1 when it could not be run. */
typedef int certify_pair_fn(struct certify *certify, const struct hostlist *names, size_t *first,
                            const void *context);
/* Measures the suspects again, each alone with a node that is good: one that dies or hangs again,
 * or whose slurmd no longer answers, fails; of the others it is unknown. asked: nodes of the stage;
 * where many of these are suspects none is measured again. */
void certify_retest(struct certify *certify, enum stage stage, size_t asked, certify_pair_fn *run,
                    const void *context);
/* Notes that verdict for all nodes of the list that have no fault so far. */
void certify_all(struct certify *certify, const struct hostlist *names, enum stage stage,
                 enum verdict verdict, const char *test, const char *message);
/* Whether a step whose status is one of the battery's has run to its end with all its nodes. */
bool certify_is_complete(const struct certify *certify, size_t first);
void certify_check(struct certify *certify);
void certify_launch(struct certify *certify);
void certify_collectives(struct certify *certify);
void certify_train(struct certify *certify);

/* subnet.c: where this host has a port in the nodes' InfiniBand subnet, the cables of the nodes are
 * held against topology.conf and each other, and the leaves that were found count from here on. */
void certify_subnet(struct certify *certify);

struct subnet;
/* neighbours.c: fills subnet, which is empty, with the Ethernet that the lldpds of the good nodes
 * have heard. Returns 0, 1 where there is nothing to see, or -1 with err. */
int certify_neighbours(struct certify *certify, struct subnet *subnet, struct error *err);

/* alike.c */
/* Makes the failures that many nodes have alike nobody's: to be called before anything is done to a
 * node. */
void certify_alike(struct certify *certify);
/* Tells of each of these, as a line above the table and a record. Once. */
void certify_alike_tell(struct certify *certify);

/* config.c */
/* Finds addresses that two nodes have among what they told since first: neither is certified, and
 * neither is at fault. To be called before other verdicts count. */
void certify_duplicates(struct certify *certify, size_t first);
/* Compares the facts that the nodes told since first. */
void certify_compare(struct certify *certify, size_t first);

/* links/links.c */
void certify_links(struct certify *certify);

struct trial;
/* links/findings.c: what the trial, which is over, found becomes verdicts about nodes, notes, sums
 * and lines of certificates. first: the first record of the measurement */
void certify_link_findings(struct certify *certify, const struct trial *trial, size_t first);

/* links/losses.c: what rails and paths had to send again, by the records of the trial, which is
 * over; measures suspects again. */
void certify_losses(struct certify *certify, struct trial *trial);
/* Whether that rail of that node failed there. */
bool certify_is_lossy(const struct certify *certify, const char *node, const char *rail);
/* links/sums.c: judges what uplinks and halves carried when all their nodes used them, among the
 * records since first; figures: of all rails, NAN where not measured */
void certify_sums(struct certify *certify, size_t first, const double *figures, size_t count);

/* settle/actions.c: drains, certificates, releases */
/* Drains those that stopped answering, inside the cap, and notes that the end of the job sets them
 * down: a job with such a node does not end, and without it the others are free at once. */
void certify_drop_silent(struct certify *certify);
/* Lifts the drains of ours among those nodes, inside the reservation of the run; each is in the
 * journal and in its node's Comment before. Returns 0, or -1 with err. */
int certify_drains_lift(struct certify *certify, const struct hostlist *names, struct error *err);
void certify_act(struct certify *certify);

/* settle/certificates.c: written on each of the nodes that passed, in parts of bounded size; taken
 * away from those that failed */
void certify_certificates_issue(struct certify *certify);
void certify_certificates_revoke(struct certify *certify);
/* Revokes in Slurm the certificates of those that failed and were not reached
 * (validate/slurm/revocation.h), and takes that back of those that were certified. To be called
 * last: their Comments are in nobody else's hands then. */
void certify_revocations(struct certify *certify);

/* choose/suspects.c */
/* Reads the claims on those subjects that are free, and the strikes of earlier runs, notes each,
 * and leaves among the subjects only those that one is about and a few partners. Returns 0, or -1
 * with err. */
int certify_suspects(struct certify *certify, struct error *err);
/* Leaves only the wanted among the subjects, and a few of the others as partners: one on each leaf
 * switch that has a wanted one, and enough. */
void certify_keep(struct certify *certify, const struct hostlist *others,
                  const struct hostlist *wanted);
/* Takes away the claims about nodes that were tested, if any are known, from all in the job. */
void certify_consume(struct certify *certify);

/* choose/others.c: runs at the same time, on this host or another, as the controller knows them */
/* What another run of root's holds is left alone, and who that is is said; busy gets its nodes. */
void certify_others(struct certify *certify, struct hostlist *busy);
/* Makes certify->reservation, noted for undo, over nodes that no other run holds: of runs that ask
 * at the same time at least one sees the other's, gives way, and tries again for a while. Returns
 * 0, or -1 with err, which says who holds them, and no reservation. */
int certify_reserve(struct certify *certify, const struct hostlist *names, int minutes,
                    struct error *err);

/* choose/turns.c: which nodes a run tests when not all may be, or need to be */
/* Leaves only those among the subjects whose certificate is missing or ends soon, and partners.
 * Returns 0, or -1 with err. */
int certify_due(struct certify *certify, struct error *err);
/* Leaves alone what other runs on this host test now and what is beyond TestCap, and tells other
 * runs of the rest. Returns 0, or -1 with err. */
int certify_take_turns(struct certify *certify, struct error *err);
/* Takes those that were certified out of the reservation in which nodes wait for that. */
void certify_leave_waiting(struct certify *certify);

/* settle/extras.c: level and end of the certificates in the nodes' Extra, for jobs that ask for
 * them; out of the Extra of nodes that failed */
void certify_extras(struct certify *certify);

/* tell/facts.c: cluster, level, topology, limits, certificates and what was done, for reports */
void certify_facts(struct certify *certify);

/* tell/reports.c: whether there is a place for the reports that options ask for, looked at before
 * the tests. Returns 0, or -1 with err. */
int certify_reports_can_be_saved(const struct certify_options *options, struct error *err);
/* The reports that options and configuration ask for; what cannot be written is said. Returns 0, or
 * -1 when one that options ask for is missing. */
int certify_reports(struct certify *certify);

/* tell/report.c */
void certify_report(struct certify *certify, FILE *stream);

/* rails.c: AllowFailedRails. Collects what muster check has said of rails that carry nothing, among
 * the records since first; to be called before its verdicts count. */
void certify_rails_note(struct certify *certify, size_t first);
/* What a verdict about that part of the node counts as: a warning instead of a failure, or of not
 * knowing, where the part is such a rail and the site allows that many. */
enum verdict certify_rails_verdict(const struct certify *certify, const struct subject *subject,
                                   const char *part, enum verdict verdict);
/* Open MPI's setting, NAME=VALUE, for data over the rails that none of the nodes lacks. Returns 0,
 * or -1 when there is nothing to set. */
int certify_rails_setting(const struct certify *certify, char *text, size_t size);
/* How many rails of the node are left out so. */
int certify_rails_left_out(const struct certify *certify, const struct subject *subject);
/* Whether most of these nodes have told of a rail on InfiniBand or RoCE, so that libibverbs can
 * drive it too, and muster-links was built with that. */
bool certify_has_verbs(const struct certify *certify, const struct hostlist *names);

#endif
