/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_GPU_HIP_H
#define MUSTER_TESTS_GPU_HIP_H

/* With -DSTAND_IN_HIP the stand-ins for CUDA's libraries become those for AMD's. This file renames
 * their functions, as hip_runtime_api.h and hiprtc.h of ROCm 6 and hipblaslt.h name them; RCCL has
 * the names of NCCL. Constants that differ are in the .c files, beside CUDA's. */
#ifdef STAND_IN_HIP
#define cuInit hipInit
#define cuDriverGetVersion hipDriverGetVersion
#define cuGetErrorName hipDrvGetErrorName
#define cuDeviceGetCount hipGetDeviceCount
#define cuDeviceGet hipDeviceGet
#define cuDeviceGetName hipDeviceGetName
#define cuDeviceGetPCIBusId hipDeviceGetPCIBusId
#define cuDeviceGetAttribute hipDeviceGetAttribute
#define cuDeviceCanAccessPeer hipDeviceCanAccessPeer
#define cuDeviceGetP2PAttribute hipDeviceGetP2PAttribute
#define cuMemGetInfo_v2 hipMemGetInfo
#define cuMemAlloc_v2 hipMalloc
#define cuMemFree_v2 hipFree
#define cuMemGetHandleForAddressRange hipMemGetHandleForAddressRange
#define cuMemHostAlloc hipHostMalloc
#define cuMemFreeHost hipHostFree
#define cuMemcpyHtoDAsync_v2 hipMemcpyHtoDAsync
#define cuMemcpyDtoHAsync_v2 hipMemcpyDtoHAsync
#define cuMemcpyDtoDAsync_v2 hipMemcpyDtoDAsync
#define cuModuleLoadData hipModuleLoadData
#define cuModuleGetFunction hipModuleGetFunction
#define cuLaunchKernel hipModuleLaunchKernel
#define cuEventCreate hipEventCreateWithFlags
#define cuEventRecord hipEventRecord
#define cuEventQuery hipEventQuery
#define cuEventElapsedTime hipEventElapsedTime
#define nvrtcCreateProgram hiprtcCreateProgram
#define nvrtcCompileProgram hiprtcCompileProgram
#define nvrtcGetProgramLogSize hiprtcGetProgramLogSize
#define nvrtcGetProgramLog hiprtcGetProgramLog
#define nvrtcGetCUBINSize hiprtcGetCodeSize
#define nvrtcGetCUBIN hiprtcGetCode
#define nvrtcDestroyProgram hiprtcDestroyProgram
#define cublasLtCreate hipblasLtCreate
#define cublasLtMatmulDescCreate hipblasLtMatmulDescCreate
#define cublasLtMatmulDescSetAttribute hipblasLtMatmulDescSetAttribute
#define cublasLtMatmulDescDestroy hipblasLtMatmulDescDestroy
#define cublasLtMatrixLayoutCreate hipblasLtMatrixLayoutCreate
#define cublasLtMatrixLayoutDestroy hipblasLtMatrixLayoutDestroy
#define cublasLtMatmulPreferenceCreate hipblasLtMatmulPreferenceCreate
#define cublasLtMatmulPreferenceSetAttribute hipblasLtMatmulPreferenceSetAttribute
#define cublasLtMatmulPreferenceDestroy hipblasLtMatmulPreferenceDestroy
#define cublasLtMatmulAlgoGetHeuristic hipblasLtMatmulAlgoGetHeuristic
#define cublasLtMatmul hipblasLtMatmul
#define DRIVER_LIBRARY "cuda-hip.so"
#else
#define DRIVER_LIBRARY "cuda.so"
#endif

#endif
