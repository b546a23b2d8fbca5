/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_FILE_H
#define MUSTER_CODEC_FILE_H

#include "collectives/command/stream.h"

/* Converts one file to another, as gzip(1) and zstd(1) do: writes a temporary file and renames it
 * when it is complete, so that nobody finds half a file. Existing files stay, except by force. */

#define FILE_SUFFIX ".mgc"

enum file_action { FILE_ENCODE, FILE_DECODE, FILE_TEST };

struct file_job {
    enum file_action action;
    const enum codec_type *type; /* NULL: the best is chosen */
    const struct codec_path *path;
    const char *output; /* NULL: the input's name with or without FILE_SUFFIX; "-": stdout */
    bool force;         /* overwrite existing files, and write to a terminal */
    bool remove;        /* remove the input when the output is on disk */
    bool progress;      /* print progress to standard error, after two seconds */
};

/* Does the job for one input; "-" is standard input, whose default output is standard output.
 * Returns -1 with err, which names the file; no output is left behind. */
int file_convert(const struct file_job *job, const char *input, struct stream_totals *totals,
                 struct error *err);

/* Removes the incomplete file that is being written, if any. For signal handlers. */
void file_abandon(void);

#endif
