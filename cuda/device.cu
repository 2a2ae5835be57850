// SPDX-License-Identifier: MIT
// The GPU as a device of the runtime.
#include <aton/runtime/cuda.hpp>

#include "runtime/launched_kernels.hpp"
#include <aton/core/error.hpp>

#include "kernels.hpp"
#include "stream.hpp"

namespace ATON_NAMESPACE::runtime {

namespace {

kernels::launches const& cuda_launches() {
    static kernels::launches const only = [] {
        kernels::launches l;
        l.takes_halves = true;
        kernels::add_binary(l);
        kernels::add_cast(l);
        kernels::add_indexing(l);
        kernels::add_matmul(l);
        kernels::add_move(l);
        kernels::add_reduce(l);
        kernels::add_scan(l);
        kernels::add_softmax(l);
        kernels::add_sort(l);
        kernels::add_special(l);
        kernels::add_unary(l);
        return l;
    }();
    return only;
}

class cuda_device final : public launched_kernels {
public:
    cuda_device() : launched_kernels(cuda_launches()) {
        int count = 0;
        gpu::check(cudaGetDeviceCount(&count), "no GPU can be used");
        if (count == 0) throw error("cuda: no GPU can be used: none was found");
        (void)gpu::pool(); // fails now on a GPU without memory pools
    }

    [[nodiscard]] allocator& memory() const override { return gpu::pool(); }

    /// The copy from pageable memory is complete when the call returns.
    [[nodiscard]] tensor from_host(tensor const& x) const override {
        tensor const from = x.contiguous();
        tensor out = tensor::empty(x.dtype(), x.sizes(), memory());
        move(out, from, cudaMemcpyHostToDevice);
        return out;
    }
    [[nodiscard]] tensor to_host(tensor const& x) const override {
        tensor const from = contiguous(x);
        tensor out = tensor::empty(x.dtype(), x.sizes());
        move(out, from, cudaMemcpyDeviceToHost);
        cuda_wait();
        return out;
    }

    [[nodiscard]] tensor nonzero(tensor const& x) const override {
        if (x.dtype() != dtype::bool_) throw error("finding true elements requires a bool tensor");
        tensor const from = contiguous(x);
        tensor const temporary = tensor::empty(dtype::int64, {x.count()}, memory());
        std::int64_t const found =
            x.count() == 0 ? 0 : kernels::list_true(x.count(), from.data<bool const>(), temporary.data<std::int64_t>());
        tensor out = tensor::empty(dtype::int64, {found}, memory());
        copy(temporary.sliced(0, 0, found), out);
        return out;
    }

private:
    static void move(tensor const& to, tensor const& from, cudaMemcpyKind way) {
        std::size_t const bytes = static_cast<std::size_t>(from.count()) * element_bytes(from.dtype());
        if (bytes != 0) gpu::check(cudaMemcpyAsync(to.bytes(), from.bytes(), bytes, way, gpu::stream()), "a copy");
    }
};

} // namespace

device_kernels const& cuda_kernels() {
    static auto const* const only = [] {
        auto* const gpu = new cuda_device; // must outlive every tensor, like the pool
        register_kernels(*gpu);
        return gpu;
    }();
    return *only;
}

std::string cuda_description() {
    (void)cuda_kernels();
    cudaDeviceProp p{};
    gpu::check(cudaGetDeviceProperties(&p, 0), "the properties of the GPU");
    int version = 0;
    gpu::check(cudaRuntimeGetVersion(&version), "the version of CUDA");
    return std::string(p.name) + ", compute capability " + std::to_string(p.major) + "." + std::to_string(p.minor) +
           ", " + std::to_string(p.totalGlobalMem >> 20U) + " MiB, CUDA " + std::to_string(version / 1000) + "." +
           std::to_string(version % 1000 / 10);
}

void cuda_wait() { gpu::check(cudaStreamSynchronize(gpu::stream()), "the stream"); }

} // namespace ATON_NAMESPACE::runtime
