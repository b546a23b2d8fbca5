# SPDX-License-Identifier: Apache-2.0

# The MPI programs. What needs no MPI is a library of its own, so that unit tests can link it.
noinst_LIBRARIES += validate/battery/libbattery.a
libbattery = validate/battery/libbattery.a $(libharness)
validate_battery_libbattery_a_SOURCES = \
	validate/battery/collectives/amount.c validate/battery/collectives/amount.h \
	validate/battery/collectives/effort.c validate/battery/collectives/effort.h \
	validate/battery/collectives/evidence.c validate/battery/collectives/evidence.h \
	validate/battery/links/passes.c validate/battery/links/passes.h \
	validate/battery/links/path/samples.c validate/battery/links/path/samples.h \
	validate/battery/links/path/errors.c validate/battery/links/path/errors.h \
	validate/battery/links/path/segments.c validate/battery/links/path/segments.h \
	validate/battery/links/path/transport.c validate/battery/links/path/transport.h \
	validate/battery/verbs/verb.c validate/battery/verbs/verb.h \
	# end of validate_battery_libbattery_a_SOURCES
validate_battery_libbattery_a_CFLAGS = $(AM_CFLAGS) -pthread

# What drives RDMA ports by libibverbs, in a library of its own that needs no MPI.
if HAVE_IBVERBS
noinst_LIBRARIES += validate/battery/verbs/libverbs.a
libverbs = validate/battery/verbs/libverbs.a $(IBVERBS_LIBS)
validate_battery_verbs_libverbs_a_SOURCES = \
	validate/battery/verbs/completion.c validate/battery/verbs/completion.h \
	validate/battery/verbs/flow.c validate/battery/verbs/flow.h \
	validate/battery/verbs/link.c validate/battery/verbs/link.h \
	validate/battery/verbs/measure.c validate/battery/verbs/measure.h \
	validate/battery/verbs/port.c validate/battery/verbs/port.h \
	# end of validate_battery_verbs_libverbs_a_SOURCES
validate_battery_verbs_libverbs_a_CPPFLAGS = $(AM_CPPFLAGS) $(IBVERBS_CFLAGS)
verbs_sources = \
	validate/battery/verbs/verbs_pair.c validate/battery/verbs/verbs_pair.h \
	validate/battery/verbs/local.c \
	# end of verbs_sources
verbs_libs = $(libverbs)
else
verbs_sources = validate/battery/verbs/absent.c validate/battery/verbs/verbs_pair.h
verbs_libs =
endif
EXTRA_DIST += validate/battery/verbs/absent.c

# What drives accelerators needs no MPI either.
noinst_LIBRARIES += validate/battery/gpu/libgpu.a
libgpu = validate/battery/gpu/libgpu.a $(verbs_libs) validate/accelerator/libdevice.a validate/accelerator/libaccelerator.a \
	validate/schedule/libschedule.a lib/libstatistics.a lib/libmuster.a
validate_battery_gpu_libgpu_a_SOURCES = \
	validate/battery/gpu/device_set.c validate/battery/gpu/device_set.h \
	validate/battery/gpu/evaluate.c validate/battery/gpu/evaluate.h \
	validate/battery/gpu/group_evaluate.c validate/battery/gpu/group_evaluate.h \
	validate/battery/gpu/group_worker.c \
	validate/battery/gpu/peer_rounds.c validate/battery/gpu/peer_rounds.h \
	validate/battery/gpu/products.c validate/battery/gpu/products.h \
	validate/battery/gpu/references.c \
	validate/battery/gpu/usage.c validate/battery/gpu/usage.h \
	validate/battery/gpu/worker.c validate/battery/gpu/worker.h \
	validate/battery/gpu/worker_process.c \
	# end of validate_battery_gpu_libgpu_a_SOURCES
if HAVE_IBVERBS
validate_battery_gpu_libgpu_a_SOURCES += validate/battery/gpu/nic.c validate/battery/gpu/nic.h
else
validate_battery_gpu_libgpu_a_SOURCES += validate/battery/gpu/nic_absent.c validate/battery/gpu/nic.h
endif
EXTRA_DIST += validate/battery/gpu/nic.c validate/battery/gpu/nic_absent.c
validate_battery_gpu_libgpu_a_CPPFLAGS = $(AM_CPPFLAGS) $(IBVERBS_CFLAGS)

noinst_LIBRARIES += validate/battery/host/libhost.a
libhost = validate/battery/host/libhost.a lib/libstatistics.a lib/libmuster.a
validate_battery_host_libhost_a_SOURCES = \
	validate/battery/host/disk.c \
	validate/battery/host/evaluate.c validate/battery/host/evaluate.h \
	validate/battery/host/kernels.c validate/battery/host/kernels.h \
	validate/battery/host/measure.c validate/battery/host/measure.h \
	validate/battery/host/topology.c validate/battery/host/topology.h \
	# end of validate_battery_host_libhost_a_SOURCES
validate_battery_host_libhost_a_CFLAGS = $(AM_CFLAGS) -pthread

if BUILD_BATTERY
bin_PROGRAMS += muster-launch
battery_cppflags = $(AM_CPPFLAGS) $(MPI_CFLAGS)
battery_cflags = $(AM_CFLAGS) -pthread
battery_libs = $(libbattery) $(libharnessmpi) validate/schedule/libschedule.a

launch_sources = \
	validate/battery/launch/messages.c validate/battery/launch/messages.h \
	validate/battery/launch/workers.c validate/battery/launch/workers.h \
	# end of launch_sources

muster_launch_SOURCES = \
	validate/battery/launch/clock.c validate/battery/launch/clock.h \
	validate/battery/launch/launch.c \
	$(launch_sources) \
	# end of muster_launch_SOURCES
muster_launch_CPPFLAGS = $(battery_cppflags)
muster_launch_CFLAGS = $(battery_cflags)
muster_launch_LDADD = $(battery_libs)

links_sources = \
	validate/battery/links/sub_rounds.c validate/battery/links/sub_rounds.h \
	validate/battery/links/pass_schedule.c validate/battery/links/pass_schedule.h \
	validate/battery/links/pair/control.c validate/battery/links/pair/control.h \
	validate/battery/links/pair/pair_probe.c \
	validate/battery/links/pair/pair_run.c validate/battery/links/pair/pair_run.h \
	validate/battery/links/pair/overlap.c validate/battery/links/pair/overlap.h \
	validate/battery/links/path/channel.c validate/battery/links/path/channel.h \
	validate/battery/links/path/path.c validate/battery/links/path/path.h \
	validate/battery/links/path/probe.c validate/battery/links/path/probe.h \
	validate/battery/links/report/kinds.c validate/battery/links/report/kinds.h \
	validate/battery/links/report/linkreport.c validate/battery/links/report/linkreport.h \
	validate/battery/links/report/sums.c validate/battery/links/report/sums.h \
	validate/battery/links/report/verbsreport.c validate/battery/links/report/verbsreport.h \
	validate/battery/links/rounds.c validate/battery/links/rounds.h \
	$(verbs_sources) \
	# end of links_sources

bin_PROGRAMS += muster-links
muster_links_SOURCES = \
	validate/battery/links/links.c \
	validate/battery/links/path/resources.c validate/battery/links/path/resources.h \
	$(links_sources) \
	# end of muster_links_SOURCES
muster_links_CPPFLAGS = $(battery_cppflags) $(UCX_CFLAGS) $(IBVERBS_CFLAGS)
muster_links_CFLAGS = $(battery_cflags)
muster_links_LDADD = $(verbs_libs) $(battery_libs) $(UCX_LIBS)

bin_PROGRAMS += muster-collectives
muster_collectives_SOURCES = \
	validate/battery/collectives/bound.c validate/battery/collectives/bound.h \
	validate/battery/collectives/cases.c validate/battery/collectives/cases.h \
	validate/battery/collectives/collectives.c \
	validate/battery/collectives/ours.c validate/battery/collectives/ours.h \
	validate/battery/collectives/speed.c validate/battery/collectives/speed.h \
	validate/battery/collectives/sweep.c \
	validate/battery/collectives/verdict.c validate/battery/collectives/verdict.h \
	validate/battery/collectives/values.c validate/battery/collectives/values.h \
	# end of muster_collectives_SOURCES
muster_collectives_CPPFLAGS = $(battery_cppflags)
muster_collectives_CFLAGS = $(battery_cflags)
muster_collectives_LDADD = $(libmustercollmpi) $(battery_libs)

bin_PROGRAMS += muster-gpu
muster_gpu_SOURCES = \
	validate/battery/gpu/crew.c validate/battery/gpu/crew.h \
	validate/battery/gpu/gpu.c \
	validate/battery/gpu/group.c validate/battery/gpu/group.h \
	# end of muster_gpu_SOURCES
muster_gpu_CPPFLAGS = $(battery_cppflags)
muster_gpu_CFLAGS = $(battery_cflags)
muster_gpu_LDADD = $(libgpu) $(battery_libs)

bin_PROGRAMS += muster-host
muster_host_SOURCES = \
	validate/battery/host/host.c \
	# end of muster_host_SOURCES
muster_host_CPPFLAGS = $(battery_cppflags)
muster_host_CFLAGS = $(battery_cflags)
muster_host_LDADD = $(libhost) $(battery_libs)

bin_PROGRAMS += muster-preflight
muster_preflight_SOURCES = \
	validate/battery/collectives/speed.c validate/battery/collectives/speed.h \
	validate/battery/preflight/preflight.c \
	validate/battery/preflight/sum.c validate/battery/preflight/sum.h \
	$(launch_sources) $(links_sources) \
	# end of muster_preflight_SOURCES
muster_preflight_CPPFLAGS = $(battery_cppflags) $(UCX_CFLAGS) $(IBVERBS_CFLAGS)
muster_preflight_CFLAGS = $(battery_cflags)
muster_preflight_LDADD = $(verbs_libs) $(battery_libs) $(UCX_LIBS)
endif
