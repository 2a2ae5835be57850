// SPDX-License-Identifier: MIT
// The CPU as a device of the runtime.
#include <vector>

#include "runtime/launched_kernels.hpp"
#include <aton/core/error.hpp>
#include <aton/runtime/kernels.hpp>

#include "cpu_strings.hpp"
#include "kernels/cpu.hpp"
#include "kernels/cpu_threads.hpp"

namespace ATON_NAMESPACE::runtime {

namespace {

/// The only device with strings.
class cpu_device final : public launched_kernels {
public:
    cpu_device() : launched_kernels(kernels::cpu_launches()) {}

    [[nodiscard]] allocator& memory() const override { return cpu_allocator(); }
    [[nodiscard]] tensor from_host(tensor const& x) const override { return contiguous(x); }
    [[nodiscard]] tensor to_host(tensor const& x) const override { return contiguous(x); }

    [[nodiscard]] tensor select(tensor const& condition, tensor const& yes, tensor const& no) const override {
        return yes.is_strings() ? strings::select(condition, yes, no) : launched_kernels::select(condition, yes, no);
    }
    void copy(tensor const& from, tensor const& to) const override {
        if (to.is_strings()) strings::copy(from, to);
        else launched_kernels::copy(from, to);
    }
    [[nodiscard]] tensor take(tensor const& x, tensor const& positions) const override {
        if (!x.is_strings()) return launched_kernels::take(x, positions);
        check_positions(positions, x.count());
        return strings::take(x, positions);
    }
    void put(tensor const& into, tensor const& positions, tensor const& values, put_op op) const override {
        if (!into.is_strings()) return launched_kernels::put(into, positions, values, op);
        check_put(into, positions, values);
        if (op != put_op::assign) throw error("strings do not support arithmetic");
        strings::put(into, positions, values);
    }
    [[nodiscard]] tensor nonzero(tensor const& x) const override {
        if (x.dtype() != dtype::bool_) throw error("finding true elements requires a bool tensor");
        tensor const from = contiguous(x);
        std::vector<std::int64_t> before(static_cast<std::size_t>(kernels::chunks_of(x.count())));
        tensor out =
            tensor::empty(dtype::int64, {kernels::count_true(x.count(), from.data<bool const>(), before.data())});
        kernels::list_true(x.count(), from.data<bool const>(), before.data(), out.data<std::int64_t>());
        return out;
    }
};

} // namespace

device_kernels const& cpu_kernels() {
    static cpu_device const only;
    return only;
}

} // namespace ATON_NAMESPACE::runtime
