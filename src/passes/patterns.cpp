// SPDX-License-Identifier: MIT
#include <aton/passes/patterns.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include <aton/aten/function_schema.hpp>
#include <aton/core/error.hpp>
#include <aton/core/tensor.hpp>
#include <aton/ir/shapes/rules.hpp>
#include <aton/ir/type_rules.hpp>
#include <aton/onnx/registry.hpp>

namespace ATON_NAMESPACE {

namespace {

/// The decisions that lead to one variant, in the order in which they are met. The next variant changes the last one that it can.
class decisions {
public:
    explicit decisions(pattern_view const& p) : p_(p), nodes_(p.nodes.size()), terms_(p.terms.size() + 1) {}

    pattern_variant decide() {
        pattern_variant v{std::vector<std::uint8_t>(p_.nodes.size()), std::vector<std::uint8_t>(p_.terms.size() + 1)};
        met_ = 0;
        nodes_.assign(nodes_.size(), false);
        terms_.assign(terms_.size(), false);
        visit(p_.terms.size(), v);
        return v;
    }
    bool advance() {
        while (!made_.empty() && ++made_.back().value == made_.back().limit) made_.pop_back();
        return !made_.empty();
    }

private:
    struct decision {
        std::uint8_t value;
        std::uint8_t limit;
    };

    std::uint8_t choose(std::size_t limit) {
        if (met_ == made_.size()) made_.push_back({0, static_cast<std::uint8_t>(limit)});
        return made_[met_++].value;
    }
    void visit(std::size_t at, pattern_variant& v) {
        pattern_term const& t = term_at(p_, at);
        auto const index = static_cast<std::size_t>(t.index);
        if (t.what == pattern_term::kind::either) {
            if (!terms_[at]) v.chosen[at] = choose(static_cast<std::size_t>(t.count));
            terms_[at] = true;
            visit(index + v.chosen[at], v);
        } else if (t.what == pattern_term::kind::node && !nodes_[index]) {
            nodes_[index] = true;
            pattern_node const& n = p_.nodes[index];
            auto const first = static_cast<std::size_t>(n.first_operand);
            bool const constant_first = n.commutes && is_constant_term(p_.terms[first], p_.captures);
            v.swapped[index] = has_two_orders(n, p_.terms, p_.captures) ? choose(2) : (constant_first ? 1 : 0);
            for (std::size_t i = 0; i != static_cast<std::size_t>(n.operand_count); ++i) visit(first + i, v);
        } else if (t.what == pattern_term::kind::list) {
            for (std::size_t i = 0; i != static_cast<std::size_t>(t.count); ++i) visit(index + i, v);
        }
    }

    pattern_view const& p_;
    std::vector<decision> made_;
    std::size_t met_ = 0;
    std::vector<bool> nodes_; // decided in this variant
    std::vector<bool> terms_;
};

/// Makes the nodes of a variant.
class pattern_builder {
public:
    pattern_builder(graph_data& graph, pattern_view const& p, pattern_variant const& v, std::span<captured const> c)
        : graph_(graph),
          p_(p),
          v_(v),
          captures_(c),
          made_(p.nodes.size()) {}

    std::vector<value_id> results() {
        std::vector<value_id> all{build(p_.terms.size(), dtype::float32)};
        for (pattern_term const& t : p_.further) all.push_back(made_node(static_cast<std::size_t>(t.index))[t.output]);
        return all;
    }

private:
    value_id build(std::size_t at, dtype like) {
        using enum pattern_term::kind;
        pattern_term const& t = term_at(p_, at);
        auto const index = static_cast<std::size_t>(t.index);
        switch (t.what) {
        case absent: return no_value;
        case either: return build(index + v_.chosen[at], like);
        case node: return made_node(index)[t.output];
        case number: return constant(scalar_tensor(t.number, like));
        case integers: return constant(int64_tensor(p_.integers.subspan(index, static_cast<std::size_t>(t.count))));
        case capture: break;
        default: throw error("the pattern is of ATen calls");
        }
        if (index >= captures_.size()) throw error("capture " + std::to_string(index + 1) + " is missing");
        captured const& c = captures_[index];
        switch (p_.captures[index]) {
        case capture_kind::value: return c.value;
        case capture_kind::constant: return c.constant == nullptr ? no_value : constant(tensor(*c.constant));
        case capture_kind::integers: return constant(int64_tensor(c.integers));
        default: return constant(scalar_tensor(c.number, like));
        }
    }

    value_id constant(tensor data) {
        value_id const id = graph_.add_value({data.type, shape(data.sizes)});
        graph_.set_initializer(id, std::move(data));
        return id;
    }

    /// Whether the dtype of a term depends on that of other operands.
    [[nodiscard]] bool adapts(std::size_t at) const {
        pattern_term const& t = term_at(p_, at);
        if (t.what == pattern_term::kind::either) return adapts(static_cast<std::size_t>(t.index) + v_.chosen[at]);
        if (t.what != pattern_term::kind::capture) return t.what == pattern_term::kind::number;
        capture_kind const k = p_.captures[static_cast<std::size_t>(t.index)];
        return k == capture_kind::number || k == capture_kind::real || k == capture_kind::integer;
    }

    std::vector<value_id> const& made_node(std::size_t index) {
        if (!made_[index].empty()) return made_[index];
        pattern_node const& p = p_.nodes[index];
        auto const first = static_cast<std::size_t>(p.first_operand);
        auto const count = static_cast<std::size_t>(p.operand_count);
        std::vector<value_id> operands(count, no_value);
        dtype like = dtype::undefined;
        for (bool const adapting : {false, true})
            for (std::size_t i = 0; i != count; ++i) {
                if (adapts(first + i) != adapting) continue;
                operands[i] = build(first + i, like == dtype::undefined ? dtype::float32 : like);
                dtype const type = operands[i] == no_value ? dtype::undefined : graph_.values[operands[i]].type.dtype;
                if (type != dtype::bool_ && like == dtype::undefined) like = type;
            }
        if (v_.swapped[index] != 0) std::swap(operands[0], operands[1]);
        graph_node n;
        n.domain = p.domain;
        n.op = p.op;
        n.inputs = std::move(operands);
        for (std::size_t i = 0; i != static_cast<std::size_t>(p.attribute_count); ++i)
            n.attributes.push_back(attribute(p_.attributes[static_cast<std::size_t>(p.first_attribute) + i]));
        std::size_t outputs = 1;
        auto const include = [&](pattern_term const& t) {
            if (t.what == pattern_term::kind::node && static_cast<std::size_t>(t.index) == index)
                outputs = std::max<std::size_t>(outputs, t.output + std::size_t{1});
        };
        for (std::size_t i = 0; i <= p_.terms.size(); ++i) include(term_at(p_, i));
        std::for_each(p_.further.begin(), p_.further.end(), include);
        std::vector<dtype> const types = result_types(n, outputs);
        for (std::size_t i = 0; i != outputs; ++i) {
            value_id const id = graph_.add_value(value_type{.dtype = types[i], .shape = {}});
            graph_.values[id].producer = static_cast<std::int64_t>(graph_.nodes.size());
            n.outputs.push_back(id);
        }
        made_[index] = n.outputs;
        if (is_declared(n.domain)) graph_.import_domain(n.domain, 1);
        graph_.nodes.push_back(std::move(n));
        shapes::infer_types(graph_, graph_.nodes.back());
        return made_[index];
    }

    /// Whether a domain is declared in C++, where ONNX does not know it. A pattern has no schemas of its operators.
    [[nodiscard]] static bool is_declared(std::string_view domain) {
        return !domain.empty() && onnx::newest_version(domain) == 0;
    }
    /// The dtypes of the results, as far as the schema tells. Throws illegal_call for operands that it does not allow.
    [[nodiscard]] std::vector<dtype> result_types(graph_node const& n, std::size_t outputs) const {
        int const opset = n.domain.empty() ? graph_.opset : onnx::newest_version(n.domain);
        onnx::op_schema const schema = onnx::find(n.domain, n.op, opset);
        std::vector<dtype> types(outputs, dtype::undefined);
        if (is_declared(n.domain)) return std::vector(outputs, graph_.values[n.inputs.at(0)].type.dtype);
        if (!schema) throw illegal_call(n.op + " does not exist at opset " + std::to_string(opset));
        std::vector<dtype> variables(static_cast<std::size_t>(schema.type_var_count()), dtype::undefined);
        for (std::size_t i = 0; i != n.inputs.size() && schema.input_count() != 0; ++i) {
            if (n.inputs[i] == no_value) continue;
            value_type const& type = graph_.values[n.inputs[i]].type;
            require_type(schema, opset, false, i, type);
            int const variable = schema.input(std::min(static_cast<int>(i), schema.input_count() - 1)).type_var;
            if (variable < 0 || type.dtype == dtype::undefined) continue;
            dtype& known = variables[static_cast<std::size_t>(variable)];
            if (known != dtype::undefined && known != type.dtype)
                throw illegal_call(n.op + " takes operands of one dtype");
            known = type.dtype;
        }
        for (std::size_t i = 0; i != outputs && schema.output_count() != 0; ++i) {
            onnx::formal const formal = schema.output(std::min(static_cast<int>(i), schema.output_count() - 1));
            if (formal.type_var >= 0) types[i] = variables[static_cast<std::size_t>(formal.type_var)];
            for (std::size_t t = 1; types[i] == dtype::undefined && t != dtype_count; ++t)
                if (formal.types == tensors(static_cast<dtype>(t))) types[i] = static_cast<dtype>(t);
        }
        return types;
    }

    [[nodiscard]] node_attribute attribute(pattern_attribute const& p) const {
        node_attribute a;
        a.name = p.name;
        a.type = p.type;
        auto const first = static_cast<std::size_t>(p.first);
        auto const count = static_cast<std::size_t>(p.count);
        if (p.capture >= 0) {
            auto const index = static_cast<std::size_t>(p.capture);
            if (index >= captures_.size()) throw error("capture " + std::to_string(index + 1) + " is missing");
            captured const& c = captures_[index];
            if (p_.captures[index] == capture_kind::type) a.i = static_cast<std::int64_t>(c.type);
            else if (p.type == onnx::attr_type::i) a.i = c.number.to<std::int64_t>();
            else if (p.type == onnx::attr_type::f) a.f = c.number.to<float>();
            a.ints = c.integers;
            a.s = c.text;
            return a;
        }
        a.i = p.i;
        a.f = p.f;
        if (p.type == onnx::attr_type::s) a.s = p_.text.substr(first, count);
        if (p.type == onnx::attr_type::ints) {
            auto const list = p_.integers.subspan(first, count);
            a.ints.assign(list.begin(), list.end());
        }
        return a;
    }

    graph_data& graph_;
    pattern_view const& p_;
    pattern_variant const& v_;
    std::span<captured const> captures_;
    std::vector<std::vector<value_id>> made_; // by node: its outputs
};

} // namespace

namespace {

/// Checks that terms refer to what is before them, and counts variants.
class pattern_checker {
public:
    explicit pattern_checker(pattern_view const& p) noexcept : p_(p) {}

    [[nodiscard]] bool is_well_formed() const noexcept {
        for (std::size_t i = 0; i != p_.nodes.size(); ++i) {
            pattern_node const& n = p_.nodes[i];
            if (!is_range(n.first_operand, n.operand_count, p_.terms.size()) ||
                !is_range(n.first_attribute, n.attribute_count, p_.attributes.size()) ||
                (n.commutes && (n.schema.empty() ? n.operand_count != 2 : n.operand_count < 2)) ||
                n.schema.empty() == p_.is_of_calls() ||
                (!n.schema.empty() && (aten::argument_count(n.schema) != n.operand_count || n.attribute_count != 0)))
                return false;
            for (std::size_t k = 0; k != static_cast<std::size_t>(n.operand_count); ++k)
                if (!exists(static_cast<std::size_t>(n.first_operand) + k, i)) return false;
        }
        for (pattern_attribute const& a : p_.attributes) {
            std::size_t const size = a.type == onnx::attr_type::s ? p_.text.size() : p_.integers.size();
            if (!is_range(a.first, a.count, size) || a.capture >= static_cast<int>(p_.captures.size())) return false;
        }
        for (capture_kind k : p_.captures)
            if (k > (p_.is_of_calls() ? capture_kind::boolean : capture_kind::type)) return false;
        for (pattern_term const& t : p_.further)
            if (t.what != pattern_term::kind::node || !is_range(t.index, 1, p_.nodes.size()) || p_.is_of_calls())
                return false;
        return exists(p_.terms.size(), p_.nodes.size()) && count(p_.terms.size()) <= max_variants;
    }

private:
    static constexpr std::size_t max_variants = 4096;

    static bool is_range(int first, int count, std::size_t size) noexcept {
        return first >= 0 && count >= 0 && static_cast<std::size_t>(first) + static_cast<std::size_t>(count) <= size;
    }
    /// Whether a term refers to nodes before `node`, and an `either` to terms before itself.
    [[nodiscard]] bool exists(std::size_t at, std::size_t node) const noexcept {
        pattern_term const& t = term_at(p_, at);
        switch (t.what) {
        case pattern_term::kind::absent:
        case pattern_term::kind::number: return true;
        case pattern_term::kind::node: return is_range(t.index, 1, node);
        case pattern_term::kind::capture: return is_range(t.index, 1, p_.captures.size());
        case pattern_term::kind::integers: return is_range(t.index, t.count, p_.integers.size());
        case pattern_term::kind::either: break;
        case pattern_term::kind::by_default:
        case pattern_term::kind::anything: return p_.is_of_calls();
        case pattern_term::kind::type: return p_.is_of_calls() && is_range(t.index, 1, dtype_count);
        case pattern_term::kind::text: return p_.is_of_calls() && is_range(t.index, t.count, p_.text.size());
        case pattern_term::kind::list:
            if (!p_.is_of_calls()) return false;
            break;
        default: return false;
        }
        if (t.count < (t.what == pattern_term::kind::list ? 0 : 1) || !is_range(t.index, t.count, at)) return false;
        for (std::size_t i = 0; i != static_cast<std::size_t>(t.count); ++i)
            if (!exists(static_cast<std::size_t>(t.index) + i, node)) return false;
        return true;
    }
    /// At most one more than the maximum.
    [[nodiscard]] std::size_t count(std::size_t at) const noexcept {
        pattern_term const& t = term_at(p_, at);
        auto const index = static_cast<std::size_t>(t.index);
        std::size_t n = 1;
        if (t.what == pattern_term::kind::either) {
            n = 0;
            for (std::size_t i = 0; i != static_cast<std::size_t>(t.count) && n <= max_variants; ++i)
                n += count(index + i);
        } else if (t.what == pattern_term::kind::node) {
            pattern_node const& node = p_.nodes[index];
            if (has_two_orders(node, p_.terms, p_.captures)) n = 2;
            for (std::size_t i = 0; i != static_cast<std::size_t>(node.operand_count) && n <= max_variants; ++i)
                n *= count(static_cast<std::size_t>(node.first_operand) + i);
        } else if (t.what == pattern_term::kind::list) {
            for (std::size_t i = 0; i != static_cast<std::size_t>(t.count) && n <= max_variants; ++i)
                n *= count(index + i);
        }
        return std::min(n, max_variants + 1);
    }

    pattern_view const& p_;
};

} // namespace

bool is_well_formed(pattern_view const& p) noexcept { return pattern_checker(p).is_well_formed(); }

std::vector<pattern_variant> variants_of(pattern_view const& p) {
    std::vector<pattern_variant> all;
    decisions d(p);
    do all.push_back(d.decide());
    while (d.advance());
    return all;
}

std::vector<value_id> instantiate(graph_data& graph, pattern_view const& p, pattern_variant const& v,
                                  std::span<captured const> captures) {
    return pattern_builder(graph, p, v, captures).results();
}

std::vector<value_id> build_replacement(graph_data& graph, rewrite_entry const& rewrite,
                                        std::span<captured const> captures) {
    try {
        if (rewrite.holds != nullptr && !rewrite.holds(graph, graph.opset, captures)) return {};
        std::vector<value_id> results(rewrite.pattern.result_count(), no_value);
        rewrite.build(graph, graph.opset, captures, results);
        auto const exists = [&](value_id id) { return id < graph.values.size(); };
        return std::all_of(results.begin(), results.end(), exists) ? results : std::vector<value_id>();
    } catch (refused const&) { // what is matched stays as it is
        return {};
    } catch (std::bad_alloc const&) {
        throw;
    } catch (std::exception const& e) {
        throw error("rewrite " + std::string(rewrite.name) + ": " + e.what());
    }
}

} // namespace ATON_NAMESPACE
