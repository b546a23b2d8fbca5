# SPDX-License-Identifier: Apache-2.0

# The judge on synthetic fabrics with injected faults. `make sim` writes the tables of
# doc/attribution.md (five minutes of processor); goals.t plays a short form of them, and fails when
# rows of the page are not what is printed now.
if BUILD_MUSTER
noinst_PROGRAMS += tests/sim/sim
tests_sim_sim_SOURCES = \
	tests/sim/busy.c tests/sim/busy.h \
	tests/sim/calibrate.c tests/sim/calibrate.h \
	tests/sim/fabric.c tests/sim/fabric.h \
	tests/sim/faults.c tests/sim/faults.h \
	tests/sim/noise.c tests/sim/noise.h \
	tests/sim/sim.c \
	tests/sim/stream.c tests/sim/stream.h \
	tests/sim/times.c tests/sim/times.h \
	tests/sim/certification.c tests/sim/certification.h \
	validate/battery/links/path/samples.c validate/battery/links/path/samples.h \
	# end of tests_sim_sim_SOURCES
tests_sim_sim_LDADD = $(liblocalization) validate/diagnose/libdiagnose.a validate/schedule/libschedule.a \
	$(libreport) lib/libmuster.a lib/libstatistics.a

long_checks += tests/sim/goals.t
plain_checks += tests/sim/goals.t

sim: tests/sim/sim
	$(AM_V_GEN)top_srcdir='$(top_srcdir)' tests/sim/sim long >tests/sim/table.md && \
	{ sed -n '1,/^<!-- tables/p' $(top_srcdir)/doc/attribution.md && echo && \
	    cat tests/sim/table.md; } >tests/sim/attribution.md && \
	mv tests/sim/attribution.md $(top_srcdir)/doc/attribution.md && rm tests/sim/table.md
.PHONY: sim
endif BUILD_MUSTER
EXTRA_DIST += tests/sim/goals.t tests/sim/noise tests/sim/lab.noise
CLEANFILES += tests/sim/table.md tests/sim/attribution.md

# a script, not a program of noise.c: see tests/spank-host/Local.mk
tests/sim/noise: ;
