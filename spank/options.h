/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_OPTIONS_H
#define MUSTER_SPANK_OPTIONS_H

#include <stddef.h>

#include "lib/base/error.h"
#include "lib/envplan/envplan.h"

/* The user's options, and the plugin's arguments in plugstack.conf. */

enum option {
    OPTION_ENVIRONMENT,
    OPTION_EXPLAIN,
    OPTION_PREFLIGHT,
    OPTION_COLLECTIVES,
    OPTION_COUNT
};

/* One table for the command line, the environment variable of each option, and the help. */
struct option_text {
    const char *name;    /* "muster" */
    const char *arginfo; /* NULL: takes no argument */
    const char *usage;
    const char *variable; /* "MUSTER_ENVIRONMENT" */
};
extern const struct option_text option_texts[OPTION_COUNT];

struct options {
    int environment; /* 1 on, 0 off, -1 not given */
    int explain;     /* 1, or 0, or -1 not given */
    int preflight;   /* enum conf_preflight, -1 not given */
    int collectives; /* 1 muster's, by preloading; 0 MPI's; -1 not given */
};

#define OPTIONS_INIT                                                                               \
    {                                                                                              \
        -1, -1, -1, -1                                                                             \
    }

/* Parses an option of the command line. The last of several wins, because Slurm passes options of
 * the environment (SLURM_SPANK_..., from an enclosing sbatch) before the user's own. Ignores
 * argument if the option takes none: Slurm may pass "(null)". Returns 0, or -1 with err and leaves
 * options unchanged. */
int options_parse(struct options *options, enum option option, const char *argument,
                  struct error *err);

/* Sets the options that the command line did not give from their environment variables. An empty
 * variable counts as not set. Returns 0, or -1 with err for the first variable with a bad value;
 * each of these counts as not set. */
int options_fill(struct options *options, envplan_getenv_fn *getenv_fn, void *context,
                 struct error *err);

/* The arguments after the plugin's path in plugstack.conf; NULL if not given, else points into
 * argv. */
struct arguments {
    const char *config_path; /* config=PATH */
    const char *program;     /* program=PATH: the muster command, instead of BINDIR/muster */
    const char *library;     /* library=PATH: instead of LIBDIR/libmustercoll-pmpi.so */
    const char *root;        /* root=DIR: /sys and /proc of a recorded machine below DIR */
};

/* Reads the arguments. All must be absolute paths; the last of several wins. Returns 0, or -1 with
 * err for the first unknown argument; the others are set all the same. */
int arguments_read(int argc, char *const argv[], struct arguments *arguments, struct error *err);

#endif
