# SPDX-License-Identifier: Apache-2.0

# Tests of the plugin without a cluster: programs that load it as Slurm does.
if BUILD_PLUGIN
stand_ins += tests/spank-host/munge.so

# the stand-in for Slurm: the functions that test programs export to the plugin, and lives of jobs
check_LIBRARIES += tests/spank-host/libhost.a
tests_spank_host_libhost_a_SOURCES = \
	tests/spank-host/fixture.c tests/spank-host/fixture.h \
	tests/spank-host/host.c tests/spank-host/host.h \
	tests/spank-host/life.c tests/spank-host/life.h \
	tests/spank-host/stack.c \
	tests/spank-host/watch.c tests/spank-host/watch.h \
	# end of tests_spank_host_libhost_a_SOURCES
tests_spank_host_libhost_a_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS)
host_libs = tests/spank-host/libhost.a $(unit_libs)
host_ldflags = $(AM_LDFLAGS) -Wl,--export-dynamic
host_needs = tests/spank-host/libhost.a tests/spank-host/munge.so spank/spank_muster.so

check_PROGRAMS += tests/spank-host/hooks.t
tests_spank_host_hooks_t_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS)
tests_spank_host_hooks_t_LDFLAGS = $(host_ldflags)
tests_spank_host_hooks_t_LDADD = $(host_libs)
EXTRA_tests_spank_host_hooks_t_DEPENDENCIES = $(host_needs)

check_PROGRAMS += tests/spank-host/gate.t
tests_spank_host_gate_t_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS)
tests_spank_host_gate_t_LDFLAGS = $(host_ldflags)
tests_spank_host_gate_t_LDADD = $(host_libs)
EXTRA_tests_spank_host_gate_t_DEPENDENCIES = $(host_needs)

check_PROGRAMS += tests/spank-host/deadline.t
tests_spank_host_deadline_t_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS)
tests_spank_host_deadline_t_LDFLAGS = $(host_ldflags)
tests_spank_host_deadline_t_LDADD = $(host_libs)
EXTRA_tests_spank_host_deadline_t_DEPENDENCIES = $(host_needs)

check_PROGRAMS += tests/spank-host/lives.t
tests_spank_host_lives_t_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS)
tests_spank_host_lives_t_LDFLAGS = $(host_ldflags)
tests_spank_host_lives_t_LDADD = $(host_libs)
EXTRA_tests_spank_host_lives_t_DEPENDENCIES = $(host_needs)
plain_checks += tests/spank-host/lives.t

check_PROGRAMS += tests/spank-host/preflight.t
tests_spank_host_preflight_t_SOURCES = \
	tests/spank-host/preflight.c \
	tests/spank-host/host.c tests/spank-host/host.h \
	tests/spank-host/stack.c \
	# end of tests_spank_host_preflight_t_SOURCES
tests_spank_host_preflight_t_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS)
tests_spank_host_preflight_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--export-dynamic
EXTRA_tests_spank_host_preflight_t_DEPENDENCIES = spank/spank_muster.so

check_PROGRAMS += tests/spank-host/interfaces.t
tests_spank_host_interfaces_t_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS)
tests_spank_host_interfaces_t_LDFLAGS = $(host_ldflags)
tests_spank_host_interfaces_t_LDADD = $(host_libs)
EXTRA_tests_spank_host_interfaces_t_DEPENDENCIES = $(host_needs)

check_PROGRAMS += tests/spank-host/faults.t
tests_spank_host_faults_t_SOURCES = \
	tests/spank-host/faults.c \
	tests/spank-host/fault.c tests/spank-host/fault.h \
	# end of tests_spank_host_faults_t_SOURCES
tests_spank_host_faults_t_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS)
tests_spank_host_faults_t_LDFLAGS = $(host_ldflags)
tests_spank_host_faults_t_LDADD = $(host_libs)
EXTRA_tests_spank_host_faults_t_DEPENDENCIES = $(host_needs)
plain_checks += tests/spank-host/faults.t

check_PROGRAMS += tests/spank-host/fuzz.t
tests_spank_host_fuzz_t_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS)
tests_spank_host_fuzz_t_LDFLAGS = $(host_ldflags)
tests_spank_host_fuzz_t_LDADD = $(host_libs)
EXTRA_tests_spank_host_fuzz_t_DEPENDENCIES = $(host_needs)

dist_check_SCRIPTS += tests/spank-host/symbols.t
plain_checks += tests/spank-host/symbols.t

# The tests whose result depends on the release of Slurm: without faults and random inputs.
.PHONY: check-plugin
check-plugin: all $(check_LIBRARIES) $(check_DATA)
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(filter-out %/faults.t %/lives.t %/fuzz.t,$(filter tests/spank-host/%,$(TESTS)))'
endif
EXTRA_DIST += tests/spank-host/munge.c tests/spank-host/fuzz tests/spank-host/parsers.c

# fuzz is a script; without this rule make would compile it from fuzz.c if that is newer
tests/spank-host/fuzz: ;
