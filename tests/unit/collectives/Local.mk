# SPDX-License-Identifier: Apache-2.0

gradients = tests/unit/collectives/gradients.c tests/unit/collectives/gradients.h

check_PROGRAMS += \
	tests/unit/collectives/algorithms.t \
	tests/unit/collectives/choose.t \
	tests/unit/collectives/codec.t \
	tests/unit/collectives/codec_hostile.t \
	tests/unit/collectives/precision.t \
	tests/unit/collectives/reduce.t \
	# end
plain_checks += tests/unit/collectives/algorithms.t
tests_unit_collectives_algorithms_t_SOURCES = tests/unit/collectives/algorithms.c \
	tests/unit/collectives/plan_simulator.c tests/unit/collectives/plan_simulator.h
tests_unit_collectives_algorithms_t_LDADD = $(libmustercoll) $(unit_libs)
tests_unit_collectives_choose_t_LDADD = $(libmustercoll) $(unit_libs)
tests_unit_collectives_codec_t_SOURCES = tests/unit/collectives/codec.c $(gradients)
tests_unit_collectives_codec_t_LDADD = $(libmustercoll) $(unit_libs)
tests_unit_collectives_codec_hostile_t_SOURCES = tests/unit/collectives/codec_hostile.c $(gradients)
tests_unit_collectives_codec_hostile_t_LDADD = $(libmustercoll) $(unit_libs)
tests_unit_collectives_precision_t_SOURCES = tests/unit/collectives/precision.c $(gradients)
tests_unit_collectives_precision_t_LDADD = $(libmustercoll) $(unit_libs)
tests_unit_collectives_reduce_t_LDADD = $(libmustercoll) $(unit_libs)

# files for tests of muster-codec
noinst_PROGRAMS += tests/unit/collectives/gradients
tests_unit_collectives_gradients_SOURCES = tests/unit/collectives/gradients_write.c $(gradients)
tests_unit_collectives_gradients_LDADD = $(libmustercoll)
EXTRA_DIST += tests/unit/collectives/fuzz-codec
