# SPDX-License-Identifier: Apache-2.0

# Tests of the muster command on this machine. Each skips parts that need root, MUNGE or a namespace.
EXTRA_DIST += tests/command/certificate.sh tests/command/command.sh tests/command/gpu.sh \
	tests/command/train.sh
dist_check_SCRIPTS += \
	tests/command/t2300-conf-prints-what-is-in-force.t \
	tests/command/t2301-conf-names-the-line-at-fault.t \
	tests/command/t2302-constants-have-unit-and-origin.t \
	tests/command/t2400-certificate-says-what-changed.t \
	tests/command/t2401-certificate-cannot-be-forged.t \
	tests/command/t2402-certificate-cannot-tell-without-munge.t \
	tests/command/t2403-certificate-issue-names-a-bad-request.t \
	tests/command/t2410-compare-names-who-differs.t \
	tests/command/t2420-history-tells-what-changed.t \
	tests/command/t2430-reference-says-what-applies.t \
	# end of certificate and conf

# inventory and check, on recorded nodes and on this machine
dist_check_SCRIPTS += \
	tests/command/t2100-inventory-tells-a-node.t \
	tests/command/t2101-muster-names-bad-usage.t \
	tests/command/t2102-completion-knows-the-options.t \
	tests/command/t2110-installs-and-goes.t \
	tests/command/t2120-doctor-tells-what-lacks.t \
	tests/command/t2130-setup-proposes-and-takes-back.t \
	tests/command/t2200-check-names-the-part.t \
	tests/command/t2201-check-comes-to-a-verdict.t \
	tests/command/t2202-check-names-faults-on-a-node.t \
	tests/command/t2203-check-speaks-to-monitors.t \
	tests/command/t2204-sources-keep-to-their-rooms.t \
	tests/command/t2205-no-decision-by-text.t \
	tests/command/t2206-words-are-the-fields.t \
	tests/command/t2207-documents-say-what-is-there.t \
	tests/command/t2208-pages-say-what-help-says.t \
	tests/command/t2209-units-are-good.t \
	tests/command/t2210-purge-leaves-what-is-mounted.t \
	tests/command/t2211-quickstart-enables-no-daemon.t \
	tests/command/t2212-sources-need-no-newer-libc.t \
	tests/command/t2213-sources-lose-no-text-in-memory.t \
	tests/command/t2214-what-is-stable-stays.t \
	# end of inventory and check

# the battery's options
dist_check_SCRIPTS += \
	tests/command/t2500-battery-names-bad-usage.t \
	tests/command/t2501-records-that-are-lost-are-no-pass.t \
	tests/command/t2510-links-say-what-they-do-not-measure.t \
	tests/command/t2520-sigterm-ends-every-program.t \
	tests/command/t2530-gpu-names-each-fault.t \
	tests/command/t2531-gpu-collectives-name-who-is-at-fault.t \
	tests/command/t2532-gpu-drives-amd-by-hip.t \
	tests/command/t2540-host-measures-a-node.t \
	tests/command/t2900-preflight-names-bad-usage.t \
	tests/command/t2901-suspect-reports-are-left-and-read.t \
	tests/command/t2967-watch-names-bad-usage.t \
	# end of the battery

# the site's policy
dist_check_SCRIPTS += tests/command/t2640-policy-names-each-mistake.t
dist_check_SCRIPTS += tests/command/t2641-policy-reads-what-a-site-states.t
dist_check_SCRIPTS += tests/command/t2642-policy-reads-a-day.t
dist_check_SCRIPTS += tests/command/t2660-plan-follows-the-history.t
EXTRA_DIST += \
	tests/fixtures/policy/qos/associations \
	tests/fixtures/policy/qos/config \
	tests/fixtures/policy/qos/group \
	tests/fixtures/policy/qos/nodes \
	tests/fixtures/policy/qos/partitions \
	tests/fixtures/policy/qos/passwd \
	tests/fixtures/policy/qos/qos \
	tests/fixtures/policy/qos/reservations \
	tests/fixtures/policy/qos/slurm.conf \
	tests/fixtures/policy/tiers/config \
	tests/fixtures/policy/tiers/nodes \
	tests/fixtures/policy/tiers/partitions \
	tests/fixtures/policy/tiers/reservations \
	tests/fixtures/policy/tiers/slurm.conf \
	# end of policy

# topology
dist_check_SCRIPTS += \
	tests/command/t2600-topology-tells-who-serves-whom.t \
	tests/command/t2610-topology-judges-a-subnet.t \
	tests/command/t2611-topology-of-other-shapes.t \
	# end of topology

# recorded and published machines
dist_check_SCRIPTS += \
	tests/command/t2700-record-keeps-what-muster-reads.t \
	tests/command/t2701-explain-answers-without-slurm.t \
	tests/command/t2702-environments-are-the-golden-ones.t \
	# end of machines
EXTRA_DIST += \
	tests/golden/README.md \
	tests/golden/cases \
	tests/golden/golden.sh \
	tests/golden/update \
	tests/golden/aurora-every-rank.env \
	tests/golden/bond.env \
	tests/golden/crossing.conf \
	tests/golden/dgx-h100-all-gpus.env \
	tests/golden/dgx-h100-every-rank.env \
	tests/golden/dgx-h100-gpu-gone.env \
	tests/golden/dgx-h100-gpu0.env \
	tests/golden/dgx-h100-half-width.env \
	tests/golden/dgx-h100-nic-missing.env \
	tests/golden/dgx-h100-no-gpu.env \
	tests/golden/dgx-h100-off.env \
	tests/golden/dgx-h100-orted.env \
	tests/golden/dgx-h100-port-down.env \
	tests/golden/dgx-h100-torchrun.env \
	tests/golden/dgx-h100-unbound.env \
	tests/golden/dgx-h100-users-own.env \
	tests/golden/ethernet.env \
	tests/golden/gaudi3-card2.env \
	tests/golden/gcp-vm.env \
	tests/golden/hgx-a100-every-rank.env \
	tests/golden/hgx-a100-two-gpus.env \
	tests/golden/islands.conf \
	tests/golden/kvm-passthrough-gpu0.env \
	tests/golden/lab-node.env \
	tests/golden/mi300x-all-gpus.env \
	tests/golden/mi300x-flat.env \
	tests/golden/mi300x-gpu5-routed.env \
	tests/golden/mi300x-gpu5.env \
	tests/golden/mi300x-mixed-gids-gpu2.env \
	tests/golden/mi300x-mixed-gids.env \
	tests/golden/nd-a100-v4-gpu2.env \
	tests/golden/nd-h100-v5-gpu5.env \
	tests/golden/p4d-gpu0.env \
	tests/golden/p4d-torchrun.env \
	tests/golden/routed.conf \
	tests/golden/rxe-pair.env \
	tests/golden/slingshot-every-rank.env \
	tests/golden/two-fabrics-crossing.env \
	tests/golden/two-fabrics-every-rank.env \
	tests/golden/two-fabrics-island.env \
	tests/golden/vela-all-gpus.env \
	tests/golden/vela-every-rank.env \
	# end of golden files

# interfaces
dist_check_SCRIPTS += \
	tests/command/t2800-interfaces-sets-and-puts-back.t \
	# end of interfaces

# the trainer
dist_check_SCRIPTS += \
	tests/command/t2951-train-goes-on.t \
	tests/command/t2954-train-names-who-is-wrong.t \
	tests/command/t2958-train-agrees-without-memory.t \
	# end of the trainer

# reports
dist_check_SCRIPTS += \
	tests/command/t2956-train-agrees-with-pytorch.t \
	tests/command/t2960-report-tells-a-run.t \
	tests/command/t2961-report-doubts-what-it-reads.t \
	tests/command/t2962-report-page-works-in-a-browser.t \
	tests/command/t2963-schema-says-what-a-record-is.t \
	tests/command/t2965-proof-is-what-campaigns-gave.t \
	tests/command/t2966-top-shows-a-run.t \
	tests/command/t2968-prometheus-rules-hold.t \
	# end of reports

# muster-codec
EXTRA_DIST += tests/command/codec-read.py tests/command/crc32c.py
dist_check_SCRIPTS += \
	tests/command/t2970-codec-gives-files-back.t \
	tests/command/t2971-codec-names-damage.t \
	# end of muster-codec

# tests of collectives over MPI and of training, which take longest and start first
long_checks += \
	tests/command/t2985-programs-as-they-are-use-collectives.t \
	tests/command/t2980-collectives-are-right-over-mpi.t \
	tests/command/t2950-train-follows-its-options.t \
	tests/command/t2952-train-is-the-same-on-any-ranks.t \
	tests/command/t2953-train-ranks-go-on.t \
	tests/command/t2955-train-battery-names-who-is-wrong.t \
	tests/command/t2957-train-in-stages-is-the-same.t \
	# end of long checks
plain_checks += \
	tests/command/t2985-programs-as-they-are-use-collectives.t \
	tests/command/t2980-collectives-are-right-over-mpi.t \
	tests/command/t2952-train-is-the-same-on-any-ranks.t \
	tests/command/t2953-train-ranks-go-on.t \
	tests/command/t2955-train-battery-names-who-is-wrong.t \
	tests/command/t2957-train-in-stages-is-the-same.t \
	# end of plain checks
# Unconditional, because automake packs no EXTRA_DIST of a condition that is false.
EXTRA_DIST += \
	tests/command/device-mpi.c \
	tests/command/figures.py \
	tests/command/validate.py \
	tests/command/odd-mpi.c \
	tests/command/poor-storage.c \
	tests/command/slow-ucx.c \
	tests/command/unmodified.f90 \
	# end of EXTRA_DIST
if BUILD_BATTERY
stand_ins += tests/command/slow-ucx.so
endif
if BUILD_TRAINER
stand_ins += tests/command/poor-storage.so
noinst_PROGRAMS += tests/command/pipelines
tests_command_pipelines_SOURCES = tests/command/pipelines.c tests/command/mpi_checks.h
tests_command_pipelines_CFLAGS = $(trainer_cflags)
tests_command_pipelines_CPPFLAGS = $(trainer_cppflags)
tests_command_pipelines_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=calloc,--wrap=reallocarray \
	-Wl,--wrap=comm_gather_buffer
tests_command_pipelines_LDADD = $(libtrainer)
endif
if HAVE_MPI
stand_ins += tests/command/device-mpi.so tests/command/odd-mpi.so
noinst_PROGRAMS += tests/command/unmodified
tests_command_unmodified_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_command_unmodified_CFLAGS = $(AM_CFLAGS) -pthread
tests_command_unmodified_LDADD = $(MPI_LIBS)
noinst_PROGRAMS += tests/command/chain
tests_command_chain_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_command_chain_LDADD = $(libmustercollmpi) $(MPI_LIBS)
noinst_PROGRAMS += tests/command/confined
tests_command_confined_LDADD =
noinst_PROGRAMS += tests/command/collectives
tests_command_collectives_SOURCES = tests/command/collectives.c tests/command/mpi_checks.h
tests_command_collectives_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_command_collectives_CFLAGS = $(AM_CFLAGS) -pthread
tests_command_collectives_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=calloc,--wrap=reallocarray \
	-Wl,--wrap=getloadavg,--wrap=PMPI_Allgather,--wrap=PMPI_Allreduce,--wrap=PMPI_Bcast,--wrap=PMPI_Gather \
	-Wl,--wrap=process_vm_readv,--wrap=machine_write
tests_command_collectives_LDADD = $(libmustercollmpi) $(MPI_LIBS)
endif
