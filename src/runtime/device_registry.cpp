// SPDX-License-Identifier: MIT
// The registry of devices.
#include <mutex>
#include <string>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/runtime/kernels.hpp>

namespace ATON_NAMESPACE::runtime {

namespace {

struct device_registry {
    std::mutex changing;
    std::vector<device_kernels const*> known;

    static device_registry& only() {
        static device_registry r;
        return r;
    }
};

} // namespace

std::string name(device d) {
    return d == device{} ? "cpu" : (d.kind == device_kind::cpu ? "cpu:" : "cuda:") + std::to_string(d.index);
}

void register_kernels(device_kernels const& kernels) {
    device_registry& r = device_registry::only();
    std::scoped_lock const lock(r.changing);
    r.known.push_back(&kernels);
}

device_kernels const& kernels_of(device d) {
    if (d == device{}) return cpu_kernels();
    device_registry& r = device_registry::only();
    std::scoped_lock const lock(r.changing);
    bool has_kind = false;
    for (device_kernels const* each : r.known) {
        if (each->memory().where() == d) return *each;
        has_kind = has_kind || each->memory().where().kind == d.kind;
    }
    throw error(
        (has_kind || d.kind == device_kind::cpu ? "the device does not exist: " : "this build has no kernels for ") +
        name(d));
}

} // namespace ATON_NAMESPACE::runtime
