// SPDX-License-Identifier: MIT
// Tracks lists of sizes, from Shape, Gather, Concat and similar operators, as numbers and symbols; uses one node per symbol.
#include "size_lists.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "attributes.hpp"
#include "rewriter.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

constexpr std::size_t max_list_length = 32;

using kind = size_element::kind;

bool is_index(dtype t) { return t == dtype::int64 || t == dtype::int32; }

/// Whether a value may be a list of sizes. An unknown rank is not accepted.
bool is_list(value_type const& t) {
    return t.kind == value_kind::tensor && is_index(t.dtype) && t.shape.has_rank() && t.shape.rank() <= 1;
}

} // namespace

void size_lists::begin_sweep() {
    symbol_index_.clear();
    symbols_.clear();
    elements_.clear();
    element_index_.clear();
    for (value_id id : r_.graph().inputs) record_symbols(id);
}

std::size_t size_lists::symbol_of(std::string_view name) {
    auto const [found, is_new] = symbol_index_.try_emplace(std::string(name), symbols_.size());
    if (is_new) symbols_.push_back({.name = std::string(name)});
    return found->second;
}

void size_lists::grow() { element_index_.resize(r_.graph().values.size(), -1); }

void size_lists::record_symbols(value_id source) {
    value_type const& t = r_.type(source);
    if (t.kind != value_kind::tensor) return;
    for (std::size_t i = 0; i != t.shape.rank(); ++i) {
        if (!t.shape[i].is_symbolic()) continue;
        symbol& s = symbols_[symbol_of(t.shape[i].symbol())];
        if (s.source != no_value) continue;
        s.source = source;
        s.axis = static_cast<std::int64_t>(i);
    }
}

void size_lists::set_elements(value_id id, std::vector<size_element> elements) {
    grow();
    element_index_[id] = static_cast<std::int32_t>(elements_.size());
    elements_.push_back(std::move(elements));
}

std::vector<size_element> const* size_lists::elements(value_id id) {
    if (id == no_value) return nullptr;
    grow();
    if (element_index_[id] == -1) {
        element_index_[id] = -2;
        tensor const* const t = r_.constant(id);
        if (t != nullptr && is_index_tensor(*t) && t->element_count() <= static_cast<std::int64_t>(max_list_length)) {
            std::vector<size_element> all;
            for (std::int64_t n : integers(*t)) all.push_back({kind::number, n});
            set_elements(id, std::move(all));
        }
    }
    return element_index_[id] < 0 ? nullptr : &elements_[static_cast<std::size_t>(element_index_[id])];
}

/// The result of Shape.
size_lists::size_list size_lists::shape_elements(graph_node const& n) {
    value_id const x = n.inputs[0];
    value_type const& t = r_.type(x);
    if (t.kind != value_kind::tensor || !t.shape.has_rank() || t.shape.rank() > max_list_length) return {};
    record_symbols(x);
    auto const rank = static_cast<std::int64_t>(t.shape.rank());
    cut const c = cut_of(rank, int_attribute(n, "start", 0), int_attribute(n, "end", rank));
    std::vector<size_element> out;
    for (std::int64_t i = c.start; i != c.start + c.count; ++i) {
        dim const& d = t.shape[static_cast<std::size_t>(i)];
        if (d.is_static()) out.push_back({kind::number, d.size()});
        else if (d.is_symbolic()) out.push_back({kind::symbol, static_cast<std::int64_t>(symbol_of(d.symbol()))});
        else out.emplace_back();
    }
    return out;
}

/// The result of Concat. An input whose elements are unknown must have a known length.
size_lists::size_list size_lists::concat_elements(graph_node const& n) {
    std::vector<size_element> out;
    for (value_id id : n.inputs) {
        auto const* const part = elements(id);
        shape const& s = r_.shape_of(id);
        std::int64_t const length = s.has_rank() && s.rank() == 1 ? s[0].size_or(-1) : -1;
        std::size_t const more = part != nullptr ? part->size() : static_cast<std::size_t>(length);
        if ((part == nullptr && length < 0) || more > max_list_length || out.size() + more > max_list_length) return {};
        if (part != nullptr) out.insert(out.end(), part->begin(), part->end());
        else out.resize(out.size() + more);
    }
    return out;
}

/// The result of Gather on a list of known elements.
size_lists::size_list size_lists::gather_elements(graph_node const& n, std::vector<size_element> const& from) const {
    tensor const* const at = r_.constant(input(n, 1));
    if (at == nullptr || !is_index_tensor(*at) || at->element_count() > static_cast<std::int64_t>(max_list_length) ||
        r_.shape_of(n.inputs[0]).rank() != 1)
        return {};
    auto const count = static_cast<std::int64_t>(from.size());
    std::vector<size_element> out;
    for (std::int64_t i : integers(*at)) {
        if (i < -count || i >= count) return {};
        out.push_back(from[static_cast<std::size_t>(i < 0 ? i + count : i)]);
    }
    return out;
}

/// The result of Slice on a list of known elements.
size_lists::size_list size_lists::slice_elements(graph_node const& n, std::vector<size_element> const& from) const {
    std::int64_t numbers[4] = {0, 0, 0, 1}; // start, end, axis, step
    for (std::size_t i = 1; i != 5; ++i) {
        tensor const* const t = r_.constant(input(n, i));
        if (input(n, i) == no_value && i > 2) continue;
        if (t == nullptr || !is_index_tensor(*t) || t->element_count() != 1) return {};
        numbers[i - 1] = integers(*t)[0];
    }
    auto const [start, end, axis, step] = numbers;
    if ((axis != 0 && axis != -1) || step == 0 || r_.shape_of(n.inputs[0]).rank() != 1) return {};
    cut const c = cut_of(static_cast<std::int64_t>(from.size()), start, end, step);
    std::vector<size_element> out;
    for (std::int64_t i = 0; i != c.count; ++i) out.push_back(from[static_cast<std::size_t>(c.start + i * c.step)]);
    return out;
}

/// Infers the elements of the only result of a node.
size_lists::size_list size_lists::infer_elements(graph_node const& n) {
    value_id const x = input(n, 0);
    if (n.outputs.size() != 1 || x == no_value || !is_list(r_.type(n.outputs[0]))) return {};
    if (n.op == "Shape") return shape_elements(n);
    if (n.op == "Concat") return concat_elements(n);
    if (n.op == "Size") { // known for one dimension, or if all sizes are numbers
        shape const& s = r_.shape_of(x);
        if (s.rank() == 1) return shape_elements(n);
        if (!s.is_static()) return {};
        return std::vector<size_element>{{kind::number, s.element_count()}};
    }
    std::vector<size_element> const* const from = elements(x);
    if (from == nullptr) return {};
    if (n.op == "Gather") return gather_elements(n, *from);
    if (n.op == "Slice") return slice_elements(n, *from);
    if (n.op == "Squeeze" || n.op == "Unsqueeze" || n.op == "Reshape" || n.op == "Identity" || n.op == "Cast")
        return *from;
    return {};
}

void size_lists::record(graph_node const& n) {
    size_list inferred = infer_elements(n);
    if (!inferred) return;
    std::vector<size_element>& list = *inferred;
    value_id const id = n.outputs[0];
    if (list.size() == 1 && list[0].what == kind::symbol && r_.type(id).dtype == dtype::int64) {
        value_id& known = symbols_[static_cast<std::size_t>(list[0].number)].sizes[r_.shape_of(id).rank()];
        if (known == no_value || !r_.is_alive(known)) known = id;
    }
    if (std::any_of(list.begin(), list.end(), [](size_element const& e) { return e.what != kind::unknown; }))
        set_elements(id, std::move(list));
}

/// The value of a symbol, computed after its source; for a graph input, before all nodes.
value_id size_lists::size_value(std::size_t symbol_index, std::size_t rank, graph_node const& like) {
    symbol const s = symbols_[symbol_index];
    if (s.sizes[rank] != no_value && r_.is_alive(s.sizes[rank])) return s.sizes[rank];
    if (s.source == no_value || !r_.is_alive(s.source)) return no_value;
    bool const from_input = r_.is_input(s.source);
    value_type const result{dtype::int64, rank == 0 ? shape(std::vector<dim>{}) : shape{1}};
    value_id made = no_value;
    if (r_.graph().opset >= 15 && rank == 1) {
        graph_node n = make_node("Shape", {s.source}, like);
        if (s.axis != 0) set_int_attribute(n, "start", s.axis);
        if (s.axis + 1 != static_cast<std::int64_t>(r_.shape_of(s.source).rank()))
            set_int_attribute(n, "end", s.axis + 1);
        made = r_.add_node(std::move(n), result, from_input);
    } else if (r_.graph().opset >= 15) {
        value_id const list = size_value(symbol_index, 1, like);
        auto const p = static_cast<std::size_t>(r_.graph().values[list].producer);
        made = r_.add_node(make_node("Squeeze", {list}, like), result, r_.is_first(p));
    } else {
        value_type const all{dtype::int64, shape{static_cast<std::int64_t>(r_.shape_of(s.source).rank())}};
        value_id const sizes = r_.add_node(make_node("Shape", {s.source}, like), all, from_input);
        value_id const index = r_.add_constant(tensor{
            dtype::int64, std::vector<std::int64_t>(rank, 1), int64_tensor(std::vector<std::int64_t>{s.axis}).bytes});
        made = r_.add_node(make_node("Gather", {sizes, index}, like), result, from_input);
    }
    symbols_[symbol_index].sizes[rank] = made;
    return made;
}

std::optional<std::size_t> size_lists::symbol_of(dim const& d) {
    return d.is_symbolic() ? std::optional(symbol_of(d.symbol())) : std::nullopt;
}

value_id size_lists::shape_value(std::vector<dim> const& dims, graph_node const& like) {
    std::vector<value_id> parts;
    std::vector<std::int64_t> numbers; // adjacent ones
    auto const end_numbers = [&] {
        if (!numbers.empty()) parts.push_back(r_.add_integers(numbers));
        numbers.clear();
    };
    for (dim const& d : dims) {
        if (d.is_static()) {
            numbers.push_back(d.size());
            continue;
        }
        end_numbers();
        auto const symbol = symbol_of(d);
        parts.push_back(symbol ? size_value(*symbol, 1, like) : no_value);
        if (parts.back() == no_value) return no_value;
    }
    end_numbers();
    if (parts.empty()) return r_.add_integers({});
    if (parts.size() == 1) return parts[0];
    graph_node n = make_node("Concat", std::move(parts), like);
    set_int_attribute(n, "axis", 0);
    return r_.add_node(std::move(n), {dtype::int64, shape{static_cast<std::int64_t>(dims.size())}});
}

bool size_lists::reuse_size(graph_node& n, size_element const& e) {
    value_id const out = n.outputs[0];
    std::size_t const rank = r_.shape_of(out).rank();
    auto const index = static_cast<std::size_t>(e.number);
    value_id const known = symbols_[index].sizes[rank];
    if (known == no_value || !r_.is_alive(known)) {
        // These have no shorter replacement.
        if (n.op == (rank == 1 ? "Shape" : "Squeeze") && r_.graph().opset >= 15) {
            if (rank == 1 || n.inputs[0] == symbols_[index].sizes[1]) return false;
        }
        if (n.op == "Gather" && (r_.graph().opset < 15 || !r_.is_input(symbols_[index].source)) &&
            (rank == 1 || symbols_[index].sizes[1] == no_value))
            return false;
    }
    value_id const size = size_value(index, rank, n);
    if (size == no_value) return false;
    r_.replace(out, size);
    return true;
}

/// A tensor, from which sizes are read anyhow, that has just these sizes; or no_value.
value_id size_lists::tensor_of_sizes(std::vector<size_element> const& list) const {
    auto const known = [](size_element const& e) { return e.what != kind::unknown; };
    if (!std::all_of(list.begin(), list.end(), known)) return no_value;
    for (size_element const& e : list) {
        if (e.what != kind::symbol) continue;
        value_id const source = symbols_[static_cast<std::size_t>(e.number)].source;
        if (source == no_value || !r_.is_alive(source) || r_.shape_of(source).rank() != list.size()) continue;
        bool same = true;
        for (std::size_t i = 0; same && i != list.size(); ++i) {
            dim const& d = r_.shape_of(source)[i];
            same = list[i].what == kind::number
                       ? d == dim(list[i].number)
                       : d.is_symbolic() && d.symbol() == symbols_[static_cast<std::size_t>(list[i].number)].name;
        }
        if (same) return source;
    }
    return no_value;
}

bool size_lists::simplify(graph_node& n) {
    if (n.op == "Cast" || n.op == "Identity") return false;
    size_list const inferred = infer_elements(n);
    if (!inferred) return false;
    std::vector<size_element> const& list = *inferred;
    value_id const out = n.outputs[0];
    if (std::all_of(list.begin(), list.end(), [](size_element const& e) { return e.what == kind::number; })) {
        std::size_t const rank = r_.shape_of(out).rank();
        if (rank == 0 && list.size() != 1) return false;
        tensor t{r_.type(out).dtype, {}, {}};
        if (rank == 1) t.sizes.push_back(static_cast<std::int64_t>(list.size()));
        for (size_element const& e : list) t.append(e.number);
        r_.replace(out, r_.add_constant(std::move(t)));
        return true;
    }
    if (r_.type(out).dtype != dtype::int64) return false;
    if (n.op == "Concat") {
        value_id const source = tensor_of_sizes(list);
        if (source != no_value) r_.replace(out, r_.add_node(make_node("Shape", {source}, n), r_.type(out)));
        return source != no_value;
    }
    return list.size() == 1 && list[0].what == kind::symbol && reuse_size(n, list[0]);
}

} // namespace ATON_NAMESPACE::passes
