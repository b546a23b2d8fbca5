# SPDX-License-Identifier: Apache-2.0

# How a training job is best laid out over the cluster, by what the history measured.
if BUILD_MUSTER
noinst_LTLIBRARIES += validate/plan/libplan.la
endif
validate_plan_libplan_la_SOURCES = \
	validate/plan/figures.c validate/plan/figures.h \
	validate/plan/job.c validate/plan/job.h \
	validate/plan/model.c validate/plan/model.h \
	validate/plan/sbatch.c validate/plan/sbatch.h \
	trainer/model/shape.c trainer/model/shape.h \
	trainer/parallel/pipeline/split.c trainer/parallel/pipeline/split.h \
	trainer/parallel/pipeline/step_time.c trainer/parallel/pipeline/step_time.h \
	# end of validate_plan_libplan_la_SOURCES
validate_plan_libplan_la_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
validate_plan_libplan_la_LIBADD = $(SQLITE_LIBS) -lm
