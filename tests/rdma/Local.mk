# SPDX-License-Identifier: Apache-2.0

# Guests with RDMA devices, and tests in them: need root and Debian's mirror.
EXTRA_DIST += \
	tests/rdma/README.md \
	tests/rdma/fetch \
	tests/rdma/first-init \
	tests/rdma/guest \
	tests/rdma/hardware.sh \
	tests/rdma/last_wqe.c \
	tests/rdma/muster_dcb.c \
	tests/rdma/muster_port.c \
	tests/rdma/run \
	tests/rdma/second-init \
	tests/rdma/slurm.sh \
	tests/rdma/testguest.sh \
	tests/rdma/topology.sh \
	tests/rdma/t4000-guest-runs-a-command.t \
	tests/rdma/t4010-muster-agrees-with-verbs.t \
	tests/rdma/t4011-affinity-is-the-trees.t \
	tests/rdma/t4020-interfaces-of-real-drivers.t \
	tests/rdma/t4021-priorities-are-set-and-put-back.t \
	tests/rdma/t4030-verbs-drive-the-ports.t \
	tests/rdma/t4031-nics-reach-gpus.t \
	tests/rdma/t4130-verbs-agree-with-perftest.t \
	tests/rdma/t4131-mis-tuned-rails-are-named.t \
	tests/rdma/t4132-ports-that-fail-say-why.t \
	tests/rdma/t4133-mis-tunings-on-and-off.t \
	tests/rdma/t4140-steps-use-rdma.t \
	tests/rdma/t4141-ranks-get-their-sockets-ports.t \
	# end of tests in guests
