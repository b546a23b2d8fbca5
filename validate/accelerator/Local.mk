# SPDX-License-Identifier: Apache-2.0

# What the vendors' own libraries tell of accelerators, loaded in a child that is killed when it
# hangs. Nothing of them is needed to build.
noinst_LIBRARIES += validate/accelerator/libaccelerator.a
validate_accelerator_libaccelerator_a_SOURCES = \
	validate/accelerator/accelerator.h \
	validate/accelerator/amd.c validate/accelerator/amd.h \
	validate/accelerator/amdsmi.c \
	validate/accelerator/evaluate.c validate/accelerator/evaluate.h \
	validate/accelerator/hlml.c \
	validate/accelerator/library.c validate/accelerator/library.h \
	validate/accelerator/nvml.c \
	validate/accelerator/read.c \
	validate/accelerator/rsmi.c \
	validate/accelerator/values.c \
	# end of validate_accelerator_libaccelerator_a_SOURCES

# What computes on accelerators, and the kernels, whose text is compiled at run time.
noinst_LIBRARIES += validate/accelerator/libdevice.a
validate_accelerator_libdevice_a_SOURCES = \
	validate/accelerator/device/blas.c validate/accelerator/device/blas.h \
	validate/accelerator/device/device.c validate/accelerator/device/device.h \
	validate/accelerator/device/loader.c validate/accelerator/device/loader.h \
	validate/accelerator/device/nccl.c validate/accelerator/device/nccl.h \
	# end of validate_accelerator_libdevice_a_SOURCES
nodist_validate_accelerator_libdevice_a_SOURCES = validate/accelerator/device/source.c
EXTRA_DIST += validate/accelerator/device/kernels.c
CLEANFILES += validate/accelerator/device/source.c
validate/accelerator/device/source.c: validate/accelerator/device/kernels.c
	$(AM_V_GEN)$(MKDIR_P) validate/accelerator/device && { \
	    echo '#include "validate/accelerator/device/device.h"'; \
	    echo 'const char kernels_source[] = {'; \
	    LC_ALL=C od -An -v -tu1 $(srcdir)/validate/accelerator/device/kernels.c | \
	        $(SED) 's/[0-9][0-9]*/&,/g'; \
	    echo '0};'; } >$@.new && mv $@.new $@
