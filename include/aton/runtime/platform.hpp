// SPDX-License-Identifier: MIT
// What lets one text be compiled for the CPU by any compiler and for a GPU by nvcc, and several times for one CPU.
// Internal header.
#pragma once

#include <aton/version.hpp>

#if defined(__CUDACC__)
#define ATON_HD __host__ __device__
#else
/// Marks functions that kernels call, on whichever device.
#define ATON_HD
#endif

#if !defined(ATON_KERNEL_VARIANT)
#if defined(__CUDACC__)
#define ATON_KERNEL_VARIANT cuda
#else
/// The namespace of what is compiled for a set of instructions: the code of one must never be taken for that of another.
#define ATON_KERNEL_VARIANT baseline
#endif
#endif
