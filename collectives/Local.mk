# SPDX-License-Identifier: Apache-2.0

# libmustercoll: what the battery measures with and the trainer reduces with. Knows MPI, not Slurm;
# these rooms do not need MPI either.
noinst_LTLIBRARIES += collectives/libmustercoll.la
collectives_libmustercoll_la_SOURCES =
collectives_libmustercoll_la_LIBADD = lib/libmuster.la -lm

# lossless coding of gradients
collectives_libmustercoll_la_SOURCES += \
	collectives/codec/bits.h \
	collectives/codec/block.c collectives/codec/codec.h \
	collectives/codec/crc32c.c collectives/codec/crc32c.h \
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
muster_codec_LDADD = collectives/libmustercoll.la lib/libmuster.la -lm

# what is sent in few bits, and how far it may be off
collectives_libmustercoll_la_SOURCES += \
	collectives/precision/bound.c \
	collectives/precision/format.h \
	collectives/precision/precision.c collectives/precision/precision.h \
	# end

# what is added, the algorithms as plans, and what moves them over MPI
collectives_libmustercoll_la_SOURCES += \
	collectives/algorithms/algorithm.h \
	collectives/algorithms/binomial.c \
	collectives/algorithms/bruck.c \
	collectives/algorithms/direct.c \
	collectives/algorithms/double_tree.c \
	collectives/algorithms/halving.c \
	collectives/algorithms/hierarchical.c \
	collectives/algorithms/pairwise.c \
	collectives/algorithms/recursive_doubling.c \
	collectives/algorithms/ring.c \
	collectives/algorithms/table.c \
	collectives/plan/plan.c collectives/plan/plan.h \
	collectives/plan/shape.c \
	collectives/reduce/element.c \
	collectives/reduce/reduce.c collectives/reduce/reduce.h \
	collectives/wire/wire.c collectives/wire/wire.h \
	# end
if HAVE_MPI
noinst_LTLIBRARIES += collectives/libmustercollmpi.la
collectives_libmustercollmpi_la_SOURCES = \
	collectives/collective.h \
	collectives/engine/cache.c collectives/engine/cache.h \
	collectives/engine/collective.c \
	collectives/engine/run.c collectives/engine/run.h \
	# end of collectives_libmustercollmpi_la_SOURCES
collectives_libmustercollmpi_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
collectives_libmustercollmpi_la_CFLAGS = $(AM_CFLAGS) -pthread
collectives_libmustercollmpi_la_LIBADD = collectives/libmustercoll.la lib/libmuster.la $(MPI_LIBS) -lpthread
endif
