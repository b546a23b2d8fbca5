# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# spank.sh - for lab tests of the plugin, instead of testlab.sh: $plugin is spank_muster.so, installed in
# .lab/prefix or named by MUSTER_PLUGIN. Without it all tests of the file are skipped.

. "$(dirname "${BASH_SOURCE[0]}")/testlab.sh"
plugin=${MUSTER_PLUGIN:-$prefix/lib/slurm/spank_muster.so}
[ -e "$plugin" ] || skip_all "no $plugin (make install, or MUSTER_PLUGIN)"

# Starts a lab with the plugin required on every host. The plugin reads the lab's own muster.conf.
spank_lab_up() { # LAB-OPTION...
    local host
    lab_up "$@" --plugin "$plugin" --plugin-required
    for host in $(cd "$top/.lab/$name" && ls -d head n*[0-9]); do
        plugstack "$host" "required $plugin config=/etc/muster/muster.conf"
    done
}

# Writes plugstack.conf of a host, which Slurm reads again with each job and step.
plugstack() { # HOST LINE...
    local host=$1
    shift
    printf '%s\n' "$@" >"$top/.lab/$name/$host/etc/slurm/plugstack.conf"
}

# A regular expression of all variables that muster may set.
# shellcheck disable=SC2034 # for the tests
muster_names='UCX_NET_DEVICES|UCX_IB_GID_INDEX|NCCL_SOCKET_IFNAME|NCCL_IB_HCA|NCCL_IB_GID_INDEX|NCCL_IB_DISABLE|NCCL_NET|HCCL_SOCKET_IFNAME|OMPI_MCA_btl_tcp_if_include|OMPI_MCA_opal_common_ucx_devices|MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE|FI_PROVIDER|FI_TCP_IFACE|FI_SOCKETS_IFACE|MUSTER_FABRIC|MUSTER_ISLAND|MUSTER_ISLAND_FABRIC|MUSTER_ISLANDS|GLOO_SOCKET_IFNAME|TP_SOCKET_IFNAME|MASTER_ADDR|MASTER_PORT|GROUP_RANK|WORLD_SIZE|RANK|LOCAL_RANK|LOCAL_WORLD_SIZE|MUSTER_SET'

slurmd_log() { cat "$top/.lab/$name/$1/var/log/slurm/slurmd.log"; } # NODE

state_of() { sinfo_nodes -n "$1" -o %T; } # NODE

is_in() { [ "$(state_of "$1")" = "$2" ]; } # NODE STATE
