// SPDX-License-Identifier: MIT
// Includes Eigen's matrices, multithreaded if the compiler provides OpenMP's header.
#pragma once

#if defined(_OPENMP) && !__has_include(<omp.h>)
#define EIGEN_DONT_PARALLELIZE
#endif

#include <Eigen/Core>
