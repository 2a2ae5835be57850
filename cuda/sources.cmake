# SPDX-License-Identifier: MIT
# The sources of the GPU's kernels and device, compiled by nvcc for a GPU and by the C++ compiler for tests/cuda/emulator.
set(aton_cuda_sources binary.cu cast.cu cublas.cu device.cu indexing.cu matmul.cu move.cu reduce.cu scan.cu softmax.cu sort.cu
    special.cu stream.cu unary.cu)
list(TRANSFORM aton_cuda_sources PREPEND "${CMAKE_CURRENT_LIST_DIR}/")
