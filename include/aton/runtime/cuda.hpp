// SPDX-License-Identifier: MIT
// The GPU as a device of the runtime. Of builds with ATON_BUILD_CUDA (target aton::cuda); nothing here needs the CUDA headers.
// Public header.
#pragma once

#include <string>

#include <aton/version.hpp>

#include <aton/runtime/kernels.hpp>

namespace ATON_NAMESPACE::runtime {

/// device{device_kind::cuda, 0}: the first GPU that CUDA shows to this process (CUDA_VISIBLE_DEVICES chooses it). From the first call
/// on, kernels_of() knows it too. Throws aton::error, with CUDA's reason, where there is no GPU that can be used. Thread-safe; kernels
/// run in the order of their calls, on one stream.
[[nodiscard]] device_kernels const& cuda_kernels();

/// "NVIDIA H200, compute capability 9.0, 143771 MiB, CUDA 13.0". Throws as cuda_kernels() does.
[[nodiscard]] std::string cuda_description();

/// Waits for all that kernels have to do. Throws aton::error where one of them failed.
void cuda_wait();

} // namespace ATON_NAMESPACE::runtime
