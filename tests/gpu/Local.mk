# SPDX-License-Identifier: Apache-2.0

# Stand-ins for libraries of accelerators, most in several variants (README.md).
stand_ins += \
	tests/gpu/amdsmi.so tests/gpu/amdsmi-old.so \
	tests/gpu/cublaslt.so tests/gpu/cublaslt-hip.so tests/gpu/cublaslt-old.so \
	tests/gpu/cuda.so tests/gpu/cuda-hip.so tests/gpu/cuda-hip-old.so tests/gpu/cuda-old.so \
	tests/gpu/hlml.so \
	tests/gpu/nccl.so tests/gpu/nccl-hip.so tests/gpu/nccl-hip-old.so tests/gpu/nccl-old.so \
	tests/gpu/nvml.so tests/gpu/nvml-old.so \
	tests/gpu/nvrtc.so tests/gpu/nvrtc-hip.so \
	tests/gpu/rsmi.so \
	# end of stand_ins
if HAVE_IBVERBS
stand_ins += tests/gpu/dmabuf.so
endif
EXTRA_DIST += tests/gpu/README.md tests/gpu/amd.h tests/gpu/device tests/gpu/handles.h tests/gpu/hip.h tests/gpu/state.h \
	tests/gpu/amdsmi.c tests/gpu/cublaslt.c tests/gpu/cuda.c tests/gpu/dmabuf.c tests/gpu/hlml.c tests/gpu/nccl.c tests/gpu/nvml.c \
	tests/gpu/nvrtc.c tests/gpu/rsmi.c
