// SPDX-License-Identifier: MIT
// A stack machine that runs pickles, restricted to the opcodes that tensors need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pickle_reader.hpp"

namespace ATON_NAMESPACE::pt2 {

class pickle_machine {
public:
    using value = pickle_data::value;
    using kind = pickle_data::kind;
    using global = pickle_data::global;

    explicit pickle_machine(pickle_data& to) : to_(to), code_(to.pickle) {}

    /// The entries of the resulting dict; its tensors and storages are added to `to`.
    std::vector<std::pair<std::string_view, value>> run_dict();
    /// The resulting tensor of a class of Python. Calls that it does not know become objects.
    value run_object();

private:
    friend class pickle_calls;

    void run();
    // One group of opcodes each; false if the opcode is in another group.
    bool constant(unsigned op);
    bool container(unsigned op);
    bool memo(unsigned op);
    bool object(unsigned op);

    void reduce();
    void build();
    void make_object();
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
    [[nodiscard]] global global_of(value v) const;
    [[noreturn]] void fail_here(std::string_view what) const;
    /// Throws unsupported_object.
    [[noreturn]] void refuse_here(std::string_view what) const;

    pickle_data& to_;
    bool keeps_objects_ = false; ///< what is not a tensor is kept, not refused
    std::string_view code_;
    std::size_t at_ = 0; ///< of the next byte
    std::size_t op_ = 0; ///< of the current opcode
    std::size_t objects_ = 0;
    std::vector<value> stack_;
    std::vector<value> memo_;
};

} // namespace ATON_NAMESPACE::pt2
