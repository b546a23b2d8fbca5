# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# accounting.sh - lab up --accounting: MariaDB and slurmdbd on the head. They go with the head's
# processes, and their files with its /var.

accounting_need() {
    local tool missing=
    for tool in mariadbd mariadb-install-db mariadb-admin slurmdbd sacctmgr; do
        [ -x "$root/usr/sbin/$tool" ] || [ -x "$root/usr/bin/$tool" ] || missing+=" $tool"
    done
    [ -z "$missing" ] || die "not found:$missing (apt-get install --no-install-recommends mariadb-server slurmdbd)"
}

accounting_conf() { # what slurm.conf has besides
    cat <<END

AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=head
AccountingStorageEnforce=associations,limits,qos
AccountingStorageTRES=gres/gpu
PriorityType=priority/multifactor
END
}

# For a lab, not for data: nothing waits for a disk.
mariadb_start() {
    local log=/var/log/mariadb.log
    host_do head sh -c "mkdir -p /run/mysqld /var/lib/mysql && chown mysql: /run/mysqld /var/lib/mysql &&
        mariadb-install-db --user=mysql --datadir=/var/lib/mysql --skip-test-db \
            --auth-root-authentication-method=socket >$log 2>&1" || return 1
    host_do head sh -c "setsid mariadbd --no-defaults --user=mysql --datadir=/var/lib/mysql \
        --socket=/run/mysqld/mysqld.sock --skip-networking --innodb-flush-log-at-trx-commit=0 \
        --innodb-lock-wait-timeout=900 >>$log 2>&1 </dev/null &"
    host_do head sh -c 'for i in $(seq 300); do
        mariadb-admin --no-defaults --socket=/run/mysqld/mysqld.sock ping >/dev/null 2>&1 && exit; sleep 0.1; done; exit 1'
}

# Slurm's own database makes root's account; nobody else has one.
accounting_start() {
    host_do head sh -c "umask 077; printf '%s\n' DbdHost=head SlurmUser=root LogFile=/var/log/slurm/slurmdbd.log \
        PidFile=/run/slurmdbd.pid StorageType=accounting_storage/mysql StorageHost=localhost StorageUser=root \
        >/etc/slurm/slurmdbd.conf"
    mariadb_start || die "MariaDB does not start: $(tail -n 3 "$(host_dir head)/var/log/mariadb.log")"
    host_do head slurmdbd </dev/null
    host_do head sh -c 'for i in $(seq 300); do
        sacctmgr -n show cluster >/dev/null 2>&1 && exit; sleep 0.1; done; exit 1' ||
        die "slurmdbd does not start: $(tail -n 3 "$(host_dir head)/var/log/slurm/slurmdbd.log")"
    host_do head sacctmgr -iQ add cluster "$name" >/dev/null
}
