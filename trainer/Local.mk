# SPDX-License-Identifier: Apache-2.0

# The trainer. It knows nothing of Slurm but what the watch does.
if BUILD_TRAINER
# No contraction to fused multiply-add: the same bits on every processor. Nobody looks at floating-point
# traps, and loops that choose between values are made vectors of only without.
trainer_cflags = $(AM_CFLAGS) $(OPENMP_CFLAGS) -pthread $(VECTOR_CFLAGS) -ffp-contract=off
trainer_cppflags = $(AM_CPPFLAGS) $(OPENBLAS_CFLAGS) $(MPI_CFLAGS)
trainer_sources = \
	trainer/checkpoint/checkpoint.c trainer/checkpoint/checkpoint.h \
	trainer/checkpoint/manifest.c trainer/checkpoint/manifest.h \
	trainer/checkpoint/saver.c trainer/checkpoint/saver.h \
	trainer/compute/bf16.c \
	trainer/compute/compute.h \
	trainer/compute/cpu.c trainer/compute/cpu.h \
	trainer/compute/cpu_attention.c \
	trainer/compute/cpu_layernorm.c \
	trainer/compute/cpu_linear.c \
	trainer/compute/cpu_loss.c \
	trainer/compute/cpu_pointwise.c \
	trainer/compute/element.h \
	trainer/data/dataset.c trainer/data/dataset.h \
	trainer/data/permutation.c trainer/data/permutation.h \
	trainer/data/token_file.c trainer/data/token_file.h \
	trainer/parallel/ddp.c \
	trainer/parallel/gathered.c trainer/parallel/gathered.h \
	trainer/parallel/guard.c trainer/parallel/guard.h \
	trainer/parallel/pipeline/placement.c trainer/parallel/pipeline/placement.h \
	trainer/parallel/pipeline/pipeline.c trainer/parallel/pipeline/pipeline.h \
	trainer/parallel/pipeline/arrange.c trainer/parallel/pipeline/arrange.h \
	trainer/parallel/pipeline/forecast.c trainer/parallel/pipeline/forecast.h \
	trainer/parallel/pipeline/schedule.c trainer/parallel/pipeline/schedule.h \
	trainer/parallel/pipeline/speed.c trainer/parallel/pipeline/speed.h \
	trainer/parallel/pipeline/split.c trainer/parallel/pipeline/split.h \
	trainer/parallel/pipeline/step_time.c trainer/parallel/pipeline/step_time.h \
	trainer/parallel/strategy.c trainer/parallel/strategy.h \
	trainer/parallel/verify.c trainer/parallel/verify.h \
	trainer/parallel/zero.c \
	trainer/comm/channel.c trainer/comm/channel.h \
	trainer/comm/world.c trainer/comm/world.h \
	trainer/comm/comm.c trainer/comm/comm.h \
	trainer/model/head.c trainer/model/head.h \
	trainer/model/layer.c trainer/model/layer.h \
	trainer/model/model.c trainer/model/model.h \
	trainer/model/parameters.c trainer/model/parameters.h \
	trainer/model/shape.c trainer/model/shape.h \
	trainer/model/stage.c trainer/model/stage.h \
	trainer/model/store.h \
	trainer/optimizer/adamw.c trainer/optimizer/adamw.h \
	trainer/optimizer/rate.c trainer/optimizer/rate.h \
	trainer/options.c trainer/options.h \
	trainer/pages.h \
	trainer/injection.c trainer/injection.h \
	trainer/battery/test_case.c trainer/battery/test_case.h \
	trainer/real.h \
	trainer/training.c trainer/training.h \
	# end of trainer_sources

# What works on activations, built once more for those in bfloat16.
if HAVE_DNNL
noinst_LIBRARIES += trainer/libtrainer-bf16.a
trainer_libtrainer_bf16_a_SOURCES = \
	trainer/compute/bf16_avx512.c \
	trainer/compute/bf16_gemm.c trainer/compute/bf16_gemm.h \
	trainer/compute/bf16_linear.c \
	trainer/compute/bf16_pack.c trainer/compute/bf16_pack.h \
	trainer/compute/cpu_attention.c \
	trainer/compute/cpu_layernorm.c \
	trainer/compute/cpu_loss.c \
	trainer/compute/cpu_pointwise.c \
	# end of trainer_libtrainer_bf16_a_SOURCES
trainer_libtrainer_bf16_a_CFLAGS = $(trainer_cflags)
trainer_libtrainer_bf16_a_CPPFLAGS = $(trainer_cppflags) -DMUSTER_ELEMENT_BF16
libtrainer_bf16 = trainer/libtrainer-bf16.a
endif

libtrainer_needs = $(libtrainer_bf16) $(libmustercollmpi) $(libharnessmpi) $(DNNL_LIBS) $(OPENBLAS_LIBS) \
	$(OPENMP_CFLAGS)
noinst_LIBRARIES += trainer/libtrainer.a
libtrainer = trainer/libtrainer.a $(libtrainer_needs)
trainer_libtrainer_a_SOURCES = $(trainer_sources)
trainer_libtrainer_a_CFLAGS = $(trainer_cflags)
trainer_libtrainer_a_CPPFLAGS = $(trainer_cppflags)

# The same in double precision, for tests whose finite differences would drown in rounding.
check_LIBRARIES += trainer/libtrainer-double.a
libtrainer_double = trainer/libtrainer-double.a $(libtrainer_needs)
trainer_libtrainer_double_a_SOURCES = $(trainer_sources)
trainer_libtrainer_double_a_CFLAGS = $(trainer_cflags)
trainer_libtrainer_double_a_CPPFLAGS = $(trainer_cppflags) -DMUSTER_REAL_DOUBLE

bin_PROGRAMS += muster-train
muster_train_SOURCES = \
	trainer/battery/battery.c trainer/battery/battery.h \
	trainer/battery/tests.c trainer/battery/tests.h \
	trainer/report.c trainer/report.h \
	trainer/tokenize.c trainer/tokenize.h \
	trainer/train.c \
	# end of muster_train_SOURCES
muster_train_CFLAGS = $(trainer_cflags)
muster_train_CPPFLAGS = $(trainer_cppflags)
muster_train_LDADD = $(libtrainer)
endif
