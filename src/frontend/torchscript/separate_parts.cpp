// SPDX-License-Identifier: MIT
#include "separate_parts.hpp"

#include <utility>

namespace ATON_NAMESPACE::torchscript {

part separate_parts::interpret(std::function<value()> const& body) {
    constexpr int max_depth = 32;
    if (++depth_ > max_depth) at_.fail("branches and loops that depend on data are nested more than 32 levels deep");
    at_.spend(at_.current()->variables.size() + values_.sizes().size() + types_.resized().size());
    part out;
    std::vector<program::node> nodes = std::exchange(build_.nodes(), {});
    auto variables = at_.current()->variables;
    program_values::known_sizes const sizes = values_.sizes();
    result_types::new_sizes const resized = types_.resized();
    std::vector<program::value_index> written = aliases_.exchange_written({});
    outside_attributes changed = attributes_.exchange_changed({});
    std::size_t const fence = std::exchange(heap_.fence, heap_.made);
    auto const leave = [&] {
        heap_.fence = fence;
        out.nodes = std::exchange(build_.nodes(), std::move(nodes));
        out.variables = std::exchange(at_.current()->variables, std::move(variables));
        out.written = aliases_.exchange_written(std::move(written));
        out.attributes = attributes_.exchange_changed(std::move(changed));
        for (auto& [key, each] : out.attributes) std::swap(each.object->attributes[key.second], each.held);
        values_.set_sizes(sizes);
        types_.set_resized(resized);
        --depth_;
    };
    frame* const here = at_.current();
    value const result = at_.current()->result;
    dtype const type = autocast_.type();
    bool const has_gradients = gradients_.is_enabled;
    auto const growing = containers_.growing();
    try {
        out.result = body();
    } catch (raised const&) {
        (void)at_.enter(here);
        at_.current()->result = result;
        autocast_.leave(type);
        gradients_.is_enabled = has_gradients;
        containers_.set_growing(growing);
        leave();
        throw;
    }
    leave();
    return out;
}

std::optional<part> separate_parts::interpret_branch(std::function<value()> const& body) {
    try {
        return interpret(body);
    } catch (raised const&) {
        return std::nullopt;
    }
}

} // namespace ATON_NAMESPACE::torchscript
