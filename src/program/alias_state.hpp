// SPDX-License-Identifier: MIT
// Tracks the current value of every tensor of a graph while functionalize() turns writes into new values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "layouts.hpp"
#include "node_emitter.hpp"
#include "view_rules.hpp"

namespace ATON_NAMESPACE::program {

/// A memory is a tensor with all views of it, views of views included. A write to a view is put back into the viewed tensor
/// when another tensor of the same memory is read; a view is recomputed when it is read after the viewed tensor has changed.
///
/// Several values may be the same tensor, such as the argument and the result of an in-place operator.
class alias_state {
public:
    alias_state(node_emitter& out, layouts const& layout, std::size_t value_count);

    /// Adds `v` with new memory.
    void add_tensor(value_index v);
    /// Adds `v` as another name of the tensor `other`.
    void add_same(value_index v, value_index other);
    /// Adds the results of `n` as views of `from` and emits `n`, unless the same views exist. The arguments of `n` are already
    /// replaced by read(); `from` are the original ones. `views` has an element per result, nullopt for new memory.
    void add_views(node n, std::vector<std::optional<view_of>> const& views, std::vector<value_index> const& from);
    /// For in-place operators that only change sizes and strides: `v` becomes the view of itself that `n` computes.
    void change_view(node n, view_of const& view, value_index v);

    /// `v` becomes the same tensor as `source`, whose memory it shares from now on. Views of the former `v` keep their memory.
    void replace(value_index v, value_index source) { records_of_[object_of_[v]] = records_of_[object_of_[source]]; }

    [[nodiscard]] bool is_known(value_index v) const { return v < object_of_.size() && object_of_[v] != none; }
    /// The current value of `v`. Emits the operators that are needed to compute it.
    [[nodiscard]] value_index read(value_index v, node const& cause);
    /// A value with the sizes and dtype of `v`, but possibly outdated elements.
    [[nodiscard]] value_index shape_of(value_index v) const;
    /// The value of the program whose recorded type has the current sizes and strides of `v`.
    [[nodiscard]] value_index described_by(value_index v) const { return record_of(v).described_by; }
    /// Sets the current value of `v`, and thereby changes all tensors that share memory with it.
    void write(value_index v, value_index now, node const& cause);
    [[nodiscard]] bool are_same(value_index a, value_index b) const;

    /// `v` gets new sizes, and with them the value `now`. It leaves its memory: what else shares that memory is not read or written from now
    /// on, unless it has no elements.
    void resize(value_index v, value_index now, node const& cause);

    /// The value at the end of the memory to which `v` belongs, and whether it was written to.
    struct final_value {
        value_index value = no_value;
        bool is_written = false;
    };
    [[nodiscard]] final_value finish(value_index v);
    [[nodiscard]] bool share_memory(value_index a, value_index b) const;
    /// Whether two tensors are known to have no element in common.
    [[nodiscard]] bool are_disjoint(value_index a, value_index b) const;

private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    /// An operator that returns views, and its results for each value that it was applied to.
    struct view_node {
        node op;
        std::size_t argument = 0;
        std::map<std::pair<std::size_t, value_index>, std::vector<result>> applied; ///< by element of the argument
    };
    /// A tensor, or a view.
    struct record {
        std::uint32_t memory = 0;
        std::uint32_t parent = none;
        std::uint32_t depth = 0;
        view_rule rule = view_rule::same;
        std::shared_ptr<view_node> view;
        std::size_t list_element = 0; ///< of the argument
        std::size_t result = 0;
        std::size_t element = 0;
        value_index described_by = no_value;
        value_index current = no_value;
        value_index source = no_value; ///< the parent's value that `current` is a view of
    };
    struct memory {
        std::uint32_t root = none;
        std::uint32_t dirty = none; ///< a view whose write is not put back yet
        std::shared_ptr<node const> writer;
        std::shared_ptr<node const> resizer; ///< the node that has resized a tensor of this memory
        bool is_written = false;
    };

    [[nodiscard]] record const& record_of(value_index v) const { return records_[records_of_[object_of_[v]]]; }
    /// Refuses to use a tensor whose memory was resized through another one.
    void check_resized(std::uint32_t r, node const& cause) const;
    [[nodiscard]] bool has_no_elements(std::uint32_t r) const;
    [[nodiscard]] std::vector<std::uint32_t> path_to(std::uint32_t r, std::uint32_t top, node const& cause) const;
    [[nodiscard]] bool is_inside(std::uint32_t r, std::uint32_t of) const;
    /// Whether a view has every element of its memory, perhaps in another order.
    [[nodiscard]] bool has_all_elements(std::uint32_t r) const;
    struct part; ///< of a dimension
    [[nodiscard]] std::optional<part> part_of(record const& r) const;
    struct element_range; ///< of memory
    [[nodiscard]] std::optional<element_range> range_of(std::uint32_t r) const;
    void refresh(std::vector<std::uint32_t> const& path, node const& cause);
    void write_through_views(memory& m);
    std::vector<result> const& apply(view_node& view, std::size_t list_element, value_index to, node const& cause);
    bool add_view(value_index v, record made, std::string const& key);
    std::uint32_t new_record(record r);
    void new_object(value_index v, std::uint32_t r);
    void grow_to_hold(value_index v); ///< values are added during the walk

    node_emitter& out_;
    layouts const& layout_;
    std::vector<std::uint32_t> object_of_;  ///< by value
    std::vector<std::uint32_t> records_of_; ///< by object
    std::vector<record> records_;
    std::vector<memory> memories_;
    std::unordered_map<std::string, std::uint32_t> found_; ///< views by parent and operator
};

} // namespace ATON_NAMESPACE::program
