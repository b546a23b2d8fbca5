/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_TOPOLOGY_FABRIC_H
#define MUSTER_COMMAND_TOPOLOGY_FABRIC_H

/* muster topology --fabric: the network instead of the node. A function as of a sub-command. */
int command_topology_fabric(int argc, char **argv);

/* muster topology --neighbors: the switch ports that this node's interfaces are cabled to. */
int command_topology_neighbors(int argc, char **argv);

#endif
