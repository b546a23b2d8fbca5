# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# help.sh - the text of lab --help.

help_text() { # [COMMAND]
    case ${1-} in
    '') cat <<END ;;
usage: $me [-L NAME] COMMAND [ARG...]

A real Slurm cluster on this machine: slurmctld, slurmd, munged and PMIx in nodes made of
namespaces, each with a management NIC and two shaped rails on two leaf switches, and eight GPU devices.

  up [-n NODES] [--names LIST] [--rail-mbps N] [--release R] [--plugin FILE]
     [--plugin-required] [--backup-controller] [--accounting] [--gpus[=amd]]
     [--site DIR [--speed N]] start the lab: n1 ... and head
  run COMMAND [ARG...]        run a command on the head
  on NODE COMMAND [ARG...]    run a command on a node
  fault KIND [NODE] [ARG...]  inject a fault
  heal                        undo all faults, wait for healthy nodes
  status                      nodes, their Slurm state, injected faults
  down                        stop the lab, leave nothing behind

  -L NAME   which lab (or \$MUSTER_LAB; default lab): several run side by side
  --help    this text; after a command: more about it

State, logs and configuration of a lab are in .lab/NAME/ of the source tree, for instance
n1/var/log/slurm/slurmd.log and n1/etc/slurm/. Exit status: 0 done, 1 failed, 2 usage;
run and on: the command's own, 125 the lab cannot run it.
END
    up) cat <<END ;;
usage: $me [-L NAME] up [-n NODES] [--names LIST] [--rail-mbps N] [--release R]
              [--plugin FILE] [--plugin-required] [--backup-controller] [--accounting]
              [--gpus[=amd]] [--site DIR [--speed N]]

Starts the lab and returns when every node is idle. When it is up already, says so.

  -n, --nodes NODES   1 to 512, default 4; the first half is on leaf1, the rest on leaf2
  --names LIST        Slurm's names of n1, n2, ..., with commas between: each has NodeHostname and
                      NodeAddr in slurm.conf, and resolves nowhere; the lab's own commands know
                      nodes as n1, n2, ... still
  --rail-mbps N       speed of eth1 and eth2 in Mb/s each way, default 200; the uplink between
                      the leaves has NODES/2 times that
  --release R         Debian's, and with it Slurm's: bookworm (22.05, the default: the machine's
                      own files), trixie (24.11) or unstable; of these two a root is made first
                      by the program root beside $me, and build makes the plugin there
  --plugin FILE       load this SPANK plugin; default .lab/prefix/lib/slurm/spank_muster.so
                      of the source tree (.lab/prefix-RELEASE/...), if it is there;
                      none: no plugin
  --plugin-required   jobs fail when the plugin does (plugstack.conf: required, not optional)
  --backup-controller another host, backup, has a second slurmctld, which takes over once the
                      first has not answered for 3 s
  --accounting        MariaDB and slurmdbd on the head: associations, limits and QOS are enforced;
                      users alice and bob (account physics), carol (chemistry) and guest (visitors);
                      QOS urgent, which goes first and has batch requeued, normal and batch
  --site DIR          the scheduling of a site in place of the lab's own: partitions, QOS, accounts, users,
                      priority and preemption, as muster policy check --save DIR wrote them; as many
                      nodes as the site, 16 at most, or -n; with fewer nodes than the site, limits of
                      TRES shrink in proportion; times are divided by --speed; prints what is left out
  --gpus[=amd]        the GPU devices compute: GpuLibraryPath of each node's muster.conf has the
                      stand-ins of NVIDIA's or AMD's libraries (tests/gpu)
END
    run) cat <<END ;;
usage: $me [-L NAME] run COMMAND [ARG...]

Runs a command on the head, with this standard input, output and error and, where the head has
it, this directory. /tmp, /run, /dev, /etc and /var are the head's own; what is installed in
.lab/prefix (or .lab/prefix-RELEASE) comes first on PATH. The command gets the signals sent to $me, and $me
ends as the command does; 125 means that the lab could not run it.

  $me run srun -N4 -n8 --mpi=pmix ./hello
END
    on) cat <<END ;;
usage: $me [-L NAME] on NODE COMMAND [ARG...]

Runs a command on a node (n1, n2, ... or head), as run does on the head. Works on a node that is
cut off from the network; a frozen node runs nothing.

  $me on n2 ip -br address
END
    fault) cat <<END ;;
usage: $me [-L NAME] fault KIND [NODE] [ARG...]

Injects a fault, beside those that are there already; $me heal undoes all of them.

  slow-rail NODE IFACE [MBPS]   eth1 or eth2 slower, both ways (default a quarter)
  slow-sends NODE IFACE [MBPS]  only what the node sends on IFACE is slower
  slow-receives NODE IFACE [MBPS]
                                only what it receives
  slow-host NODE [MBPS]         both rails share one slower link, as a PCIe slot (default 5/4 of
                                a rail): seen only when both run
  slow-leaf LEAF [MBPS]         all ports of leaf1 or leaf2 slower (default a half)
  slow-path NODE PEER IFACE [MBPS]
                                only traffic between the two nodes is slower (default a quarter)
  flaky-rail NODE IFACE [MBPS [SLOW_S FAST_S]]
                                slower for a while, again and again (default 1 s of every 3)
  long-rail NODE IFACE [US]     each frame takes US microseconds longer, both ways (default 1000)
  lossy-rail NODE IFACE [PERCENT]
                                PERCENT of the frames are lost, both ways (default 2)
  corrupt-rail NODE IFACE [PERCENT]
                                PERCENT of the frames have a bit flipped, both ways (default 0.5)
  lossy-path NODE PEER IFACE [PERCENT]
                                PERCENT of the frames between the two nodes are lost (default 2)
  lossy-uplink [PERCENT]        PERCENT of the frames between the leaves are lost (default 2)
  rail-down NODE IFACE          no carrier, as if the cable were pulled
  wrong-mtu NODE IFACE [MTU]    the node's end has another MTU (default 1500)
  path-mtu NODE IFACE [MTU]     the switch's end has another MTU: longer frames vanish
  slow-uplink [MBPS]            the link between the leaves slower (default a quarter)
  slow-cores NODE [PERCENT]     all its processes together get PERCENT of the processors' time (default 35),
                                by a quota of cgroup v1
  slow-disk NODE [MBPS]         all nodes have DiskTestPath=/var/scratch; the directory of NODE is on a loop
                                device with MBPS MB/s (default 5)
  missing-gpu NODE [INDEX]      /dev/gpuINDEX vanishes while slurmd runs (default 3)
  gres-lies NODE [LIE]          gres.conf does not match the devices, and slurmd restarts. LIE is
                                device (default), /dev/gpu7 is no GPU; twice, it is /dev/gpu6
                                again; count, gres.conf has seven files, slurm.conf says eight
  munge-key NODE                munged runs with another key
  slurmd-killed NODE            slurmd is killed
  cut-off NODE                  all links cut at the switches
  powered-off NODE              the same, and every process killed
  rebooted NODE [SECONDS]       powered off for so long (default 1), then slurmd -b
  frozen NODE                   every process stopped, new ones too
  slurmdbd-killed               slurmdbd is killed; slurmctld keeps what it has to send
  mariadb-killed                MariaDB is killed; slurmdbd runs
  gpu-slow NODE [INDEX]         /dev/gpuINDEX (default 3) computes at half its rate
  gpu-slow-memory NODE [INDEX]  its memory has half its bandwidth
  gpu-wrong NODE [INDEX]        each 30th kernel leaves a wrong bit
  gpu-memory NODE [INDEX]       a bit of its memory is stuck
  gpu-link NODE [INDEX]         the path between it and the next one is slow, both ways
  gpu-hang NODE [INDEX]         its 40th kernel does not end
  gpu-collectives-slow NODE [INDEX]
                                all collectives that it takes part in run at half speed
  gpu-collectives-wrong NODE [INDEX]
                                a wrong bit in what it sends in collectives
  gpu-collectives-hang NODE [INDEX]
                                its collectives do not end
  gpu-lost NODE [INDEX]         it falls off the bus after its 40th kernel
  gpu-old-library NODE          libcuda.so.1 of the node is too old
  gpu-vendor NODE VENDOR        its accelerators are those of amd, rocm (AMD with the older library) or
                                gaudi, with a management library only; later faults apply to these
  gpu-FAULT NODE [INDEX]        the management library reports a fault of it: $(
                                    printf '%s\n' $(gpu_fault_kinds) |
                                        grep -vxE 'gpu-(collectives-.*|slow|slow-memory|wrong|memory|link|hang|lost|old-library|vendor)' |
                                        sed 's/^gpu-//' | xargs)
                                A node without --gpus has the stand-ins from its first such fault on.
  kernel-log NODE LINE          the kernel's log, /dev/kmsg of the node, has an entry with that text
END
    heal) cat <<END ;;
usage: $me [-L NAME] heal

Undoes all faults, starts daemons that have died, and waits until every node answers. Resumes
nodes that Slurm itself put down or drained because of a fault; a node drained by muster
(reason "muster: ...") or by hand stays so, and is named.
END
    status) cat <<END ;;
usage: $me [-L NAME] status

Shows the nodes with their leaf switch, management address, Slurm state and reason, and the
injected faults. Exit status 1 when the lab is down.
END
    down) cat <<END ;;
usage: $me [-L NAME] down

Kills every process of the lab and removes its namespaces, links, cgroups, mounts and .lab/NAME.
Also cleans up after an up that failed, was killed, or is still under way.
END
    esac
}
