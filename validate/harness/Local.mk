# SPDX-License-Identifier: Apache-2.0

# What the battery and the trainer stand on: options, output, the watch over the ranks of a job. What
# needs no MPI is a library of its own, so that unit tests can link it.
noinst_LIBRARIES += validate/harness/libharness.a
libharness = validate/harness/libharness.a lib/libstatistics.a lib/libmuster.a
validate_harness_libharness_a_SOURCES = \
	validate/harness/launcher.c validate/harness/launcher.h \
	validate/harness/options.c validate/harness/options.h \
	validate/harness/output.c validate/harness/output.h \
	validate/harness/pattern.c validate/harness/pattern.h \
	validate/harness/watch/admission.c validate/harness/watch/admission.h \
	validate/harness/watch/cpu_time.c validate/harness/watch/cpu_time.h \
	validate/harness/watch/hang_diagnosis.c validate/harness/watch/hang_diagnosis.h \
	validate/harness/watch/heartbeat.c validate/harness/watch/heartbeat.h \
	validate/harness/watch/members.h \
	validate/harness/watch/monitor.c validate/harness/watch/monitor.h \
	validate/harness/watch/peers.c validate/harness/watch/peers.h \
	validate/harness/watch/sockets.c validate/harness/watch/sockets.h \
	validate/harness/watch/stall.c validate/harness/watch/stall.h \
	validate/harness/watch/watch.c validate/harness/watch/watch.h \
	validate/harness/watch/watchdog.c validate/harness/watch/watchdog.h \
	# end of validate_harness_libharness_a_SOURCES
validate_harness_libharness_a_CFLAGS = $(AM_CFLAGS) -pthread

if HAVE_MPI
noinst_LIBRARIES += validate/harness/libharnessmpi.a
libharnessmpi = validate/harness/libharnessmpi.a $(libharness) $(MPI_LIBS)
validate_harness_libharnessmpi_a_SOURCES = \
	validate/harness/peer_exchange.c validate/harness/peer_exchange.h \
	validate/harness/program.c validate/harness/program.h \
	validate/harness/sleeping_wait.c validate/harness/sleeping_wait.h \
	# end of validate_harness_libharnessmpi_a_SOURCES
validate_harness_libharnessmpi_a_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
validate_harness_libharnessmpi_a_CFLAGS = $(AM_CFLAGS) -pthread
endif
