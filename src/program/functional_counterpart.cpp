// SPDX-License-Identifier: MIT
#include "functional_counterpart.hpp"

#include <algorithm>
#include <utility>

#include <aton/aten/function_schema.hpp>
#include <aton/aten/mutation.hpp>
#include <aton/aten/promotion.hpp>
#include <aton/aten/schema_table.hpp>

#include "name_lists.hpp"
#include "node_arguments.hpp"

namespace ATON_NAMESPACE::program {

namespace {

struct parsed_schema {
    std::string_view text;
    aten::schema_head head;
    std::vector<aten::schema_argument> arguments;
    std::vector<aten::schema_return> returns;
};

parsed_schema parse(std::string_view text) {
    parsed_schema out;
    out.text = text;
    out.head = aten::parse_head(text);
    aten::schema_argument argument;
    for (aten::argument_cursor each{text}; each.next(argument);) out.arguments.push_back(argument);
    aten::schema_return returned;
    for (aten::return_cursor each{text}; each.next(returned);) out.returns.push_back(returned);
    return out;
}

bool same_type(aten::schema_type const& a, aten::schema_type const& b) {
    bool const same_base = a.base == b.base && (a.base != aten::base_type::other || a.base_text == b.base_text);
    return same_base && a.list == b.list && a.optional == b.optional && a.element_optional == b.element_optional;
}

bool writes(parsed_schema const& s) {
    return std::any_of(s.arguments.begin(), s.arguments.end(), [](auto const& each) { return each.type.mutates; });
}

/// Whether an argument is only written to, like `out` in `add.out(self, other, *, out)`.
bool is_out(aten::schema_argument const& a) { return a.type.mutates && a.keyword_only; }

/// Names of operators that may compute the same without writing, in order of preference: that of rrelu_with_noise has the suffix.
std::vector<std::string> counterpart_names(aten::schema_head const& head) {
    std::string const ns = std::string{head.ns} + "::";
    std::string name{head.name};
    if (name == "_index_put_impl_") return {ns + "index_put"};
    if (name == "normal_") return {ns + "normal_functional"};
    if (name.starts_with("__i") && name.ends_with("__"))
        return {ns + "__" + name.substr(3)}; // __iand__, __ior__, __ixor__
    if (name.ends_with('_') && !name.ends_with("__")) name.pop_back();
    return {ns + name, ns + name + "_functional"};
}

/// All overloads of an operator; one named `overload` comes first.
std::vector<std::string_view> overloads_of(std::string const& name, std::string_view overload) {
    std::vector<std::string_view> out;
    std::size_t first = 0;
    for (std::size_t count = aten::schema_count(); count != 0;) { // lower bound of `name`
        std::size_t const half = count / 2;
        if (aten::schema_at(first + half).substr(0, name.size()) < name) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    for (; first != aten::schema_count(); ++first) {
        std::string_view const text = aten::schema_at(first);
        if (!text.starts_with(name)) break;
        char const next = text[name.size()];
        if (next != '(' && next != '.') continue;
        bool const same = aten::parse_head(text).overload == overload;
        out.insert(same ? out.begin() : out.end(), text);
    }
    return out;
}

/// Whether an argument of a factory function follows from the out tensor in its out variant.
bool is_tensor_option(aten::schema_argument const& a) {
    return a.name == "dtype" || a.name == "layout" || a.name == "device" || a.name == "pin_memory";
}

/// Reductions that compute in the dtype of the out tensor, unless `dtype` is given. All others compute in that of their operands.
bool reduces_in_written_dtype(std::string_view name) {
    static constexpr std::string_view names[] = {"cumprod", "cumsum", "mean", "nanmean", "nansum", "prod", "sum"};
    return is_one_of(name, names);
}

bool takes_written_dtype(parsed_schema const& original, parsed_schema const& candidate) {
    auto const has_dtype = [](parsed_schema const& s) {
        return std::any_of(
            s.arguments.begin(), s.arguments.end(), [](auto const& each) { return each.name == "dtype"; });
    };
    if (!has_dtype(candidate)) return false;
    return !has_dtype(original) || reduces_in_written_dtype(candidate.head.name);
}

/// Matches the arguments by name, or by position if `by_position`; nullopt if they do not match.
std::optional<counterpart> match_arguments(parsed_schema const& original, parsed_schema const& candidate,
                                           bool by_position) {
    counterpart out;
    std::vector<bool> taken(candidate.arguments.size());
    std::size_t position = 0;
    for (aten::schema_argument const& each : original.arguments) {
        if (is_out(each) || each.name == "unsafe") {
            out.dropped.emplace_back(each.name);
            continue;
        }
        std::size_t at = position++;
        if (!by_position)
            for (at = 0; at != candidate.arguments.size() && candidate.arguments[at].name != each.name;) ++at;
        if (at >= candidate.arguments.size() || !same_type(candidate.arguments[at].type, each.type)) return {};
        taken[at] = true;
        if (candidate.arguments[at].name != each.name)
            out.renamed.emplace_back(each.name, candidate.arguments[at].name);
    }
    for (std::size_t i = 0; i != candidate.arguments.size(); ++i)
        if (!taken[i] && !candidate.arguments[i].has_default && !is_tensor_option(candidate.arguments[i])) return {};
    out.op = candidate.head.qualified;
    out.schema = candidate.text;
    out.takes_written_dtype = takes_written_dtype(original, candidate);
    return out;
}

/// Sets the meaning of each result of the candidate; returns false if the number of results does not match.
bool match_results(parsed_schema const& original, parsed_schema const& candidate, counterpart& out) {
    for (aten::schema_argument const& each : original.arguments)
        if (each.type.mutates) out.written.emplace_back(each.name);
    std::size_t const wanted = out.written.size();
    if (candidate.head.name.ends_with("_functional") && candidate.returns.size() == original.returns.size() + wanted) {
        for (std::size_t i = 0; i != original.returns.size(); ++i) out.results.push_back({i, counterpart_result::npos});
        for (std::size_t i = 0; i != wanted; ++i) out.results.push_back({counterpart_result::npos, i});
        return true;
    }
    if (candidate.returns.size() != wanted) return false;
    if (!original.returns.empty() && original.returns.size() < wanted) { // _amp_update_scale_ returns only self
        std::size_t i = 0;
        for (aten::schema_argument const& each : original.arguments) {
            if (!each.type.mutates) continue;
            int const at = aten::returned_as(original.text, each);
            out.results.push_back({at < 0 ? counterpart_result::npos : static_cast<std::size_t>(at), i++});
        }
        // As in every functional form, what the schema returns comes first: _native_batch_norm_legit.out writes running_mean before out.
        auto const rest = std::stable_partition(out.results.begin(), out.results.end(), [](auto const& each) {
            return each.original != counterpart_result::npos;
        });
        return static_cast<std::size_t>(rest - out.results.begin()) == original.returns.size();
    }
    if (!original.returns.empty() && original.returns.size() != wanted) return false;
    for (std::size_t i = 0; i != wanted; ++i)
        out.results.push_back({original.returns.empty() ? counterpart_result::npos : i, i});
    return true;
}

std::string_view name_of(std::string_view op) {
    std::size_t const colons = op.find("::");
    op.remove_prefix(colons == std::string_view::npos ? 0 : colons + 2);
    return op.substr(0, op.find('.'));
}

bool computes_bool(std::string_view name) {
    static constexpr std::string_view names[] = {
        "eq",   "equal",    "ne",       "not_equal",     "lt",          "less",       "less_equal",  "le",
        "gt",   "greater",  "ge",       "greater_equal", "logical_and", "logical_or", "logical_xor", "logical_not",
        "isin", "isposinf", "isneginf", "signbit"};
    return is_one_of(name, names);
}

/// Whether the result always has the dtype of the first argument.
bool keeps_type(std::string_view name) {
    static constexpr std::string_view names[] = {"copy",
                                                 "fill",
                                                 "index_add",
                                                 "index_copy",
                                                 "index_fill",
                                                 "index_put",
                                                 "index_reduce",
                                                 "masked_fill",
                                                 "masked_scatter",
                                                 "put",
                                                 "scatter",
                                                 "scatter_add",
                                                 "scatter_reduce",
                                                 "embedding_renorm",
                                                 "bernoulli",
                                                 "uniform",
                                                 "normal_functional",
                                                 "exponential",
                                                 "random",
                                                 "geometric",
                                                 "cauchy",
                                                 "log_normal"};
    return is_one_of(name, names);
}

} // namespace

std::vector<std::string_view> written_arguments(std::string_view schema) {
    std::vector<std::string_view> out;
    aten::schema_argument argument;
    for (aten::argument_cursor each{schema}; each.next(argument);)
        if (argument.type.mutates) out.push_back(argument.name);
    return out;
}

std::optional<counterpart> find_counterpart(std::string_view schema) {
    parsed_schema const original = parse(schema);
    for (std::string const& name : counterpart_names(original.head)) {
        for (bool const by_position : {false, true}) {
            for (std::string_view const text : overloads_of(name, original.head.overload)) {
                parsed_schema const candidate = parse(text);
                if (writes(candidate)) continue;
                std::optional<counterpart> out = match_arguments(original, candidate, by_position);
                if (out && match_results(original, candidate, *out)) return out;
            }
        }
    }
    return {};
}

std::optional<dtype> natural_type(program const& p, node const& n, dtype written) {
    std::string_view const name = name_of(n.op);
    if (argument const* const given = find_argument(n, "dtype"); given != nullptr && given->kind == argument_kind::type)
        return given->type;
    if (computes_bool(name)) return dtype::bool_;
    aten::promotion promoted;
    dtype first = dtype::undefined;
    for (argument const& each : n.arguments) {
        for (value_index v : tensors_of(each)) {
            if (v == no_value || p.values[v].kind != value_kind::tensor || !p.values[v].has_type) continue;
            if (first == dtype::undefined) first = p.values[v].type;
            promoted.add_tensor(p.values[v].type, !p.values[v].sizes.empty());
        }
    }
    if (first == dtype::undefined) return written;
    if (keeps_type(name)) return first;
    if (name == "cumsum" || name == "cumprod") return aten::to_accumulating(first);
    if (name == "linalg_matrix_rank") return {};              // a count, in any dtype
    bool const is_condition = name == "all" || name == "any"; // bool, but uint8 of uint8
    if (is_condition && first == dtype::uint8) return first;
    dtype const result = promoted.result();
    auto const category = [](dtype t) { return is_complex(t) ? 3 : is_floating(t) ? 2 : t == dtype::bool_ ? 0 : 1; };
    if (category(result) == category(written)) return result;
    // Indices, counts and conditions, whose dtype does not depend on the arguments.
    if (category(result) > category(written)) return written;
    return {};
}

} // namespace ATON_NAMESPACE::program
