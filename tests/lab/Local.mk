# SPDX-License-Identifier: Apache-2.0

# The lab and its tests need root and Slurm's daemons; prove tests/lab runs them.
EXTRA_DIST += \
	tests/tap.sh \
	tests/lab/README.md \
	tests/lab/build \
	tests/lab/change-root.sh \
	tests/lab/enter.c \
	tests/lab/fault.sh \
	tests/lab/help.sh \
	tests/lab/lab \
	tests/lab/network.sh \
	tests/lab/node-init \
	tests/lab/node.sh \
	tests/lab/release.sh \
	tests/lab/root \
	tests/lab/slurm.sh \
	tests/lab/t1000-lab-names-bad-input.t \
	tests/lab/t1001-lab-up-runs-mpi.t \
	tests/lab/t1002-gres-isolates-devices.t \
	tests/lab/t1003-faults-heal.t \
	tests/lab/t1004-two-labs-side-by-side.t \
	tests/lab/t1005-down-leaves-nothing.t \
	tests/lab/t1006-links-run-at-their-speed.t \
	tests/lab/t1007-lab-runs-where-cgroups-are-v2.t \
	tests/lab/spank.sh \
	tests/lab/t1200-tasks-get-their-environment.t \
	tests/lab/t1201-options-and-twins.t \
	tests/lab/t1202-launchers-start-their-own-ranks.t \
	tests/lab/t1203-node-problems-leave-jobs-unharmed.t \
	tests/lab/gate.sh \
	tests/lab/t1300-gate-meets-policy.t \
	tests/lab/t1301-refused-jobs-wait.t \
	tests/lab/t1302-only-three-hooks-fail.t \
	tests/lab/certificate.sh \
	tests/lab/t1400-certificate-belongs-to-its-node.t \
	tests/lab/t1401-certificate-sees-changes.t \
	tests/lab/battery.sh \
	tests/lab/t1500-launch-checks-nodes-and-messages.t \
	tests/lab/t1501-watch-names-dead-and-hung-ranks.t \
	tests/lab/t1502-watch-names-a-frozen-node.t \
	tests/lab/t1600-links-measure-every-rail.t \
	tests/lab/t1601-links-show-the-slow-rail.t \
	tests/lab/t1700-collectives-are-exact.t \
	tests/lab/t1701-collectives-name-the-corrupt-rank.t \
	tests/lab/campaign-faults \
	tests/lab/certify.sh \
	tests/lab/t1800-certify-passes-healthy-nodes.t \
	tests/lab/t1801-certify-names-each-fault.t \
	tests/lab/t1802-certify-drains-and-releases.t \
	tests/lab/t1803-revoke-reaches-other-nodes.t \
	tests/lab/t1804-certify-copes-with-slurm.t \
	tests/lab/t1900-certify-killed-leaves-nothing.t \
	tests/lab/t1901-certify-survives-a-node-that-goes.t \
	tests/lab/t3400-lab-runs-another-release.t \
	tests/lab/testlab.sh
