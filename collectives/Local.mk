# SPDX-License-Identifier: Apache-2.0

# libmustercoll: what the battery measures with and the trainer reduces with. Knows MPI, not Slurm;
# these rooms do not need MPI either.
noinst_LIBRARIES += collectives/libmustercoll.a
libmustercoll = collectives/libmustercoll.a lib/libmuster.a
collectives_libmustercoll_a_SOURCES = \
	lib/constants/collectives_constants.h \
	# end

# lossless coding of gradients
collectives_libmustercoll_a_SOURCES += \
	collectives/codec/avx512.h \
	collectives/codec/avx512_decode.c \
	collectives/codec/avx512_encode.c \
	collectives/codec/avx512_split.c \
	collectives/codec/bits.h \
	collectives/codec/block.c collectives/codec/block.h \
	collectives/codec/codec.h \
	collectives/codec/crc32c.c collectives/codec/crc32c.h \
	collectives/codec/decoding.c \
	collectives/codec/frame.c collectives/codec/frame.h \
	collectives/codec/frequent.c collectives/codec/frequent.h \
	collectives/codec/path.c collectives/codec/path.h \
	collectives/codec/path_avx2.c \
	collectives/codec/path_avx512.c \
	collectives/codec/path_portable.c \
	collectives/codec/table.c collectives/codec/table.h \
	# end

# muster-codec: compresses a file by hand
bin_PROGRAMS += muster-codec
muster_codec_SOURCES = \
	collectives/command/bench.c collectives/command/bench.h \
	collectives/command/file.c collectives/command/file.h \
	collectives/command/muster-codec.c \
	collectives/command/stream.c collectives/command/stream.h \
	# end of muster_codec_SOURCES
muster_codec_LDADD = $(libmustercoll) lib/libstatistics.a

# what is sent in few bits, and how far it may be off
collectives_libmustercoll_a_SOURCES += \
	collectives/precision/bound.c \
	collectives/precision/format.h \
	collectives/precision/precision.c collectives/precision/precision.h \
	collectives/processor.h \
	# end

# what is added, the algorithms as plans, and what moves them over MPI
collectives_libmustercoll_a_SOURCES += \
	collectives/algorithms/algorithm.h \
	collectives/algorithms/binomial.c \
	collectives/algorithms/bruck.c \
	collectives/algorithms/direct.c \
	collectives/algorithms/double_tree.c \
	collectives/algorithms/halving.c \
	collectives/algorithms/halving_scatter.c \
	collectives/algorithms/hierarchical.c \
	collectives/algorithms/pairwise.c \
	collectives/algorithms/pull.c \
	collectives/algorithms/recursive_doubling.c \
	collectives/algorithms/ring.c \
	collectives/algorithms/shared_moves.c \
	collectives/algorithms/shared_reductions.c \
	collectives/algorithms/sharing.c collectives/algorithms/sharing.h \
	collectives/algorithms/table.c \
	collectives/plan/order.c collectives/plan/order.h \
	collectives/plan/plan.c collectives/plan/plan.h \
	collectives/plan/shape.c \
	collectives/reduce/element.c \
	collectives/reduce/nontemporal.c collectives/reduce/nontemporal.h \
	collectives/reduce/reduce.c collectives/reduce/reduce.h \
	collectives/wire/wire.c collectives/wire/wire.h \
	# end
if HAVE_MPI
noinst_LIBRARIES += collectives/libmustercollmpi.a
libmustercollmpi = collectives/libmustercollmpi.a $(libmustercoll) $(MPI_LIBS)
collectives_libmustercollmpi_a_SOURCES = \
	collectives/collective.h \
	collectives/engine/cache.c collectives/engine/cache.h \
	collectives/engine/call.c \
	collectives/engine/collective.c \
	collectives/engine/parts.h \
	collectives/engine/progress.c \
	collectives/engine/run.c collectives/engine/run.h \
	collectives/engine/window.c collectives/engine/window.h \
	# end of collectives_libmustercollmpi_a_SOURCES
collectives_libmustercollmpi_a_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
collectives_libmustercollmpi_a_CFLAGS = $(AM_CFLAGS) -pthread
endif

# which algorithm: what was measured of the machine, and what follows from it
collectives_libmustercoll_a_SOURCES += \
	collectives/choose/cache.c collectives/choose/cache.h \
	collectives/choose/chooser.c collectives/choose/chooser.h \
	collectives/choose/chooser_parts.h collectives/choose/wires.c \
	collectives/choose/facts.c collectives/choose/facts.h \
	collectives/choose/layout.c collectives/choose/layout.h \
	collectives/choose/machine.c collectives/choose/machine.h \
	collectives/choose/machine_text.c \
	collectives/choose/background_load.c collectives/choose/background_load.h \
	collectives/choose/predict.c collectives/choose/predict.h \
	# end
EXTRA_DIST += collectives/pmpi/mustercoll-pmpi.lds
if HAVE_MPI
collectives_libmustercollmpi_a_SOURCES += \
	collectives/choose/candidates.c collectives/choose/candidates.h \
	collectives/choose/layout_mpi.c collectives/choose/layout_mpi.h \
	collectives/choose/measure.c collectives/choose/measure.h \
	collectives/choose/benchmarks.c \
	collectives/choose/tuned.c collectives/choose/tuned.h \
	# end

# Figures that are kept are of this code: what is faster now, or tried another way, is measured anew.
collectives/choose/measured-code.h: $(collectives_libmustercoll_a_SOURCES) \
		$(collectives_libmustercollmpi_a_SOURCES)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	for file in $^; do cat $$file || exit 1; done | cksum | \
		sed 's/\(.*\) .*/#define MEASURED_CODE "\1"/' >$@.new && mv $@.new $@
BUILT_SOURCES += collectives/choose/measured-code.h
CLEANFILES += collectives/choose/measured-code.h

# for programs as they are, by LD_PRELOAD
preloaddir = $(libdir)
preload_PROGRAMS = collectives/libmustercoll-pmpi.so
collectives_libmustercoll_pmpi_so_SOURCES = \
	collectives/pmpi/init.c \
	collectives/pmpi/fortran.c \
	collectives/pmpi/fallback.c collectives/pmpi/fallback.h \
	collectives/pmpi/data_movement.c \
	collectives/pmpi/pmpi.h \
	collectives/pmpi/reductions.c \
	collectives/pmpi/state.c collectives/pmpi/state.h \
	collectives/pmpi/summary.c collectives/pmpi/summary.h \
	collectives/pmpi/types.c collectives/pmpi/types.h \
	# end of collectives_libmustercoll_pmpi_so_SOURCES
# Ranks of one job with another code would do other things in turn, and take each other's messages for
# something else.
collectives/pmpi/preloaded-code.h: $(collectives_libmustercoll_pmpi_so_SOURCES) \
		$(collectives_libmustercoll_a_SOURCES) $(collectives_libmustercollmpi_a_SOURCES)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	for file in $^; do cat $$file || exit 1; done | cksum | \
		sed 's/\(.*\) .*/#define PRELOADED_CODE "\1"/' >$@.new && mv $@.new $@
BUILT_SOURCES += collectives/pmpi/preloaded-code.h
CLEANFILES += collectives/pmpi/preloaded-code.h
collectives_libmustercoll_pmpi_so_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
collectives_libmustercoll_pmpi_so_CFLAGS = $(AM_CFLAGS) -pthread
collectives_libmustercoll_pmpi_so_LDFLAGS = $(AM_LDFLAGS) -shared \
	-Wl,--version-script=$(top_srcdir)/collectives/pmpi/mustercoll-pmpi.lds
collectives_libmustercoll_pmpi_so_LDADD = $(libmustercollmpi)
EXTRA_collectives_libmustercoll_pmpi_so_DEPENDENCIES = collectives/pmpi/mustercoll-pmpi.lds
endif
