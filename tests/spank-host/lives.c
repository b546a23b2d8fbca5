/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/spank-host/fixture.h"
#include "tests/spank-host/host.h"
#include "tests/spank-host/life.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

/* Whole lives of jobs: which variables the tasks get, which messages appear, and that no hook of a
 * process breaks a rule of watch.h. */

static const struct {
    struct life life;
    const char *tasks;   /* variables that task 0 has, or with ! has not: "RANK=2 !MASTER_ADDR" */
    const char *says;    /* part of the log; NULL: no message */
    const char *refused; /* the part that refuses the job: "front", "srun within" or "prolog" */
} lives[] = {
    {.life = {"srun"}, .tasks = "RANK=2 LOCAL_RANK=0 WORLD_SIZE=4 MASTER_ADDR=n1"},
    {.life = {"srun --muster=off", .options = "muster=off"}, .tasks = "!RANK !MUSTER_SET"},
    {.life = {"srun before 24.05: callbacks twice", .options = "muster=off\nmuster-explain",
              .is_callback_twice = true},
     .tasks = "!RANK",
     .says = "--muster=off"},
    {.life = {"srun with a bad option", .options = "muster=perhaps"},
     .refused = "front",
     .says = "--muster=perhaps: expected on|off"},
    {.life = {"srun with a bad variable", .environment = "MUSTER_EXPLAIN=perhaps"},
     .refused = "front",
     .says = "MUSTER_EXPLAIN=perhaps: expected"},
    {.life = {"srun with values of the user", .environment = "RANK=\nMASTER_ADDR=elsewhere"},
     .tasks = "RANK= MASTER_ADDR=elsewhere WORLD_SIZE=4"},
    {.life = {"srun --export=NONE", .environment = "RANK=9\nHOME=/x", .is_export_none = true},
     .tasks = "RANK=2 !HOME"},
    {.life = {"srun of root", .is_root = true}, .tasks = "RANK=2"},
    {.life = {"srun of one task", .tasks = 1}, .tasks = "RANK=1 WORLD_SIZE=2"},
    {.life = {"srun of four tasks", .tasks = 4}, .tasks = "RANK=4 WORLD_SIZE=8"},
    {.life = {"sbatch", FRONT_SBATCH}, .tasks = "RANK=2 WORLD_SIZE=4"},
    {.life = {"sbatch --muster=off holds for the srun within", FRONT_SBATCH,
              .options = "muster=off"},
     .tasks = "!RANK"},
    {.life = {"... whose own option takes precedence", FRONT_SBATCH, .options = "muster=off",
              .step_options = "muster=on"},
     .tasks = "RANK=2"},
    {.life = {"sbatch --muster-explain comes as \"(null)\"", FRONT_SBATCH,
              .options = "muster-explain"},
     .tasks = "RANK=2",
     .says = "tell: muster: n2: RANK=2 (task: SLURM_PROCID is 2)"},
    {.life = {"sbatch with a bad option", FRONT_SBATCH, .options = "muster=\033[2J"},
     .refused = "front",
     .says = "expected on|off"},
    {.life = {"a bad option of the srun within", FRONT_SBATCH, .step_options = "muster="},
     .refused = "srun within",
     .says = "expected on|off"},
    {.life = {"salloc and its interactive step", FRONT_SALLOC}, .tasks = "RANK=2 WORLD_SIZE=4"},
    {.life = {"orted", .argv = "/opt/mpi/bin/orted -x", .tasks = 1}, .tasks = "!RANK !MASTER_ADDR"},
    {.life = {"prted", .argv = "prted", .tasks = 1}, .tasks = "!RANK !LOCAL_RANK"},
    {.life = {"hydra", .argv = "/usr/bin/hydra_pmi_proxy --x", .tasks = 1}, .tasks = "!RANK"},
    {.life = {"torchrun", .argv = "torchrun train.py", .tasks = 1},
     .tasks = "!RANK MASTER_ADDR=n1"},
    {.life = {"python -m torch.distributed.run", .argv = "python3 -m torch.distributed.run a.py",
              .tasks = 1},
     .tasks = "!RANK MASTER_ADDR=n1"},
    {.life = {"the second component of a heterogeneous job", .component_first = 6},
     .tasks = "RANK=6 WORLD_SIZE=8 MASTER_ADDR=n1"},
    {.life = {"a plugin that is listed twice", .is_listed_twice = true, .options = "muster=on"},
     .tasks = "RANK=2",
     .says = "plugin listed twice"},
    {.life = {"a plugstack.conf with bad words",
              .plugstack_arguments =
                  "config=relative confg=/x # what a distracted administrator writes"},
     .tasks = "RANK=2",
     .says = "expected config="},
    {.life = {"a muster.conf with a bad line", .conf = "SetEnvironment=perhaps\n"},
     .tasks = "!RANK",
     .says = "muster.conf:1: "},
    {.life = {"SPANK_ variables that lie to the prolog",
              .spank = "SPANK_MUSTER_CONF=/dev/null\nSPANK_SLURMD_NODENAME=n9\n"
                       "SPANK_LD_PRELOAD=/x.so\nSPANK__SLURM_SPANK_OPTION_muster_muster=\033[2J\n"
                       "SPANK_=\nSPANK_OnMissing=refuse"},
     .tasks = "RANK=2"},
};

static bool has_all(const struct life_environment *environment, const char *wanted)
{
    char words[512], *rest = words, *word;
    bool all = true;

    snprintf(words, sizeof words, "%s", wanted);
    while ((word = strsep(&rest, " ")) != NULL) {
        bool is_unwanted = *word == '!';
        char *equals = strchr(word, '=');
        const char *found;

        if (equals != NULL)
            *equals = '\0';
        found = life_getenv(environment, word + is_unwanted);
        if (is_unwanted ? found == NULL
                        : found != NULL && equals != NULL && strcmp(found, equals + 1) == 0)
            continue;
        all = false;
        tap_diag("%s is %s", word, found != NULL ? found : "not set");
    }
    return all;
}

static const char *refused_by(const struct outcome *outcome)
{
    return outcome->front < 0        ? "front"
           : outcome->prolog < 0     ? "prolog"
           : outcome->step_front < 0 ? "srun within"
                                     : "nothing";
}

/* By default the gate logs a missing certificate; these lives have none. */
static const char quiet[] = "OnMissing=ignore\n";

static void live(size_t i, const char *root)
{
    struct life life = lives[i].life;
    const struct outcome *outcome;
    char words[4200], conf[512];

    snprintf(words, sizeof words, "%s %s", root,
             life.plugstack_arguments != NULL ? life.plugstack_arguments : "");
    life.plugstack_arguments = words;
    snprintf(conf, sizeof conf, "%s%s", life.conf != NULL ? life.conf : "", quiet);
    life.conf = conf;
    outcome = life_run(&life);
    is_str(refused_by(outcome), lives[i].refused != NULL ? lives[i].refused : "nothing",
           "%s: refused by %s", life.name, lives[i].refused != NULL ? lives[i].refused : "nothing");
    is_str(outcome->broken, "", "... no rule is broken");
    is_str(outcome->printed, "", "... nothing is printed");
    if (lives[i].tasks != NULL)
        ok(outcome->has_step && has_all(&outcome->tasks[0], lives[i].tasks), "... the task has %s",
           lives[i].tasks);
    if (lives[i].says != NULL)
        has_str(host_log, lives[i].says, "... with the message: %s", lives[i].says);
    else if (life.conf == NULL || lives[i].life.conf == NULL)
        is_str(host_log, "", "... without a message");
    if (life.front != FRONT_SRUN && outcome->has_step)
        ok(life_getenv(&outcome->shell, "RANK") == NULL &&
               life_getenv(&outcome->shell, "MUSTER_SET") == NULL,
           "... the batch or interactive step has no variables of muster");
}

/* With AddressSanitizer fewer calls are tested: it searches for leaks in each process. */
#ifdef __SANITIZE_ADDRESS__
enum { ITEMS_APART = 4 };
#else
enum { ITEMS_APART = 1 };
#endif

/* Each call of a function of spank.h fails in turn, at the same number in every process: no job is
 * refused, and a task without its variables has a message that says why. */
static void without_an_item(const char *root)
{
    struct life life = {"srun", .plugstack_arguments = root, .environment = "MUSTER_EXPLAIN=1",
                        .conf = quiet};
    const struct outcome *outcome = life_run(&life);
    struct life_environment *whole = malloc(sizeof *whole);
    unsigned broken = 0, silent = 0, refused = 0, at = 1;

    whole->length = outcome->tasks[0].length;
    memcpy(whole->text, outcome->tasks[0].text, whole->length);
    for (; at <= 60; at += ITEMS_APART) {
        life.api_fails_at = (int)at;
        outcome = life_run(&life);
        if (*outcome->broken != '\0' && broken++ == 0)
            tap_diag("call %u: %s", at, outcome->broken);
        if (strcmp(refused_by(outcome), "nothing") != 0 && refused++ == 0)
            tap_diag("call %u refuses: %s", at, host_log);
        if ((whole->length != outcome->tasks[0].length ||
             memcmp(whole->text, outcome->tasks[0].text, whole->length) != 0) &&
            strstr(host_log, "error: ") == NULL && silent++ == 0)
            tap_diag("call %u fails, and the task has another environment without a word", at);
    }
    free(whole);
    is_int(broken, 0,
           "one in %d of 60 calls of Slurm's functions fails, from the first: no rule is broken",
           ITEMS_APART);
    is_int(refused, 0, "... no job is refused");
    is_int(silent, 0, "... and no task lacks variables without a message");
}

int main(int argc, char *argv[])
{
    char *machine, root[4200];

    fixture_begin(argv);
    if (geteuid() == 0 && !fixture_isolate())
        tap_skip_all("no namespaces to keep the prolog away from this machine");
    life_use(fixture_plugin(), fixture_directory(), true);
    machine = tree_unpack("lab-node");
    snprintf(root, sizeof root, "root=%s", machine);
    for (size_t i = 0; i < sizeof lives / sizeof *lives; i++)
        live(i, root);
    without_an_item(root);
    tree_remove(machine);
    fixture_end();
    return tap_done();
}
