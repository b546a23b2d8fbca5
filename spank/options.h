/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_OPTIONS_H
#define MUSTER_SPANK_OPTIONS_H

#include <stddef.h>

#include "lib/envplan/envplan.h"
#include "lib/base/error.h"

/* The user's options and the administrator's words in plugstack.conf. */

enum option {
    OPTION_ENVIRONMENT,
    OPTION_EXPLAIN,
    OPTION_PREFLIGHT,
    OPTION_COLLECTIVES,
    OPTION_COUNT
};

/* One table for the command line, the environment twin and the help text. */
struct option_text {
    const char *name;    /* "muster" */
    const char *arginfo; /* NULL: takes no argument */
    const char *usage;
    const char *twin; /* "MUSTER_ENVIRONMENT" */
};
extern const struct option_text option_texts[OPTION_COUNT];

struct options {
    int environment; /* 1 on, 0 off, -1 not given */
    int explain;     /* 1, or 0, or -1 not given */
    int preflight;   /* enum conf_preflight, -1 not given */
    int collectives; /* 1 muster's are preloaded, 0 MPI's, -1 not given */
};

#define OPTIONS_INIT                                                                               \
    {                                                                                              \
        -1, -1, -1, -1                                                                             \
    }

/* Takes an option of the command line; of several the last one holds, as Slurm gives those of the
 * environment (SLURM_SPANK_..., an enclosing sbatch's) before the user's own. argument is ignored
 * where the option has none: Slurm may pass "(null)". Returns 0, or -1 with err and options as they
 * were. */
int options_take(struct options *options, enum option option, const char *argument,
                 struct error *err);

/* Fills in from the twins what the command line did not give. A twin that is empty counts as not
 * given. Returns 0, or -1 with err when a twin that is needed has a bad value: it then counts as
 * not given. */
int options_fill(struct options *options, envplan_getenv_fn *getenv_fn, void *context,
                 struct error *err);

/* The words after the plugin's path in plugstack.conf; NULL where not given, else into argv. */
struct arguments {
    const char *config_path; /* config=PATH */
    const char *program;     /* program=PATH: the muster command, instead of BINDIR/muster */
    const char *library;     /* library=PATH: instead of LIBDIR/libmustercoll-pmpi.so */
    const char *root;        /* root=DIR: /sys and /proc of a recorded machine below DIR */
};

/* Reads them; all have to be absolute paths, and the last of several holds. Returns 0, or -1 with
 * err for the first word that is not one of them; the others hold all the same. */
int arguments_read(int argc, char *const argv[], struct arguments *arguments, struct error *err);

#endif
