/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_FILE_H
#define MUSTER_CODEC_FILE_H

#include "collectives/command/stream.h"

/* One file to another, as gzip(1) and zstd(1) do it: written aside and renamed when it is whole, so
 * that nobody meets half a file; what stands there already stays. */

#define FILE_SUFFIX ".mgc"

enum file_action { FILE_ENCODE, FILE_DECODE, FILE_TEST };

struct file_job {
    enum file_action action;
    const enum codec_type *type; /* NULL: found out */
    const struct codec_path *path;
    const char *output; /* NULL: the input's name with or without FILE_SUFFIX; "-": stdout */
    bool force;         /* over what stands there, and to a terminal */
    bool remove;        /* the input, when the output is on the disk */
    bool progress;      /* on standard error, after two seconds */
};

/* Does the job for one input; "-" is standard input, whose output is standard output when none is
 * given. -1: err says why, naming the file; nothing was left behind. */
int file_convert(const struct file_job *job, const char *input, struct stream_totals *totals,
                 struct error *err);

/* Removes the half file that is being written, if any: for a signal's handler. */
void file_abandon(void);

#endif
