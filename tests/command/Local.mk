# SPDX-License-Identifier: Apache-2.0

# The muster command, on this machine alone. Each skips what needs root, MUNGE or a namespace.
EXTRA_DIST += tests/command/certificate.sh
dist_check_SCRIPTS += \
	tests/command/t2300-conf-prints-what-is-in-force.t \
	tests/command/t2301-conf-names-the-line-at-fault.t \
	tests/command/t2400-certificate-says-what-changed.t \
	tests/command/t2401-certificate-cannot-be-forged.t \
	tests/command/t2402-certificate-cannot-tell-without-munge.t \
	tests/command/t2403-certificate-issue-names-a-bad-request.t \
	# end of certificate and conf

# inventory and check, of recorded nodes and of this machine
dist_check_SCRIPTS += \
	tests/command/t2100-inventory-tells-a-node.t \
	tests/command/t2101-muster-names-bad-usage.t \
	tests/command/t2200-check-names-the-part.t \
	tests/command/t2201-check-takes-less-than-a-second.t \
	tests/command/t2202-check-names-faults-on-a-node.t \
	# end of inventory and check

# the battery's options
dist_check_SCRIPTS += \
	tests/command/t2500-battery-names-bad-usage.t \
	tests/command/t2900-preflight-names-bad-usage.t \
	# end of the battery

# topology
dist_check_SCRIPTS += \
	tests/command/t2600-topology-tells-who-serves-whom.t \
	# end of topology

# recorded and published machines
dist_check_SCRIPTS += \
	tests/command/t2700-record-keeps-what-muster-reads.t \
	tests/command/t2701-explain-answers-without-slurm.t \
	# end of machines
