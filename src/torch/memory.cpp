// SPDX-License-Identifier: MIT
#include "memory.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

namespace ATON_NAMESPACE::torch {

void const* storage_of(at::Tensor const& t) {
    return t.defined() && t.has_storage() ? t.storage().unsafeGetStorageImpl() : nullptr;
}

void saved_memory::save(at::Tensor const& t) {
    void const* const id = storage_of(t);
    if (id == nullptr || copies_.contains(id)) return;
    at::NoGradGuard const no_gradients;
    auto const size = static_cast<std::int64_t>(t.storage().nbytes());
    copy made;
    made.memory = at::empty({0}, at::TensorOptions(at::kByte).device(t.device()));
    made.memory.set_(t.storage(), 0, {size}, {1});
    made.before = made.memory.clone();
    copies_.emplace(id, std::move(made));
}

void saved_memory::restore() {
    at::NoGradGuard const no_gradients;
    for (auto& [id, each] : copies_)
        if (!at::equal(each.memory, each.before)) each.memory.copy_(each.before);
    copies_.clear();
}

} // namespace ATON_NAMESPACE::torch
