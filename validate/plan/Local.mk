# SPDX-License-Identifier: Apache-2.0

# How a training job is best laid out over the cluster, by what the history measured.
if BUILD_MUSTER
noinst_LIBRARIES += validate/plan/libplan.a
libplan = validate/plan/libplan.a $(SQLITE_LIBS)
endif
validate_plan_libplan_a_SOURCES = \
	validate/plan/figures.c validate/plan/figures.h \
	validate/plan/job.c validate/plan/job.h \
	validate/plan/model.c validate/plan/model.h \
	validate/plan/sbatch.c validate/plan/sbatch.h \
	trainer/model/shape.c trainer/model/shape.h \
	trainer/parallel/pipeline/split.c trainer/parallel/pipeline/split.h \
	trainer/parallel/pipeline/step_time.c trainer/parallel/pipeline/step_time.h \
	# end of validate_plan_libplan_a_SOURCES
validate_plan_libplan_a_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
