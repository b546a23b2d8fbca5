/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SAFE_DIRECTORY_H
#define MUSTER_SAFE_DIRECTORY_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/base/error.h"

/* Two questions, each with its rule for a directory. Of a file that is there and is to be believed:
 * could others have put it there? All directories above count, and a sticky one as /tmp will do, as
 * nobody takes another's file away there. Of a file that is to be made: could others have put a
 * link in its place? A sticky directory will not do, as any name can be taken there first; those
 * above do not count, as what is opened is checked itself, and a user's may be a group's. */

/* Whether nobody but root and owner can put another file in the place of one in directory, which
 * is resolved into real: 1 yes, 0 no, with err, -1 cannot tell, with err and errno. */
int safe_directory(const char *directory, uid_t owner, char real[PATH_MAX], struct error *err);

/* Where `name` lies: in the first of the directories of path ("/a:/b") that has it. Returns 1 with
 * its file; 0 with the name alone, for whoever looks elsewhere, where none has it; -1 with err
 * where others than root and this process's user could change it, by its directory, by the one that
 * a link leads to, or itself: it must not be loaded. */
int safe_file_find(const char *path, const char *name, char *file, size_t size, struct error *err);

/* Writes text to the file of that name in directory, which is made where it is not there: for names
 * that others can foresee. Refuses a directory that is a link, is not this process's user's own or
 * that others may write to, and a file that is a link. Returns 0, or -1 with err. */
int safe_directory_write(const char *directory, const char *name, const char *text,
                         struct error *err);

#endif
