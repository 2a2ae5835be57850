// SPDX-License-Identifier: MIT
// A stack machine that runs pickles, restricted to the opcodes that a dict of tensors needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pickle_reader.hpp"

namespace ATON_NAMESPACE::pt2 {

class pickle_machine {
public:
    using value = pickled_tensors::value;
    using kind = pickled_tensors::kind;

    explicit pickle_machine(pickled_tensors& to) : to_(to), code_(to.pickle_) {}

    /// The entries of the resulting dict; its tensors and storages are added to `to`.
    std::vector<std::pair<std::string_view, value>> run();

private:
    // One group of opcodes each; false if the opcode is in another group.
    bool constant(unsigned op);
    bool container(unsigned op);
    bool memo(unsigned op);
    bool object(unsigned op);

    void reduce();
    value call(pickled_tensors::global const& function, value arguments);
    value rebuild_tensor(std::span<value const> arguments, bool has_dtype);
    value rebuild_from_type(std::span<value const> arguments);
    void persistent_id();
    void set_items(value dict, std::size_t first);

    [[nodiscard]] std::uint64_t take(std::size_t width);
    [[nodiscard]] std::string_view take_text(std::uint64_t length);
    [[nodiscard]] std::string_view take_line();
    void push(value v);
    void push_text(std::uint64_t length);
    void push_tuple(std::size_t first);
    void push_global(std::string_view module, std::string_view name);
    value pop();
    /// Removes the topmost mark. Returns the index of the first value above it.
    std::size_t above_mark();
    void recall(std::uint64_t index);
    void memorize(std::uint64_t index);

    void count(std::size_t objects);
    [[nodiscard]] std::span<value const> items(value tuple) const;
    [[nodiscard]] pickled_tensors::global const& global_of(value v) const;
    /// Whether the first arguments are of these kinds.
    [[nodiscard]] static bool match(std::span<value const> arguments, std::initializer_list<kind> kinds);
    [[noreturn]] void fail_here(std::string_view what) const;
    /// Throws unsupported_object.
    [[noreturn]] void refuse_here(std::string_view what) const;
    [[noreturn]] void refuse(pickled_tensors::global const& function) const;

    pickled_tensors& to_;
    std::string_view code_;
    std::size_t at_ = 0; ///< of the next byte
    std::size_t op_ = 0; ///< of the current opcode
    std::size_t objects_ = 0;
    std::vector<value> stack_;
    std::vector<value> memo_;
    std::vector<pickled_tensors::global> globals_;
    std::vector<std::vector<value>> containers_; ///< items of lists; alternating keys and values of dicts
};

} // namespace ATON_NAMESPACE::pt2
