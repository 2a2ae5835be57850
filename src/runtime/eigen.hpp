// SPDX-License-Identifier: MIT
// Eigen, with its factorizations.
#pragma once

#include "eigen_core.hpp"

#include <Eigen/Dense>
