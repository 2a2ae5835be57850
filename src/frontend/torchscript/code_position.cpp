// SPDX-License-Identifier: MIT
#include "code_position.hpp"

#include <utility>

#include <aton/core/cancellation.hpp>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

constexpr std::size_t max_steps = std::size_t{1} << 22U;
constexpr std::size_t max_values = std::size_t{1} << 17U;

} // namespace

frame* code_position::enter(frame* other) { return std::exchange(frame_, other); }

std::string code_position::where() const {
    if (frame_ == nullptr || frame_->function == nullptr) return {};
    std::string const here = frame_->function->file->name + ':' + std::to_string(line_);
    std::string const& source = code_.source_of(*frame_->function->file, offset_);
    return source.empty() ? here + " in " + frame_->function->name : source + " (" + here + ')';
}

void code_position::fail(std::string_view what) const {
    std::string const place = where();
    files::fail(place.empty() ? code_.path() : code_.path() + ": " + place, what);
}

void code_position::fail_undecidable(std::string_view what, value const& condition) const {
    std::string reason = "depends on data";
    if (condition.is() == kind::symbol) {
        program::value const& v = made_.values[condition.computed()];
        reason = "depends on a size or on data ('" + v.name + "')";
    }
    fail(
        std::string(what) + ' ' + reason +
        ", which is not supported in TorchScript archives: export the model with torch.export.save, or use a constant");
}

void code_position::spend(std::size_t steps) {
    stop_if_cancelled();
    steps_ += steps;
    if (steps_ > max_steps) fail("the code needs more than 4194304 steps: a loop is too long, or does not end");
    if (made_.values.size() > max_values) fail("the code computes more than 131072 values: a loop is too long");
}

value const* code_position::find_variable(std::string_view name) const {
    if (frame_ == nullptr) return nullptr;
    auto const found = frame_->variables.find(name);
    return found == frame_->variables.end() ? nullptr : &found->second;
}

constant const& constant_in(code_position const& at, value const& v, std::string_view as) {
    if (constant const* const known = v.known()) return *known;
    if (v.is() == kind::symbol || v.is() == kind::open_text || v.acts_as_tensor()) at.fail_undecidable(as, v);
    at.fail("uses " + std::string(describe(v)) + " as " + std::string(as));
}

std::int64_t position_in(code_position const& at, value const& index, std::size_t size) {
    if (index.is() == kind::symbol) at.fail_undecidable("the index of an item", index);
    std::optional<std::int64_t> const given = index.integer();
    if (!given) at.fail("uses " + std::string(describe(index)) + " as an index");
    auto const length = static_cast<std::int64_t>(size);
    std::int64_t const found = *given < 0 ? *given + length : *given;
    if (found < 0 || found >= length)
        at.fail("the index " + std::to_string(*given) + " is out of range: there are " + std::to_string(size) +
                " items");
    return found;
}

} // namespace ATON_NAMESPACE::torchscript
