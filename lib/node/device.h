/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DEVICE_H
#define MUSTER_DEVICE_H

/* Checks whether the calling process can open a device file for reading and writing, as its
 * effective user. Returns 0 if it can, the errno that open(2) would set (ENOENT, EACCES, EPERM from
 * a device cgroup), ENODEV for a file that is not a character device, or -1 if it is not known.
 *
 * It calls faccessat(2) and opens nothing: opening a GPU can wake it, which takes seconds. The
 * result includes device cgroups, v1 and v2: inode_permission() in Linux's fs/namei.c checks them
 * for access(2) as for open(2).
 *
 * root: "" or NULL is this machine; else the root of a recorded machine. A record without a
 * directory dev returns -1. */
int device_access(const char *root, const char *file);

#endif
