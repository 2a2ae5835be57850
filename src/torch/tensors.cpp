// SPDX-License-Identifier: MIT
// The value of the program that a tensor is.
#include "recorder.hpp"

#include <algorithm>
#include <cstring>

#include <ATen/ATen.h>

#include <aton/aten/scalar_type.hpp>
#include <aton/aten/schema_table.hpp>
#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::torch {

namespace {

std::vector<program::extent> extents(at::IntArrayRef all) {
    std::vector<program::extent> out;
    for (std::int64_t const each : all) out.push_back({each, program::extent::none});
    return out;
}

dtype type_of(at::Tensor const& t) { return aten::scalar_type(static_cast<std::int64_t>(t.scalar_type())); }

/// Whether memory still has the bytes that the recorder wrote there.
bool is_blank(at::Tensor const& t) {
    if (!t.device().is_cpu() || storage_of(t) == nullptr) return true;
    auto const* const first = static_cast<unsigned char const*>(t.storage().data());
    return std::all_of(first, first + t.storage().nbytes(), [](unsigned char b) { return b == blank_byte; });
}

} // namespace

bool is_same_view(at::Tensor const& a, at::Tensor const& b) {
    return storage_of(a) != nullptr && storage_of(a) == storage_of(b) && a.scalar_type() == b.scalar_type() &&
           a.sizes() == b.sizes() && a.strides() == b.strides() && a.storage_offset() == b.storage_offset() &&
           a.is_conj() == b.is_conj() && a.is_neg() == b.is_neg();
}

detail::inputs copies(detail::inputs const& x) {
    detail::inputs out;
    for (at::Tensor const& each : x) out.push_back(each.detach().clone());
    return out;
}

std::string recorder::unique_name(std::string_view wanted) {
    std::string name(wanted);
    while (name.size() > 1 && name.back() == '_') name.pop_back();
    for (;;) {
        std::size_t const number = used_names_[name]++;
        if (number == 0) return name;
        std::string next = name + '_' + std::to_string(number);
        if (used_names_.try_emplace(next, 1).second) return next;
    }
}

program::value_index recorder::add_value(at::Tensor const& t, std::string_view name) {
    alive_.push_back(t);
    if (void const* const memory = storage_of(t)) known_.insert(memory);
    program::value v;
    v.name = unique_name(name);
    v.has_type = true;
    v.type = type_of(t);
    v.sizes = extents(t.sizes());
    v.strided = t.layout() == at::kStrided;
    if (v.strided) {
        v.strides = extents(t.strides());
        v.storage_offset = {t.storage_offset(), program::extent::none};
    }
    out_.listing.values.push_back(std::move(v));
    return static_cast<program::value_index>(out_.listing.values.size() - 1);
}

program::value_index recorder::add_weight(named_weight const& w) {
    if (w.tensor.layout() != at::kStrided || w.tensor.is_quantized())
        throw error("'" + w.name + "' is sparse or quantized, which is not supported; make it dense first");
    std::string plain = w.name;
    std::replace(plain.begin(), plain.end(), '.', '_');
    char const* const prefix = w.kind == program::input_kind::parameter ? "p_"
                               : w.kind == program::input_kind::buffer  ? "b_"
                                                                        : "";
    program::input in;
    in.kind = w.kind;
    in.target = w.name;
    in.value = add_value(w.tensor, prefix + plain);
    values_[w.tensor.unsafeGetTensorImpl()] = in.value;
    out_.listing.main.inputs.push_back(in.value);
    out_.listing.inputs.push_back(std::move(in));
    // A constant may be in memory that the function is about to leave.
    out_.weights.push_back(w.kind == program::input_kind::constant ? w.tensor.clone() : w.tensor);
    return out_.listing.inputs.back().value;
}

/// What a tensor from empty() is when it is first used: a constant if it was filled without an operator.
program::value_index recorder::settle(blank const& b) {
    if (!is_blank(b.tensor)) return add_weight({unique_name("constant"), program::input_kind::constant, b.tensor});
    if (void const* const memory = storage_of(b.tensor)) made_.insert(memory);
    program::node n = b.made_by;
    program::value_index const v = add_value(b.tensor, n.name);
    values_[b.tensor.unsafeGetTensorImpl()] = v;
    n.name = out_.listing.values[v].name;
    n.results.push_back({{v}, false});
    out_.listing.main.nodes.push_back(std::move(n));
    return v;
}

program::value_index recorder::value_of(at::Tensor const& t) {
    if (!t.defined()) return program::no_value;
    void const* const id = t.unsafeGetTensorImpl();
    if (auto const found = values_.find(id); found != values_.end()) return found->second;
    if (auto const found = blanks_.find(id); found != blanks_.end()) {
        blank const b = std::move(found->second);
        blanks_.erase(found);
        return settle(b);
    }
    if (auto const found = names_.find(id); found != names_.end()) return add_weight(found->second);
    return unknown_value(t);
}

/// A tensor that no operator returned: another handle of a known one, such as that of variable_data(), or a constant.
program::value_index recorder::unknown_value(at::Tensor const& t) {
    if (void const* const memory = storage_of(t)) {
        at::Tensor same;
        bool is_part = made_.contains(memory) || of_inputs_.contains(memory);
        for (auto const& [id, w] : names_)
            if (is_same_view(w.tensor, t)) same = w.tensor;
        for (std::size_t i = alive_.size(); i-- != 0 && !same.defined();)
            if (is_same_view(alive_[i], t)) same = alive_[i];
        if (same.defined()) {
            program::node n;
            n.op = "aten::alias";
            n.schema = aten::find_schema(n.op);
            n.arguments.push_back(program::argument::of_tensor(value_of(same)).named("self"));
            program::value_index const v = add_value(t, "alias");
            values_[t.unsafeGetTensorImpl()] = v;
            n.name = out_.listing.values[v].name;
            n.results.push_back({{v}, false});
            out_.listing.main.nodes.push_back(std::move(n));
            return v;
        }
        if (is_part)
            throw error("uses the memory of a tensor through a view that no operator made, which cannot be recorded");
    }
    return add_weight({unique_name("constant"), program::input_kind::constant, t});
}

program::result recorder::result_of(c10::IValue const& v, std::string_view name) {
    program::result out;
    auto const add = [&](at::Tensor const& t) {
        if (!t.defined()) {
            out.values.push_back(program::no_value);
            return;
        }
        if (void const* const memory = storage_of(t); memory != nullptr && !known_.contains(memory))
            made_.insert(memory);
        program::value_index const made = add_value(t, name);
        values_[t.unsafeGetTensorImpl()] = made;
        out.values.push_back(made);
    };
    if (v.isTensor()) add(v.toTensor());
    else if (v.isTensorList()) {
        out.is_list = true;
        for (at::Tensor const& each : v.toTensorVector()) add(each);
    }
    return out;
}

bool recorder::depends_on_inputs(c10::ArrayRef<c10::IValue const> given) const {
    auto const one = [&](at::Tensor const& t) {
        if (!t.defined()) return false;
        void const* const memory = storage_of(t);
        return memory == nullptr || of_inputs_.contains(memory);
    };
    for (c10::IValue const& v : given) {
        if (v.isTensor() && one(v.toTensor())) return true;
        if (!v.isList()) continue;
        for (c10::IValue const& each : v.toListRef())
            if (each.isTensor() && one(each.toTensor())) return true;
    }
    return false;
}

/// Marks the memory of results that depend on inputs.
void recorder::mark(c10::IValue const& v) {
    auto const one = [&](at::Tensor const& t) {
        if (void const* const memory = storage_of(t)) of_inputs_.insert(memory);
    };
    if (v.isTensor()) one(v.toTensor());
    else if (v.isTensorList())
        for (at::Tensor const& each : v.toTensorVector()) one(each);
}

} // namespace ATON_NAMESPACE::torch
