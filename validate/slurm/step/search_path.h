/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SEARCH_PATH_H
#define MUSTER_SEARCH_PATH_H

/* Adds the folder of Slurm's commands to PATH, behind all others, where PATH finds no scontrol:
 * slurmd starts a health check without PATH, and the PATH of a timer may lack a folder such as
 * /opt/slurm/bin. The folder is the bin beside or above library, a file of Slurm's, that has
 * scontrol. Without such a folder PATH stays as it is. */
void search_path_complete(const char *library);

#endif
