// SPDX-License-Identifier: MIT
// Includes Eigen with its factorizations.
#pragma once

#include "eigen_core.hpp"

#include <Eigen/Dense>
