# SPDX-License-Identifier: Apache-2.0

# The libraries of accelerators, in two versions: -rpath makes them shared (README.md).
check_LTLIBRARIES += tests/gpu/nvml.la tests/gpu/nvml-old.la
gpu_stand_in_ldflags = -module -avoid-version -shared -rpath $(abs_builddir)
tests_gpu_nvml_la_SOURCES = tests/gpu/nvml.c tests/gpu/state.h
tests_gpu_nvml_la_LDFLAGS = $(gpu_stand_in_ldflags)
tests_gpu_nvml_old_la_SOURCES = tests/gpu/nvml.c tests/gpu/state.h
tests_gpu_nvml_old_la_CPPFLAGS = $(AM_CPPFLAGS) -DSTAND_IN_OLD
tests_gpu_nvml_old_la_LDFLAGS = $(gpu_stand_in_ldflags)

check_LTLIBRARIES += tests/gpu/amdsmi.la tests/gpu/amdsmi-old.la tests/gpu/rsmi.la tests/gpu/hlml.la
tests_gpu_amdsmi_la_SOURCES = tests/gpu/amdsmi.c tests/gpu/state.h
tests_gpu_amdsmi_la_LDFLAGS = $(gpu_stand_in_ldflags)
tests_gpu_amdsmi_old_la_SOURCES = tests/gpu/amdsmi.c tests/gpu/state.h
tests_gpu_amdsmi_old_la_CPPFLAGS = $(AM_CPPFLAGS) -DSTAND_IN_OLD
tests_gpu_amdsmi_old_la_LDFLAGS = $(gpu_stand_in_ldflags)
tests_gpu_rsmi_la_SOURCES = tests/gpu/rsmi.c tests/gpu/state.h
tests_gpu_rsmi_la_LDFLAGS = $(gpu_stand_in_ldflags)
tests_gpu_hlml_la_SOURCES = tests/gpu/hlml.c tests/gpu/state.h
tests_gpu_hlml_la_LDFLAGS = $(gpu_stand_in_ldflags)

check_LTLIBRARIES += tests/gpu/cuda.la tests/gpu/cuda-old.la tests/gpu/nvrtc.la
tests_gpu_cuda_la_SOURCES = tests/gpu/cuda.c tests/gpu/state.h
tests_gpu_cuda_la_LDFLAGS = $(gpu_stand_in_ldflags)
tests_gpu_cuda_la_LIBADD = -ldl
tests_gpu_cuda_old_la_SOURCES = tests/gpu/cuda.c tests/gpu/state.h
tests_gpu_cuda_old_la_CPPFLAGS = $(AM_CPPFLAGS) -DSTAND_IN_OLD
tests_gpu_cuda_old_la_LDFLAGS = $(gpu_stand_in_ldflags)
tests_gpu_cuda_old_la_LIBADD = -ldl
tests_gpu_nvrtc_la_SOURCES = tests/gpu/nvrtc.c tests/gpu/state.h
tests_gpu_nvrtc_la_LDFLAGS = $(gpu_stand_in_ldflags)

check_LTLIBRARIES += tests/gpu/cublaslt.la tests/gpu/cublaslt-old.la
tests_gpu_cublaslt_la_SOURCES = tests/gpu/cublaslt.c tests/gpu/state.h
tests_gpu_cublaslt_la_LDFLAGS = $(gpu_stand_in_ldflags)
tests_gpu_cublaslt_la_LIBADD = -ldl
tests_gpu_cublaslt_old_la_SOURCES = tests/gpu/cublaslt.c tests/gpu/state.h
tests_gpu_cublaslt_old_la_CPPFLAGS = $(AM_CPPFLAGS) -DSTAND_IN_OLD
tests_gpu_cublaslt_old_la_LDFLAGS = $(gpu_stand_in_ldflags)
tests_gpu_cublaslt_old_la_LIBADD = -ldl

check_LTLIBRARIES += tests/gpu/nccl.la tests/gpu/nccl-old.la
tests_gpu_nccl_la_SOURCES = tests/gpu/nccl.c tests/gpu/state.h
tests_gpu_nccl_la_CFLAGS = $(AM_CFLAGS) -pthread
tests_gpu_nccl_la_LDFLAGS = $(gpu_stand_in_ldflags)
tests_gpu_nccl_la_LIBADD = -lpthread -ldl
tests_gpu_nccl_old_la_SOURCES = tests/gpu/nccl.c tests/gpu/state.h
tests_gpu_nccl_old_la_CPPFLAGS = $(AM_CPPFLAGS) -DSTAND_IN_OLD
tests_gpu_nccl_old_la_CFLAGS = $(AM_CFLAGS) -pthread
tests_gpu_nccl_old_la_LDFLAGS = $(gpu_stand_in_ldflags)
tests_gpu_nccl_old_la_LIBADD = -lpthread -ldl

EXTRA_DIST += tests/gpu/README.md tests/gpu/device
