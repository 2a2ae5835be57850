// SPDX-License-Identifier: MIT
// The CPU as a device.
#include <aton/runtime/kernels.hpp>

#include "kernels/cpu.hpp"

namespace aton::runtime {

namespace {

class cpu_device final : public device_kernels {
public:
    [[nodiscard]] allocator& memory() const override { return cpu_allocator(); }
    [[nodiscard]] tensor unary(unary_op op, tensor const& x, unary_parameters const& p) const override {
        return kernels::cpu_unary(op, x, p);
    }
    [[nodiscard]] tensor binary(binary_op op, tensor const& x, tensor const& y) const override {
        return kernels::cpu_binary(op, x, y);
    }
    [[nodiscard]] tensor select(tensor const& condition, tensor const& yes, tensor const& no) const override {
        return kernels::cpu_select(condition, yes, no);
    }
    [[nodiscard]] tensor cast(tensor const& x, dtype to, bool saturate) const override {
        return kernels::cpu_cast(x, to, saturate);
    }
    [[nodiscard]] tensor contiguous(tensor const& x) const override { return x.contiguous(); }
    void copy(tensor const& from, tensor const& to) const override { kernels::cpu_copy(from, to); }
};

} // namespace

device_kernels const& cpu_kernels() {
    static cpu_device const only;
    return only;
}

} // namespace aton::runtime
