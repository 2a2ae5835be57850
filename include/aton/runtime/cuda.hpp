// SPDX-License-Identifier: MIT
// The GPU as a device of the runtime, in builds with ATON_BUILD_CUDA (target aton::cuda). Does not need the CUDA
// headers.
// Public header.
#pragma once

#include <string>

#include <aton/version.hpp>

#include <aton/runtime/kernels.hpp>

namespace ATON_NAMESPACE::runtime {

/// The kernels of device{device_kind::cuda, 0}: the first GPU that is visible to this process (CUDA_VISIBLE_DEVICES
/// chooses it). The first call also registers the device with kernels_of(). Throws aton::error with CUDA's reason if no
/// GPU can be used. Thread-safe; kernels run in the order of their calls, on one stream.
[[nodiscard]] device_kernels const& cuda_kernels();

/// "NVIDIA H200, compute capability 9.0, 143771 MiB, CUDA 13.0". Throws as cuda_kernels() does.
[[nodiscard]] std::string cuda_description();

/// Waits until all kernels have finished. Throws aton::error if one of them failed.
void cuda_wait();

} // namespace ATON_NAMESPACE::runtime
