// SPDX-License-Identifier: MIT
// Eigen's matrices, on several threads where the compiler has the header of OpenMP.
#pragma once

#if defined(_OPENMP) && !__has_include(<omp.h>)
#define EIGEN_DONT_PARALLELIZE
#endif

#include <Eigen/Core>
