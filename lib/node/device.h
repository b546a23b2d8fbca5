/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DEVICE_H
#define MUSTER_DEVICE_H

/* Whether the calling process could open a device file for reading and writing, as its effective
 * user: 0 yes; what open(2) would put into errno (ENOENT, EACCES, EPERM from a device cgroup,
 * ENODEV for what is not a character device); -1 when it cannot be told.
 *
 * The kernel is asked with faccessat(2) and nothing is opened: opening a GPU can wake it, which
 * takes seconds. The answer includes device cgroups, v1 and v2, as inode_permission() in Linux's
 * fs/namei.c asks them for access(2) just as for open(2).
 *
 * root: "" or NULL is this machine; files of another one are looked for below it, and when it has
 * no directory dev its record does not tell. */
int device_access(const char *root, const char *file);

#endif
