// SPDX-License-Identifier: MIT
// Binds results of mappings to values of the program: checks them against the recorded types, and casts where ATen's promotion requires it.
#include "converter.hpp"
#include "known_wrong_types.hpp"
#include "result_types.hpp"
#include "symbolic_sizes.hpp"

#include <algorithm>

#include <aton/aten/promotion.hpp>

namespace ATON_NAMESPACE::exporter {

namespace {

using kind = program::argument_kind;

/// The dtype that ATen's promotion gives for a node's tensor operands.
dtype promoted(program::program const& p, program::node const& n) {
    aten::promotion common;
    for (program::argument const& a : n.arguments)
        for (program::value_index v : program::tensors_of(a))
            if (v != program::no_value && p.values[v].kind == program::value_kind::tensor)
                common.add_tensor(p.values[v].type, !p.values[v].sizes.empty());
    return common.result();
}

} // namespace

dsl::value cast_value(dsl::graph<oldest_export_opset> g, dsl::value const& v, dtype type) {
    if (!is_complex(type)) return g.cast(v, type);
    return g.to_value(g.cast(dsl::complex_value(v), type));
}

value_type recorded_type(program::value const& v, dimension_names const& dims) {
    value_type type;
    if (v.kind != program::value_kind::tensor) return {dtype_of(v.kind), shape(std::vector<dim>()), value_kind::tensor};
    if (!v.has_type) return type;
    type.dtype = v.type;
    type.shape = dims(v.sizes);
    return type;
}

/// The recorded type of a value, as far as it is trusted.
value_type converter::type_of(program::value_index index) const {
    value_type type = recorded_type(program_.values[index], dims_);
    if (untrusted_[index] != untrusted::none) type.shape = shape();
    if (untrusted_[index] == untrusted::everything) type.dtype = dtype::undefined;
    return type;
}

std::vector<value_type> converter::expected_types(program::node const& n) const {
    std::vector<value_type> types;
    for (program::result const& r : n.results)
        for (program::value_index v : r.values) types.push_back(v == program::no_value ? value_type{} : type_of(v));
    return types;
}

/// The recorded type of a value that depends on a value with a wrong type is not trusted either, also in nested graphs.
void converter::propagate_untrusted(program::node const& n) {
    untrusted strongest = untrusted::none;
    for (program::argument const& a : n.arguments)
        program::for_each_value(a, [&](program::value_index v) { strongest = std::max(strongest, untrusted_[v]); });
    if (strongest == untrusted::none) return;
    for (program::value_index v : result_values(n))
        if (v != program::no_value && program_.values[v].kind == program::value_kind::tensor) untrusted_[v] = strongest;
    for (program::argument const& a : n.arguments) {
        if (a.kind != kind::graph || a.index < 0) continue;
        auto const index = static_cast<std::size_t>(a.index);
        if (index >= program_.subgraphs.size()) continue;
        for (program::value_index v : program_.subgraphs[index].inputs)
            if (v != program::no_value) untrusted_[v] = strongest;
    }
}

/// Whether an operand has a size that depends on data and may be 0.
bool converter::may_be_empty(program::node const& n) const {
    bool found = false;
    for (program::argument const& a : n.arguments)
        program::for_each_value(a, [&](program::value_index v) {
            std::vector<program::extent> const& sizes = program_.values[v].sizes;
            found = found || std::any_of(sizes.begin(), sizes.end(), [this](program::extent const& size) {
                        return may_be_zero(program_, size);
                    });
        });
    return found;
}

/// Refuses a squeeze that may remove a dimension of data-dependent size: the recorded rank is only torch.export's assumption.
void converter::check_squeeze(program::node const& n) const {
    std::string_view const op = std::string_view(n.op).substr(0, n.op.find('.'));
    if (op != "aten::squeeze" && op != "aten::squeeze_copy") return;
    program::value const* self = nullptr;
    std::vector<std::int64_t> axes;
    bool all = true;
    for (program::argument const& a : n.arguments) {
        if (a.name == "self" && a.kind == kind::tensor) self = &program_.values[a.tensor];
        if (a.name != "dim") continue;
        all = false;
        if (auto const axis = program::integer_of(a)) axes.push_back(*axis);
        for (program::number const& n : a.numbers) axes.push_back(n.integer().value_or(0));
    }
    if (self == nullptr) return;
    auto const rank = static_cast<std::int64_t>(self->sizes.size());
    for (std::int64_t i = 0; i != rank; ++i) {
        bool const may_be_removed = all || std::find(axes.begin(), axes.end(), i) != axes.end() ||
                                    std::find(axes.begin(), axes.end(), i - rank) != axes.end();
        program::extent const& size = self->sizes[static_cast<std::size_t>(i)];
        if (may_be_removed && may_be_one(program_, size))
            throw unsupported_error("whether dimension " + std::to_string(i) + " of " +
                                    describe(recorded_type(*self, dims_)) +
                                    " is 1 and is removed depends on data; squeeze only other dimensions, or add "
                                    "torch._check(size >= 2) to the program");
    }
}

/// Refuses strides that address the memory of a tensor whose elements are not in that order in the graph.
void converter::check_strides(program::node const& n) const {
    if (!n.op.starts_with("aten::as_strided")) return;
    bool starts_inside = false;
    for (program::argument const& a : n.arguments) {
        if (a.name == "self" && a.kind == kind::tensor) {
            program::value const& self = program_.values[a.tensor];
            bool const has_strides = self.strides.size() == self.sizes.size();
            if (has_strides && !program::is_contiguous(program_, a.tensor))
                throw unsupported_error(
                    "strides of the memory of a tensor that is not contiguous; call contiguous() first");
            starts_inside = !self.storage_offset.is_number() || self.storage_offset.number != 0;
        }
        if (starts_inside && a.name == "storage_offset" && a.kind != kind::none)
            throw unsupported_error(
                "an offset in memory that begins before the tensor, which is a view; call it on the "
                "tensor that is viewed");
    }
}

/// Converts a value to its recorded type. Casts to a wider dtype of the same kind; everything else is refused.
dsl::value converter::conform(dsl::value const& v, value_type const& recorded, std::string_view subject) {
    value_type const& given = v.type();
    if (!fits(given, recorded)) throw unsupported_error(mismatch(subject, given, recorded));
    if (given.dtype == recorded.dtype || given.dtype == dtype::undefined || recorded.dtype == dtype::undefined)
        return v;
    if (!holds_all_of(recorded.dtype, given.dtype)) throw unsupported_error(mismatch(subject, given, recorded));
    return cast_value(ops(*graph_, options_.opset), v, recorded.dtype);
}

/// Binds the results of a row to the results of a node.
class converter::row_results {
public:
    row_results(converter& owner, program::node const& n, dsl::entry const& row, std::size_t first_new)
        : owner_(owner),
          node_(n),
          first_new_(first_new) {
        for (dsl::table_view const& table : owner.options_.tables)
            for (dsl::entry const& e : table) is_user_row_ = is_user_row_ || &e == &row;
    }

    void bind(std::vector<dsl::result> const& results) {
        check_order(results);
        for (std::size_t i = 0; i != node_.results.size(); ++i) {
            program::result const& wanted = node_.results[i];
            if (wanted.values.empty()) continue;
            if (i >= results.size() || results[i].is_list != wanted.is_list)
                throw unsupported_error("the results of the mapping do not match those of the program");
            if (!wanted.is_list) {
                bind(i, wanted.values[0], results[i].single);
                continue;
            }
            if (results[i].list.size() != wanted.values.size())
                throw unsupported_error("the mapping returns " + std::to_string(results[i].list.size()) +
                                        " tensors, but the program has " + std::to_string(wanted.values.size()));
            for (std::size_t k = 0; k != wanted.values.size(); ++k) bind(i, wanted.values[k], results[i].list[k]);
        }
    }

private:
    /// Detects results in the wrong order (such as int32 and int64), which casts would hide: the dtypes are a permutation of the recorded
    /// ones.
    void check_order(std::vector<dsl::result> const& results) const {
        std::vector<dtype> given;
        std::vector<dtype> recorded;
        for (std::size_t i = 0; i != std::min(results.size(), node_.results.size()); ++i) {
            program::result const& wanted = node_.results[i];
            if (wanted.is_list || wanted.values.empty() || wanted.values[0] == program::no_value) continue;
            value_type const known = owner_.type_of(wanted.values[0]);
            dsl::optional_value const& made = results[i].single;
            if (!made || known.dtype == dtype::undefined || made->dtype() == dtype::undefined) continue;
            if (made->dtype() == known.dtype) continue;
            given.push_back(made->dtype());
            recorded.push_back(known.dtype);
        }
        if (given.size() < 2 || !std::is_permutation(given.begin(), given.end(), recorded.begin())) return;
        auto const text = [](std::vector<dtype> const& all) {
            std::string out;
            for (dtype t : all) out += (out.empty() ? "" : ", ") + std::string(name(t));
            return out;
        };
        throw unsupported_error("the mapping returns results of " + text(given) + ", but the program records " +
                                text(recorded) + ": they are in the wrong order");
    }

    /// Binds one result. A new value gets the program's name, and the recorded sizes where inference knows less.
    void bind(std::size_t position, program::value_index index, dsl::optional_value const& result) {
        if (index == program::no_value) return;
        program::value const& v = owner_.program_.values[index];
        if (!result)
            return owner_.bind(index, {{}, {}, "the mapping of " + node_.op + " does not compute '" + v.name + "'"});
        value_type const recorded = recorded_type(v, owner_.dims_);
        if (is_known_wrong_type(node_.op, position, owner_.program_.torch_version, result->type(), recorded))
            owner_.untrusted_[index] = untrusted::everything;
        value_type const known = owner_.type_of(index);
        dsl::value const out = conformed(v, *result, known);
        if (out.dtype() == recorded.dtype && out.shape() == recorded.shape && recorded.shape.is_static())
            owner_.untrusted_[index] = untrusted::none; // the type matches the file, so it is trusted again
        if (v.kind != program::value_kind::tensor && out.is_constant() && out.constant().element_count() == 1)
            return owner_.bind(index, {{}, out.constant().at(0), {}});
        if (&out.owner() == owner_.graph_ && out.id() >= first_new_) {
            out.set_type(merged(out.type(), known));
            graph_value& made = owner_.graph_->values[out.id()];
            if (made.name.empty()) made.name = v.name;
        }
        owner_.bind(index, {out, {}, {}});
    }

    /// The value in the recorded dtype. A row may compute in another width than ATen within a kind (integer, floating-point, complex). The
    /// Cast must keep every value, or go to the dtype that ATen's promotion gives for the node's tensors.
    [[nodiscard]] dsl::value conformed(program::value const& v, dsl::value const& out, value_type const& known) const {
        value_type const& given = out.type();
        if (!fits(given, known)) refuse(v, given, known, advice());
        for (std::size_t i = 0; known.shape.has_rank() && given.shape.has_rank() && i != given.shape.rank(); ++i)
            if (given.shape[i].is_static() && !known.shape[i].is_static() && i < v.sizes.size() &&
                is_contradicted_by(owner_.program_, v.sizes[i], given.shape[i].size()))
                refuse(v, given, known, advice_on_size(v.sizes[i], given.shape[i].size()));
        if (given.dtype == known.dtype || given.dtype == dtype::undefined || known.dtype == dtype::undefined)
            return out;
        if (!holds_all_of(known.dtype, given.dtype) && known.dtype != promoted(owner_.program_, node_))
            refuse(v,
                   given,
                   known,
                   is_user_row_ ? "write g.cast(..., dtype::" + std::string(name(known.dtype)) + ") in the row"
                                : advice());
        return cast_value(ops(*owner_.graph_, owner_.options_.opset), out, known.dtype);
    }

    [[noreturn]] static void refuse(program::value const& v, value_type const& given, value_type const& known,
                                    std::string const& advice) {
        throw unsupported_error("result '" + v.name + "': " + mismatch("the mapping returns", given, known) + "; " +
                                advice);
    }

    [[nodiscard]] std::string advice() const {
        if (!is_user_row_) return "the program contradicts itself, or the built-in mapping is wrong";
        return node_.results.size() > 1 ? "the row is wrong, or returns its results in the wrong order"
                                        : "the row is wrong";
    }

    /// A write in place, as x.add_(buffer), holds for one size of x only; the user gave another, or a symbol for it.
    [[nodiscard]] std::string advice_on_size(program::extent const& recorded, std::int64_t n) const {
        if (is_user_row_ || recorded.is_number()) return advice();
        program::expression const& e = owner_.program_.expressions[recorded.expression];
        bool const is_users = e.kind == program::expression_kind::symbol && !owner_.program_.ranges.contains(e.symbol);
        if (!is_users) return advice();
        return "'" + e.symbol + "' can only be " + std::to_string(n) + " here: give that size as a number";
    }

    converter& owner_;
    program::node const& node_;
    std::size_t first_new_;
    bool is_user_row_ = false;
};

void converter::bind_results(program::node const& n, dsl::entry const& row, std::vector<dsl::result> const& results,
                             std::size_t first_new) {
    row_results(*this, n, row, first_new).bind(results);
}

} // namespace ATON_NAMESPACE::exporter
