# SPDX-License-Identifier: Apache-2.0

# Simulated subnets, and tests on them: need ibsim and opensm.
EXTRA_DIST += \
	tests/fabric/README.md \
	tests/fabric/forget_preload.c \
	tests/fabric/ibsim.sh \
	tests/fabric/judging.sh \
	tests/fabric/live.sh \
	tests/fabric/make-subnet \
	tests/fabric/t4500-subnet-names-each-fault.t \
	tests/fabric/t4501-slurm-takes-what-is-written.t \
	tests/fabric/t4502-tree-above-the-leaves.t \
	tests/fabric/t4503-other-shapes-that-run.t \
	tests/fabric/t4510-certify-knows-the-subnet.t \
	tests/fabric/t4520-ethernet-by-lldp.t \
	tests/fabric/t4521-certify-hears-lldp.t \
	# end of tests on simulated subnets
