// SPDX-License-Identifier: MIT
// Macros that let the same source be compiled by any compiler for the CPU, by nvcc for a GPU, and several times for
// instruction sets of one CPU.
// Internal header.
#pragma once

#include <aton/version.hpp>

#if defined(__CUDACC__)
#define ATON_HD __host__ __device__
#else
/// Marks functions that kernels call on any device.
#define ATON_HD
#endif

#if !defined(ATON_KERNEL_VARIANT)
#if defined(__CUDACC__)
#define ATON_KERNEL_VARIANT cuda
#else
/// The namespace of code that is compiled for one instruction set; the linker must not mix the variants.
#define ATON_KERNEL_VARIANT baseline
#endif
#endif
