# SPDX-License-Identifier: Apache-2.0

if BUILD_TRAINER
check_PROGRAMS += \
	tests/unit/trainer/bf16.t \
	tests/unit/trainer/checkpoint.t \
	tests/unit/trainer/compute.t \
	tests/unit/trainer/dataset.t \
	tests/unit/trainer/pipeline.t \
	tests/unit/trainer/trainer.t \
	tests/unit/trainer/trainer-double.t \
	# end
tests_unit_trainer_bf16_t_CFLAGS = $(trainer_cflags)
tests_unit_trainer_bf16_t_CPPFLAGS = $(trainer_cppflags)
tests_unit_trainer_bf16_t_LDADD = $(libtrainer) $(unit_libs)
tests_unit_trainer_checkpoint_t_CPPFLAGS = $(trainer_cppflags)
tests_unit_trainer_checkpoint_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=fsync -Wl,--wrap=readdir \
	-Wl,--wrap=watch_step
tests_unit_trainer_checkpoint_t_LDADD = $(libtrainer) $(unit_libs)
tests_unit_trainer_compute_t_CFLAGS = $(trainer_cflags)
tests_unit_trainer_compute_t_LDADD = $(libtrainer) $(unit_libs)
tests_unit_trainer_dataset_t_LDADD = $(libtrainer) $(unit_libs)
tests_unit_trainer_pipeline_t_CPPFLAGS = $(trainer_cppflags)
tests_unit_trainer_pipeline_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=watch_step \
	-Wl,--wrap=watch_waits_for,--wrap=watch_works,--wrap=comm_rank_info,--wrap=comm_mpi \
	-Wl,--wrap=MPI_Barrier,--wrap=MPI_Sendrecv,--wrap=MPI_Allreduce
tests_unit_trainer_pipeline_t_LDADD = $(libtrainer) $(unit_libs)
tests_unit_trainer_trainer_t_CFLAGS = $(trainer_cflags)
tests_unit_trainer_trainer_t_CPPFLAGS = $(trainer_cppflags)
tests_unit_trainer_trainer_t_LDADD = $(libtrainer) $(unit_libs)
tests_unit_trainer_trainer_double_t_SOURCES = tests/unit/trainer/trainer.c
tests_unit_trainer_trainer_double_t_CFLAGS = $(trainer_cflags)
tests_unit_trainer_trainer_double_t_CPPFLAGS = $(trainer_cppflags) -DMUSTER_REAL_DOUBLE
tests_unit_trainer_trainer_double_t_LDADD = $(libtrainer_double) $(unit_libs)
endif BUILD_TRAINER
