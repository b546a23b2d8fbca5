# SPDX-License-Identifier: Apache-2.0

# The plugin without a cluster: a program that loads it as Slurm does.
if BUILD_PLUGIN
check_LTLIBRARIES += tests/spank-host/munge.la
tests_spank_host_munge_la_SOURCES = tests/spank-host/munge.c
tests_spank_host_munge_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere

check_PROGRAMS += tests/spank-host/hooks.t
tests_spank_host_hooks_t_SOURCES = \
	tests/spank-host/hooks.c \
	tests/spank-host/host.c tests/spank-host/host.h \
	tests/spank-host/stack.c \
	# end of tests_spank_host_hooks_t_SOURCES
tests_spank_host_hooks_t_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS)
tests_spank_host_hooks_t_LDFLAGS = $(AM_LDFLAGS) -export-dynamic
tests_spank_host_hooks_t_LDADD = tests/unit/libtree.la $(unit_libs)
EXTRA_tests_spank_host_hooks_t_DEPENDENCIES = tests/spank-host/munge.la spank/spank_muster.la

dist_check_SCRIPTS += tests/spank-host/symbols.t
endif
