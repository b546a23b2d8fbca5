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
