# SPDX-License-Identifier: Apache-2.0

# Benchmarks, run by hand (README.md). repeat and hook are built from one source.
EXTRA_PROGRAMS =
if BUILD_MUSTER
EXTRA_PROGRAMS += tests/bench/certify
tests_bench_certify_SOURCES = tests/bench/certify.c tests/unit/validate/certify/made_machine.c
tests_bench_certify_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS)
tests_bench_certify_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=geteuid,--wrap=user_find,--wrap=access
tests_bench_certify_LDADD = validate/certify/libcertify.a $(muster_libs)
endif
if BUILD_PLUGIN
EXTRA_PROGRAMS += tests/bench/repeat tests/bench/hook
tests_bench_repeat_SOURCES = tests/bench/repeat.c
tests_bench_repeat_LDADD =
tests_bench_hook_SOURCES = tests/bench/repeat.c
tests_bench_hook_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CFLAGS) -DHOOK
tests_bench_hook_LDFLAGS = $(host_ldflags)
tests_bench_hook_LDADD = $(host_libs)
endif

if HAVE_MPI
EXTRA_PROGRAMS += tests/bench/sweep
tests_bench_sweep_SOURCES = tests/bench/sweep.c tests/bench/least_work.c tests/bench/least_work.h \
	tests/bench/mpi_calls.c tests/bench/mpi_calls.h tests/bench/open_mpi.c tests/bench/open_mpi.h
tests_bench_sweep_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_bench_sweep_LDADD = $(libmustercollmpi) $(MPI_LIBS)

EXTRA_PROGRAMS += tests/bench/preloaded
tests_bench_preloaded_SOURCES = tests/bench/preloaded.c tests/bench/mpi_calls.c \
	tests/bench/mpi_calls.h
tests_bench_preloaded_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_bench_preloaded_LDADD = $(MPI_LIBS)
endif
CLEANFILES += $(EXTRA_PROGRAMS)

EXTRA_DIST += \
	tests/bench/README.md \
	tests/bench/bench.py \
	tests/bench/codec \
	tests/bench/collectives \
	tests/bench/diagnose \
	tests/bench/gate \
	tests/bench/head \
	tests/bench/idle \
	tests/bench/islands \
	tests/bench/links \
	tests/bench/memory \
	tests/bench/nhc \
	tests/bench/preload \
	tests/bench/scale \
	tests/bench/strategies \
	tests/bench/step \
	tests/bench/sweep_mpich.c \
	tests/bench/train \
	tests/bench/train_torch.py \
	# end of EXTRA_DIST
