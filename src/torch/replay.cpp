// SPDX-License-Identifier: MIT
#include "replay.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <aton/aten/scalar_type.hpp>
#include <aton/core/error.hpp>
#include <aton/verify/torch_reference.hpp>

namespace ATON_NAMESPACE::torch {

namespace {

using kind = program::argument_kind;

/// Sums on several threads may round differently; what C++ wrote differs by more.
constexpr double relative = 1e-4;

class player {
public:
    player(recording const& r, std::vector<at::Tensor> const& inputs)
        : recording_(r),
          values_(r.listing.values.size()) {
        for (std::size_t i = 0; i != r.listing.inputs.size(); ++i) {
            bool const is_user = r.listing.inputs[i].kind == program::input_kind::user;
            at::Tensor const& t = is_user ? inputs[i] : r.weights[i];
            values_[r.listing.inputs[i].value] = t;
            outside_.insert(storage_of(t));
            if (r.listing.inputs[i].kind == program::input_kind::buffer) saved_.save(t);
        }
    }
    player(player const&) = delete;
    player& operator=(player const&) = delete;
    ~player() {
        try {
            saved_.restore();
        } catch (std::exception const&) { // NOLINT(bugprone-empty-catch): it was saved, so that it can be restored
        }
    }

    void run() {
        for (program::node const& n : recording_.listing.main.nodes) call(n);
        for (std::size_t i = 0; i != recording_.outputs.size(); ++i) {
            at::Tensor const& a = values_[recording_.listing.main.outputs[i].tensor.index];
            at::Tensor const& b = recording_.outputs[i];
            if (!is_close(a, b))
                throw error("the recorded operators do not give output '" + recording_.listing.outputs[i].target +
                            "': C++ code writes to the memory of tensors, or another thread computes, which cannot be "
                            "recorded");
        }
    }

private:
    [[nodiscard]] static bool is_close(at::Tensor const& a, at::Tensor const& b) {
        if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return false;
        if (a.layout() != at::kStrided || !(a.is_floating_point() || a.is_complex()))
            return a.layout() != at::kStrided || a.equal(b);
        if (a.numel() == 0) return true;
        at::Tensor const x = a.is_complex() ? at::view_as_real(a.resolve_conj()).to(at::kDouble) : a.to(at::kDouble);
        at::Tensor const y = b.is_complex() ? at::view_as_real(b.resolve_conj()).to(at::kDouble) : b.to(at::kDouble);
        at::Tensor const size = at::nan_to_num(y, 0, 0, 0).abs().max();
        return at::allclose(x, y, relative, relative * std::min(size.item<double>(), 1.0), true);
    }

    [[nodiscard]] c10::IValue number_of(scalar const& s, c10::TypePtr const& as) const {
        return verify::torch_detail::number_of(s, as);
    }

    [[nodiscard]] c10::IValue list_of(program::argument const& a, c10::TypePtr const& element) const {
        c10::TypePtr const plain = verify::torch_detail::without_optional(element);
        c10::impl::GenericList out(element->kind() == c10::TypeKind::SymIntType ? c10::TypePtr(c10::IntType::get())
                                                                                : element);
        for (program::value_ref const& t : a.tensors)
            out.push_back(t                                                ? c10::IValue(values_[t.index])
                          : element->kind() == c10::TypeKind::OptionalType ? c10::IValue()
                                                                           : c10::IValue(at::Tensor()));
        for (program::number const& n : a.numbers) out.push_back(number_of(n.constant, plain));
        for (std::string const& text : a.texts) out.push_back(text);
        return out;
    }

    [[nodiscard]] c10::IValue to_torch(program::argument const& a, c10::TypePtr const& formal) const {
        c10::TypePtr const t = verify::torch_detail::without_optional(formal);
        if (t->kind() == c10::TypeKind::ListType && a.kind != kind::none)
            return list_of(a, t->castRaw<c10::ListType>()->getElementType());
        switch (a.kind) {
        case kind::tensor: return values_[a.tensor.index];
        case kind::number: return number_of(a.number.constant, t);
        case kind::text:
        case kind::tag: return verify::torch_detail::text_of(a.text, t);
        case kind::type: return static_cast<std::int64_t>(verify::torch_detail::to_torch(a.type));
        default: return {};
        }
    }

    void call(program::node const& n) {
        auto const [op, overload] = verify::torch_detail::names_of(n.op);
        c10::OperatorHandle const handle = c10::Dispatcher::singleton().findSchemaOrThrow(op.c_str(), overload.c_str());
        std::vector<c10::IValue> stack;
        for (c10::Argument const& formal : handle.schema().arguments()) {
            auto const given = std::find_if(
                n.arguments.begin(), n.arguments.end(), [&](auto const& a) { return a.name == formal.name(); });
            if (given != n.arguments.end()) stack.push_back(to_torch(*given, formal.real_type()));
            else if (formal.default_value()) stack.push_back(*formal.default_value());
            else stack.emplace_back();
            if (formal.alias_info() != nullptr && formal.alias_info()->isWrite() && stack.back().isTensor())
                if (at::Tensor const& t = stack.back().toTensor(); outside_.contains(storage_of(t))) saved_.save(t);
        }
        handle.callBoxed(stack);
        for (std::size_t i = 0; i != std::min(stack.size(), n.results.size()); ++i) {
            program::result const& r = n.results[i];
            std::vector<at::Tensor> made;
            if (stack[i].isTensorList()) made = stack[i].toTensorVector();
            else if (stack[i].isTensor()) made.push_back(stack[i].toTensor());
            for (std::size_t k = 0; k != std::min(made.size(), r.values.size()); ++k)
                if (r.values[k] != program::no_value) values_[r.values[k]] = made[k];
        }
        if (leaves_blank(n.op) && n.results.size() == 1) fill_blank(values_[n.results[0].values.at(0)]);
    }

    recording const& recording_;
    std::vector<at::Tensor> values_;
    std::unordered_set<void const*> outside_; ///< storages of inputs and weights
    saved_memory saved_;
};

} // namespace

void require_complete(recording const& r, std::vector<at::Tensor> const& inputs) {
    try {
        player(r, inputs).run();
    } catch (c10::Error const& e) {
        throw error(r.listing.file + ": the recorded operators do not run: " + first_line(e.what_without_backtrace()));
    } catch (error const& e) {
        throw error(r.listing.file + ": " + e.what());
    }
}

} // namespace ATON_NAMESPACE::torch
