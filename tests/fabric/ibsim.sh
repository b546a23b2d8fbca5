# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # subnet_dir is the test's
#
# Sourced by tests: a simulated InfiniBand subnet with a real subnet manager.
#
#   subnet_up FILE [HOST]   starts ibsim with the network of FILE; opensm sweeps it once
#   subnet_command COMMAND  sends COMMAND to ibsim's console
#   subnet_sweep            runs opensm again, after a change
#   subnet_run COMMAND...   runs COMMAND with libumad connected to ibsim
#   subnet_down             ends ibsim, if it runs
#
#   subnet_in=(COMMAND...)  a prefix to run all of it on a lab's head: ibsim's sockets belong to a network namespace
#
# All files are in $subnet_dir, and sockets have unique names, so that several subnets run side by side.

subnet_in=()

subnet_missing() { # prints what is missing; fails when nothing is
    local word missing=()
    for word in ibsim opensm ibnetdiscover iblinkinfo; do
        command -v $word >/dev/null || missing+=("$word")
    done
    subnet_preload=$(ls /usr/lib/*/umad2sim/libumad2sim.so /usr/lib64/umad2sim/libumad2sim.so 2>/dev/null | head -n 1)
    [ -n "$subnet_preload" ] || missing+=(libumad2sim.so)
    [ ${#missing[@]} -gt 0 ] && echo "no ${missing[*]} (Debian: ibsim-utils, opensm, infiniband-diags)"
}

subnet_run() {
    timeout 120 "${subnet_in[@]}" env IBSIM_SOCKNAME="$subnet_socket" SIM_HOST="$subnet_host" \
        OSM_TMP_DIR="$subnet_dir" OSM_CACHE_DIR="$subnet_dir" LD_PRELOAD="$subnet_preload" "$@" </dev/null
}

subnet_command() {
    printf '%s\n' "$*" >&"$subnet_console"
}

subnet_sweep() {
    local status=0
    # keeps the widths and speeds of the file: opensm would let every port use all that it supports
    printf '%s 0\n' force_link_width force_link_speed force_link_speed_ext >"$subnet_dir/opensm.conf"
    subnet_run opensm -F "$subnet_dir/opensm.conf" -o -f "$subnet_dir/opensm.log" >"$subnet_dir/opensm.out" 2>&1 || status=$?
    [ $status -eq 0 ] || sed 's/^/# /' "$subnet_dir/opensm.out"
    return $status
}

subnet_up() { # FILE [HOST]
    local i
    subnet_socket=muster.$$.$RANDOM
    subnet_host=${2-$(sed -n 's/^Ca\t[0-9]* "\([^"]*\)".*/\1/p;T;q' "$1")}
    rm -f "$subnet_dir/console"
    mkfifo "$subnet_dir/console"
    # keeps a writer open: at the end of its input ibsim would loop
    exec {subnet_console}<>"$subnet_dir/console"
    "${subnet_in[@]}" env IBSIM_SOCKNAME="$subnet_socket" ibsim -s "$1" <"$subnet_dir/console" >"$subnet_dir/ibsim.log" 2>&1 {subnet_console}>&- &
    subnet_pid=$!
    for ((i = 0; i < 600; i++)); do
        grep -q 'sim>' "$subnet_dir/ibsim.log" 2>/dev/null && break
        kill -0 "$subnet_pid" 2>/dev/null || { sed 's/^/# /' "$subnet_dir/ibsim.log"; return 1; }
        sleep 0.1
    done
    subnet_sweep
}

subnet_down() {
    [ -n "${subnet_pid-}" ] || return 0
    subnet_command Quit
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        kill -0 "$subnet_pid" 2>/dev/null || break
        sleep 0.05
    done
    kill "$subnet_pid" 2>/dev/null
    wait "$subnet_pid" 2>/dev/null
    exec {subnet_console}>&-
    subnet_pid=
}
