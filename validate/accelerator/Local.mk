# SPDX-License-Identifier: Apache-2.0

# What the vendors' own libraries tell of accelerators, loaded in a child that is killed when it
# hangs. Nothing of them is needed to build.
noinst_LTLIBRARIES += validate/accelerator/libaccelerator.la
validate_accelerator_libaccelerator_la_SOURCES = \
	validate/accelerator/accelerator.h \
	validate/accelerator/evaluate.c validate/accelerator/evaluate.h \
	validate/accelerator/library.c validate/accelerator/library.h \
	validate/accelerator/nvml.c \
	validate/accelerator/read.c \
	validate/accelerator/values.c \
	# end of validate_accelerator_libaccelerator_la_SOURCES
