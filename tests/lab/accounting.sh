# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# accounting.sh - lab up --accounting: MariaDB and slurmdbd on the head, users that every host knows,
# their accounts and QOS. `lab down` removes all of it with the hosts' processes and files.

# NAME:ACCOUNT:SHARES; the user IDs begin at 7721
readonly accounting_users='alice:physics:3 bob:physics:1 carol:chemistry:1 guest:visitors:1'

accounting_need_tools() {
    local tool missing=
    for tool in mariadbd mariadb-install-db mariadb-admin slurmdbd sacctmgr; do
        [ -x "$root/usr/sbin/$tool" ] || [ -x "$root/usr/bin/$tool" ] || missing+=" $tool"
    done
    [ -z "$missing" ] || die "not found:$missing (apt-get install --no-install-recommends mariadb-server slurmdbd)"
}

accounting_conf() { # prints the lines of slurm.conf for accounting
    cat <<END

AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=head
END
    if [ -n "$site" ]; then
        site_conf
        return
    fi
    cat <<END
AccountingStorageEnforce=associations,limits,qos,safe
AccountingStorageTRES=gres/gpu
EnforcePartLimits=ALL
# The QOS outweighs the users' shares and the jobs' age.
PriorityType=priority/multifactor
PriorityWeightQOS=100000
PriorityWeightFairshare=10000
PriorityWeightAge=1000
PreemptType=preempt/qos
PreemptMode=REQUEUE
END
}

# Writes the lines that node-init adds to /etc/passwd and /etc/group of each host.
accounting_files() {
    local user id=7721
    for user in $(if [ -n "$site" ]; then site_users; else echo "$accounting_users"; fi); do
        user=${user%%:*}
        echo "$user:x:$id:$id::/:/bin/sh" >>"$state/passwd"
        echo "$user:x:$id:" >>"$state/group"
        id=$((id + 1))
    done
}

mariadb_install() {
    host_do head sh -c "mkdir -p /run/mysqld /var/lib/mysql && chown mysql: /run/mysqld /var/lib/mysql &&
        mariadb-install-db --user=mysql --datadir=/var/lib/mysql --skip-test-db \
            --auth-root-authentication-method=socket >/var/log/mariadb.log 2>&1"
}

# Durability is for a lab, not for data: a commit does not wait for the disk
# (--innodb-flush-log-at-trx-commit=2), but survives a kill of MariaDB.
mariadb_start() {
    local log=/var/log/mariadb.log
    host_do head sh -c "setsid mariadbd --no-defaults --user=mysql --datadir=/var/lib/mysql \
        --socket=/run/mysqld/mysqld.sock --skip-networking --innodb-flush-log-at-trx-commit=2 \
        --innodb-lock-wait-timeout=900 >>$log 2>&1 </dev/null &"
    host_do head sh -c 'for i in $(seq 1200); do
        mariadb-admin --no-defaults --socket=/run/mysqld/mysqld.sock ping >/dev/null 2>&1 && exit; sleep 0.1; done; exit 1'
}

slurmdbd_start() {
    host_do head slurmdbd </dev/null
    host_do head sh -c 'for i in $(seq 1200); do
        sacctmgr -n show cluster >/dev/null 2>&1 && exit; sleep 0.1; done; exit 1' ||
        die "slurmdbd does not start: $(tail -n 3 "$state/head/var/log/slurm/slurmdbd.log")"
}

accounts_add() {
    echo "add cluster $name" | accounts_manage
    if [ -n "$site" ]; then site_qos; else accounts_of_lab; fi | accounts_manage
}

accounts_manage() { # runs the commands of sacctmgr on standard input
    host_do head sh -c 'while read -r line; do sacctmgr -iQ $line </dev/null || exit; done' \
        >>"$state/accounts.log" 2>&1 || die "sacctmgr: $(tail -n 2 "$state/accounts.log")"
}

# Prints the commands for the lab's own accounts. QOS urgent has a higher priority than normal and requeues
# batch; batch allows two running jobs per user; a job of visitors has at most four CPUs.
accounts_of_lab() {
    local user account shares
    echo 'add qos urgent priority=100'
    echo 'add qos batch priority=1'
    echo 'modify qos normal set priority=10'
    echo 'modify qos urgent set preempt=batch'
    echo 'modify qos batch set maxjobsperuser=2'
    for account in physics chemistry visitors; do
        echo "add account $account"
    done
    for user in $accounting_users; do
        IFS=: read -r user account shares <<<"$user"
        echo "add user $user account=$account fairshare=$shares"
    done
    echo 'modify account physics chemistry set qos=normal,urgent,batch defaultqos=normal'
    echo 'modify account visitors set qos=batch defaultqos=batch maxtres=cpu=4'
    echo 'modify user root set qos=normal,urgent,batch defaultqos=normal'
}

# Starts the database and slurmdbd, which creates root's account itself, and adds the other accounts.
accounting_start() {
    host_do head sh -c "umask 077; printf '%s\n' DbdHost=head SlurmUser=root LogFile=/var/log/slurm/slurmdbd.log \
        PidFile=/run/slurmdbd.pid StorageType=accounting_storage/mysql StorageHost=localhost StorageUser=root \
        >/etc/slurm/slurmdbd.conf"
    mariadb_install && mariadb_start ||
        die "MariaDB does not start: $(tail -n 3 "$state/head/var/log/mariadb.log")"
    slurmdbd_start
    accounts_add
}

fault_slurmdbd_killed() {
    accounting_fault slurmdbd-killed "$@"
    host_do head pkill -KILL -x slurmdbd || true
    print_info 'slurmdbd is killed'
}

fault_mariadb_killed() {
    accounting_fault mariadb-killed "$@"
    host_do head pkill -KILL -x mariadbd || true
    print_info 'MariaDB is killed'
}

accounting_fault() { # KIND ARG...
    fault_arguments "$1" $(($# - 1)) 0 0 ''
    [ "$accounting" = yes ] || usage_error "lab $name is up without --accounting"
    fault_record "$1"
}

# After any fault: starts MariaDB and slurmdbd again if they have died. slurmctld sends what it kept meanwhile.
accounting_heal() {
    [ "$accounting" = yes ] || return 0
    daemon_alive head mariadbd || mariadb_start ||
        die "MariaDB does not start: $(tail -n 3 "$state/head/var/log/mariadb.log")"
    daemon_alive head slurmdbd || slurmdbd_start
}
