// SPDX-License-Identifier: MIT
// What lets one text be compiled for the CPU by any compiler and for a GPU by nvcc.
#pragma once

#if defined(__CUDACC__)
#define ATON_HD __host__ __device__
#else
/// Marks functions that kernels call, on whichever device.
#define ATON_HD
#endif
