# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# tap.sh - a small TAP library for shell tests (prove(1) reads the output).
#
#   . "$(dirname "$0")/../tap.sh"       # the path from the test to tests/tap.sh
#   plan 5                              # or no plan, and done_testing at the end
#   ok 'true says yes' true             # passes when the command succeeds
#   not_ok 'false says no' false        # passes when the command fails (a status, not a signal)
#   is "$(echo a)" a 'echo echoes'      # got, expected, name
#   isnt "$pid" "$old" 'a new process'
#   is_within 60 idle 'free again' state_of n1
#                                       # waits up to 60 s until the command prints the expected text
#   like "$text" '^n[0-9]+$' 'a node'   # got, extended regular expression, name
#   unlike "$text" 'error' 'no error'
#   skip 2 'no GPU here'                # counts two tests as skipped
#   skip_all 'needs root'               # before any test: the whole file, then exits
#   bail 'slurmctld does not start'     # stops the whole test run
#
# Every check returns 0 when it passed and 1 when not. If a command given to ok fails, its output
# appears as '# ' lines. The script exits 1 when a test failed or the plan was not met.

# Programs of Debian's packages come before others of the same name: python3-jsonschema is for Debian's
# python3, and a wrapper in its place may take a second to start.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH

tap_count=0 tap_failed=0 tap_planned='' tap_owner=$BASHPID

diag() { printf '%s\n' "$*" | sed 's/^/# /' >&2; }

plan() {
    tap_planned=$1
    echo "1..$1"
}

tap_result() { # STATUS NAME
    tap_count=$((tap_count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tap_count - $2"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_count - $2"
        diag "failed: $2 (${BASH_SOURCE[2]##*/}, line ${BASH_LINENO[1]})"
    fi
    return "$1"
}

ok() { # NAME COMMAND...
    local tap_name=$1 tap_status=0 tap_output
    shift
    tap_output=$("$@" 2>&1) || tap_status=$?
    if [ "$tap_status" -eq 0 ]; then
        tap_result 0 "$tap_name"
    else
        tap_result 1 "$tap_name" || diag "exit status $tap_status of: $*
$tap_output"
        return 1
    fi
}

not_ok() { # NAME COMMAND...
    local tap_name=$1 tap_status=0 tap_output
    shift
    tap_output=$("$@" 2>&1) || tap_status=$?
    # 124 and more: the command was killed, timed out, or could not be started
    if [ "$tap_status" -ne 0 ] && [ "$tap_status" -lt 124 ]; then
        tap_result 0 "$tap_name"
    else
        tap_result 1 "$tap_name" || diag "exit status $tap_status, a failure expected, of: $*
$tap_output"
        return 1
    fi
}

is() { # GOT EXPECTED NAME
    if [ "$1" = "$2" ]; then
        tap_result 0 "$3"
    else
        tap_result 1 "$3" || diag "     got: $1
expected: $2"
        return 1
    fi
}

is_within() { # SECONDS EXPECTED NAME COMMAND...
    local tap_got tap_deadline=$((SECONDS + $1))
    until tap_got=$("${@:4}") || :; [ "$tap_got" = "$2" ] || [ $SECONDS -ge $tap_deadline ]; do
        sleep 0.1
    done
    if [ "$tap_got" = "$2" ]; then
        tap_result 0 "$3"
    else
        tap_result 1 "$3" || diag "     got: $tap_got
expected: $2, within $1 s"
        return 1
    fi
}

isnt() { # GOT UNEXPECTED NAME
    if [ "$1" != "$2" ]; then
        tap_result 0 "$3"
    else
        tap_result 1 "$3" || diag "got, and should not: $1"
        return 1
    fi
}

like() { # GOT REGEX NAME
    if printf '%s\n' "$1" | grep -Eq -e "$2"; then
        tap_result 0 "$3"
    else
        tap_result 1 "$3" || diag "          got: $1
does not match: $2"
        return 1
    fi
}

unlike() { # GOT REGEX NAME
    if ! printf '%s\n' "$1" | grep -Eq -e "$2"; then
        tap_result 0 "$3"
    else
        tap_result 1 "$3" || diag "    got: $1
matches: $2"
        return 1
    fi
}

pass() { tap_result 0 "$1"; }
fail() { tap_result 1 "$1"; }

skip() { # COUNT REASON
    local tap_left=$1
    while [ "$tap_left" -gt 0 ]; do
        tap_count=$((tap_count + 1))
        tap_left=$((tap_left - 1))
        echo "ok $tap_count # SKIP $2"
    done
}

# Whether the program is built with AddressSanitizer: many ranks of it on few cores take minutes.
is_sanitized() { # PROGRAM
    grep -q __asan_init "$1"
}

# Sets the environment of mpirun: root may run it, and leaks, which Open MPI has, are not reported.
mpi_environment() {
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 MUSTER_ALLOW_ROOT=1
    export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
    # else, with more than two ranks, each rank reads the names of all PCI devices, which takes seconds
    # with AddressSanitizer
    export HWLOC_COMPONENTS=-pci
    # with more ranks than cores a rank that waits must yield to the others
    export OMPI_MCA_mpi_yield_when_idle=1
}

# Repeats a command until it succeeds, for at most SECONDS. Choose a limit far above the time on a busy
# machine.
within() { # SECONDS COMMAND...
    local deadline=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $deadline ] || return 1
        sleep 0.1
    done
}

skip_all() {
    tap_planned=0
    echo "1..0 # SKIP $1"
    exit 0
}

bail() {
    tap_planned=$tap_count
    echo "Bail out! $1"
    exit 255
}

done_testing() {
    [ -n "$tap_planned" ] || plan "$tap_count"
}

# A test defines tap_cleanup to clean up at its end.
tap_exit() {
    local status=$?
    # A subshell that inherited the trap is not the test.
    [ "$BASHPID" = "$tap_owner" ] || return "$status"
    trap - EXIT
    if declare -F tap_cleanup >/dev/null; then
        tap_cleanup
    fi
    if [ "$status" -eq 0 ] && [ -n "$tap_planned" ] && [ "$tap_planned" -ne 0 ] &&
        [ "$tap_count" -ne "$tap_planned" ]; then
        diag "planned $tap_planned tests, ran $tap_count"
        status=1
    fi
    [ "$status" -eq 0 ] && [ -z "$tap_planned" ] && { diag 'no plan'; status=1; }
    [ "$status" -eq 0 ] && [ "$tap_failed" -ne 0 ] && status=1
    exit "$status"
}
trap tap_exit EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
