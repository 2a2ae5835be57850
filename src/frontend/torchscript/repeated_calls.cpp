// SPDX-License-Identifier: MIT
#include "repeated_calls.hpp"

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "frontend/files/text.hpp"
#include "interpreter.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;

constexpr int max_calls_until_stable = 6;

class calls_of_forward {
public:
    calls_of_forward(library& code, read_options const& options) : code_(code), options_(options) {}

    /// The program of a call before which attributes hold `held`, and that returns those that the model keeps.
    [[nodiscard]] program::program call(held_values held, held_values kept) {
        return all_.emplace_back(code_, options_, state_before{std::move(held), std::move(kept)}).run();
    }
    /// What the last call has left.
    [[nodiscard]] state_left const& left() const { return all_.back().left(); }

private:
    library& code_;
    read_options const& options_;
    std::deque<interpreter> all_; ///< they stay: the inference of types tells programs apart by their addresses
};

} // namespace

program::program interpret(library& code, read_options const& options) {
    calls_of_forward calls(code, options);
    program::program first = calls.call({}, {});
    state_left const start = calls.left();
    if (start.after.empty()) return first;
    auto const refuse = [&](attribute_name const& name, std::string_view why) {
        auto const found = start.places.find(name);
        std::string const place = found == start.places.end() ? std::string() : found->second;
        files::fail(place.empty() ? code.path() : code.path() + ": " + place,
                    "assigns the attribute " + in_quotes(text_of(name)) + " of the module, " + std::string(why));
    };
    held_values held = start.saved;
    held_values after = start.after;
    std::set<attribute_name> changed;
    for (int count = 0;; ++count) {
        bool is_stable = true;
        for (auto const& [name, left] : after) {
            auto const [known, is_new] = held.try_emplace(name, left);
            if (!is_new && known->second == left) continue;
            std::optional<held_value> const next = settle(known->second, left, changed.insert(name).second);
            if (!next || count == max_calls_until_stable)
                refuse(name,
                       "which has another type or size after every call, so that no input of the model can keep it");
            is_stable = is_stable && known->second == *next;
            known->second = *next;
        }
        if (is_stable) break;
        (void)calls.call(held, {});
        after = calls.left().after;
    }
    held_values kept;
    for (auto const& [name, each] : held)
        if (each.is_input()) kept.emplace(name, each);
    program::program later = calls.call(held, kept);
    std::map<std::string, std::string> const values = first_values(kept, start.saved);
    for (program::input& in : later.inputs)
        if (auto const found = values.find(in.target); in.kind == program::input_kind::user && found != values.end())
            in.first_value = found->second;
    bool const is_same_at_first =
        kept.empty() ? program::to_string(first) == program::to_string(later)
                     : compute_the_same(calls.call({}, kept), calls.call(before_first_call(held, start.saved), kept));
    if (!is_same_at_first)
        refuse(held.begin()->first,
               "so that the first call computes something else than later ones, which one graph cannot: give it the "
               "value that it has after the first call before torch.jit.save, or make it a buffer");
    return later;
}

} // namespace ATON_NAMESPACE::torchscript
