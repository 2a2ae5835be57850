// SPDX-License-Identifier: MIT
// Lists and applies the changes of nodes: swapped inputs, dropped nodes, related operators and attributes.
#include <aton/verify/mutation.hpp>

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/core/tensor.hpp>
#include <aton/onnx/registry.hpp>
#include <aton/runtime/onnx_model.hpp>

#include "same_function.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using std::string_view;

/// Groups of operators that take the same operands and can replace each other.
constexpr string_view related_operators[][10] = {
    {"Add", "Sub", "Mul", "Div", "Pow", "Mod"},
    {"Max", "Min"},
    {"Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"},
    {"And", "Or", "Xor"},
    {"BitwiseAnd", "BitwiseOr", "BitwiseXor"},
    {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare"},
    {"ArgMax", "ArgMin"},
    {"Floor", "Ceil", "Round"},
    {"Sin", "Cos", "Tan"},
    {"Sinh", "Cosh", "Tanh"},
    {"Asin", "Acos", "Atan"},
    {"Exp", "Log", "Sqrt", "Reciprocal"},
    {"Relu", "Sigmoid", "Tanh", "Softplus", "Softsign"},
    {"Abs", "Neg", "Sign"},
    {"Erf", "Tanh"},
    {"CumSum", "CumProd"},
    {"MaxPool", "AveragePool"},
    {"GlobalMaxPool", "GlobalAveragePool"},
    {"Softmax", "LogSoftmax", "Hardmax"},
    {"IsNaN", "IsInf"},
    {"ScatterElements", "GatherElements"},
};

/// Groups of string attribute values that can replace each other.
constexpr string_view related_strings[][4] = {
    {"constant", "reflect", "edge", "wrap"},
    {"nearest", "linear", "cubic"},
    {"none", "add", "mul", "max"},
    {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"},
    {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"},
    {"bilinear", "nearest", "bicubic"},
    {"zeros", "border", "reflection"},
    {"mean", "sum", "none"},
    {"none", "tanh"},
    {"LEFT", "RIGHT"},
    {"DCR", "CRD"},
    {"forward", "reverse"},
    {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"},
    {"avg", "max"},
};

template <std::size_t Rows, std::size_t Columns>
std::vector<string_view> others(string_view const (&table)[Rows][Columns], string_view of) {
    std::vector<string_view> out;
    for (auto const& row : table) {
        if (std::find(std::begin(row), std::end(row), of) == std::end(row)) continue;
        for (string_view const each : row)
            if (!each.empty() && each != of && std::find(out.begin(), out.end(), each) == out.end())
                out.push_back(each);
    }
    return out;
}

/// How the numbers of an attribute or constant are changed.
enum class number_change : std::size_t { more, less, negated, zero, reversed, count_ };

constexpr string_view to_text(number_change c) {
    constexpr string_view all[] = {"one more", "one less", "negated", "zero", "reversed"};
    return all[static_cast<std::size_t>(c)];
}

template <class T>
void change(std::span<T> numbers, number_change c) {
    if (c == number_change::reversed) return std::reverse(numbers.begin(), numbers.end());
    for (T& n : numbers) {
        switch (c) {
        case number_change::more: n = static_cast<T>(n + T{1}); break;
        case number_change::less: n = static_cast<T>(n - T{1}); break;
        case number_change::negated: n = static_cast<T>(-n); break;
        default: n = T{0};
        }
    }
}

template <class T>
bool changes(std::vector<T> const& numbers, number_change c) {
    std::vector<T> copy = numbers;
    change(std::span<T>(copy), c);
    auto const same = [](T a, T b) { return a == b || (a != a && b != b); }; // NaN stays NaN
    return !std::equal(copy.begin(), copy.end(), numbers.begin(), same);
}

std::vector<double> numbers_of(aton::tensor const& t) {
    std::vector<double> out;
    if (!aton::tensor::can_hold(t.type) || is_complex(t.type)) return out;
    for (std::int64_t i = 0; i != t.element_count(); ++i) out.push_back(t.at(static_cast<std::size_t>(i)).to<double>());
    return out;
}

void change(aton::tensor& t, number_change c) {
    std::vector<double> numbers = numbers_of(t);
    if (t.type == dtype::bool_) {
        for (double& n : numbers) n = n == 0 ? 1 : 0;
    } else {
        change(std::span<double>(numbers), c);
    }
    aton::tensor out{t.type, t.sizes, {}};
    for (double const n : numbers) {
        if (is_floating(t.type)) out.append(n);
        else out.append(static_cast<long long>(n));
    }
    t = std::move(out);
}

class mutation_list {
public:
    explicit mutation_list(graph_data const& g) : graph_(g), same_(g), read_(g.outputs.begin(), g.outputs.end()) {
        for (graph_node const& n : g.nodes) read_.merge(runtime::uses_of(n));
    }

    std::vector<mutation> all() {
        for (node_ = 0; node_ != graph_.nodes.size(); ++node_) {
            graph_node const& n = graph_.nodes[node_];
            if (n.op == "Constant" && n.domain.empty()) {
                constants(n);
                continue;
            }
            inputs(n);
            for (node_attribute const& a : n.attributes) attribute(n, a);
            nested(n);
            for (string_view const other : others(related_operators, n.op))
                if (takes(other, n))
                    add(mutation::kind::replace, 0, 0, std::string(other), n, "replaced by " + std::string(other));
            bypass(n);
        }
        return std::move(out_);
    }

private:
    void add(mutation::kind is, std::size_t first, std::size_t second, std::string name, graph_node const& n,
             std::string const& what) {
        mutation m{is, node_, first, second, std::move(name), n.op + ": " + what};
        if (!same_.holds(m)) out_.push_back(std::move(m));
    }

    [[nodiscard]] bool takes(string_view op, graph_node const& n) const {
        onnx::op_schema const schema = onnx::find("", op, graph_.opset);
        return static_cast<bool>(schema) && n.inputs.size() >= static_cast<std::size_t>(schema.min_inputs()) &&
               (schema.max_inputs() == onnx::any_number ||
                n.inputs.size() <= static_cast<std::size_t>(schema.max_inputs()));
    }

    void inputs(graph_node const& n) {
        for (std::size_t i = 0; i != n.inputs.size(); ++i)
            for (std::size_t j = i + 1; j != n.inputs.size(); ++j)
                if (n.inputs[i] != n.inputs[j] && n.inputs[i] != no_value && n.inputs[j] != no_value &&
                    same_type(n.inputs[i], n.inputs[j]))
                    add(mutation::kind::swap_inputs,
                        i,
                        j,
                        {},
                        n,
                        "inputs " + std::to_string(i) + " and " + std::to_string(j) + " swapped");
        onnx::op_schema const schema = onnx::find(n.domain, n.op, graph_.opset);
        for (std::size_t i = 0; schema && i != n.inputs.size(); ++i) {
            bool const may = static_cast<int>(i) < schema.input_count() &&
                             schema.input(static_cast<int>(i)).kind == onnx::option::optional;
            if (may && n.inputs[i] != no_value)
                add(mutation::kind::drop_input, i, 0, {}, n, "without input " + std::to_string(i));
        }
    }

    [[nodiscard]] bool same_type(value_id a, value_id b) const {
        dtype const x = graph_.values[a].type.dtype;
        dtype const y = graph_.values[b].type.dtype;
        return x == y || x == dtype::undefined || y == dtype::undefined;
    }

    void attribute(graph_node const& n, node_attribute const& a) {
        auto const each_change = [&](auto const& numbers) {
            for (std::size_t c = 0; c != static_cast<std::size_t>(number_change::count_); ++c)
                if (changes(numbers, static_cast<number_change>(c)))
                    add(mutation::kind::attribute,
                        c,
                        0,
                        a.name,
                        n,
                        a.name + ' ' + std::string(to_text(static_cast<number_change>(c))));
        };
        switch (a.type) {
        case onnx::attr_type::i:
            if (a.name == "to" || a.name == "dtype") return types(n, a);
            if (a.i == 0 || a.i == 1)
                return add(mutation::kind::attribute,
                           static_cast<std::size_t>(a.i == 0 ? number_change::more : number_change::less),
                           0,
                           a.name,
                           n,
                           a.name + (a.i == 0 ? " 1" : " 0"));
            return each_change(std::vector{a.i});
        case onnx::attr_type::f: return each_change(std::vector{a.f});
        case onnx::attr_type::ints: return each_change(a.ints);
        case onnx::attr_type::floats: return each_change(a.floats);
        case onnx::attr_type::s: {
            std::size_t number = 0;
            for (string_view const other : others(related_strings, a.s))
                add(mutation::kind::attribute, number++, 0, a.name, n, a.name + ' ' + std::string(other));
            return;
        }
        default: return;
        }
    }

    /// Changes of a dtype attribute.
    void types(graph_node const& n, node_attribute const& a) {
        auto const was = static_cast<dtype>(a.i);
        std::size_t number = 0;
        for (dtype const other :
             {dtype::float32, dtype::int64, dtype::int32, dtype::float16, dtype::bool_, dtype::uint8}) {
            if (other != was)
                add(mutation::kind::attribute, number, 0, a.name, n, a.name + ' ' + std::string(name(other)));
            ++number;
        }
    }

    void constants(graph_node const& n) {
        if (n.attributes.size() != 1 || n.attributes[0].tensors.size() != 1) return;
        aton::tensor const& t = n.attributes[0].tensors[0];
        std::vector<double> const numbers = numbers_of(t);
        std::string const where = reader_of(n.outputs[0]);
        if (t.type == dtype::bool_ && !numbers.empty())
            return add(mutation::kind::constant, 0, 0, {}, n, "inverted" + where);
        for (std::size_t c = 0; c != static_cast<std::size_t>(number_change::count_); ++c)
            if (changes(numbers, static_cast<number_change>(c)))
                add(mutation::kind::constant, c, 0, {}, n, std::string(to_text(static_cast<number_change>(c))) + where);
    }

    /// The first use of a value, as text.
    [[nodiscard]] std::string reader_of(value_id v) const {
        for (graph_node const& n : graph_.nodes)
            for (std::size_t i = 0; i != n.inputs.size(); ++i)
                if (n.inputs[i] == v) return ", input " + std::to_string(i) + " of " + n.op;
        return {};
    }

    /// Changes of the nodes of nested graphs: bodies of Loop and Scan, branches of If.
    void nested(graph_node const& n) {
        for (std::size_t a = 0; a != n.attributes.size(); ++a) {
            std::vector<graph_data> const& graphs = n.attributes[a].graphs;
            for (std::size_t g = 0; g != graphs.size(); ++g)
                for (mutation& m : mutations_of(graphs[g])) {
                    std::string const what =
                        n.op + ": in " + n.attributes[a].name + ", node " + std::to_string(m.node) + ", " + m.what;
                    out_.push_back({mutation::kind::nested, node_, a, g, {}, what, {std::move(m)}});
                }
        }
    }

    void bypass(graph_node const& n) {
        if (n.outputs.empty() || n.outputs[0] == no_value || !read_.contains(n.outputs[0])) return;
        for (std::size_t i = 0; i != n.inputs.size(); ++i) {
            if (n.inputs[i] == no_value || !same_type(n.inputs[i], n.outputs[0])) continue;
            return add(mutation::kind::drop_node, i, 0, {}, n, "left out");
        }
    }

    graph_data const& graph_;
    same_function same_;
    std::set<value_id> read_; ///< by a node, or as an output of the graph
    std::size_t node_ = 0;
    std::vector<mutation> out_;
};

void change(node_attribute& a, std::size_t way) {
    auto const c = static_cast<number_change>(way);
    constexpr dtype types[] = {dtype::float32, dtype::int64, dtype::int32, dtype::float16, dtype::bool_, dtype::uint8};
    switch (a.type) {
    case onnx::attr_type::i:
        if (a.name == "to" || a.name == "dtype") a.i = static_cast<std::int64_t>(types[way % std::size(types)]);
        else change(std::span(&a.i, 1), c);
        return;
    case onnx::attr_type::f: return change(std::span(&a.f, 1), c);
    case onnx::attr_type::ints: return change(std::span(a.ints), c);
    case onnx::attr_type::floats: return change(std::span(a.floats), c);
    case onnx::attr_type::s: {
        std::vector<string_view> const all = others(related_strings, a.s);
        if (way < all.size()) a.s = std::string(all[way]);
        return;
    }
    default: return;
    }
}

} // namespace

std::vector<mutation> mutations_of(graph_data const& g) { return mutation_list(g).all(); }

void apply(graph_node& n, mutation const& m) {
    switch (m.is) {
    case mutation::kind::swap_inputs: std::swap(n.inputs.at(m.first), n.inputs.at(m.second)); break;
    case mutation::kind::drop_input: n.inputs.at(m.first) = no_value; break;
    case mutation::kind::replace: n.op = m.name; break;
    case mutation::kind::attribute:
        for (node_attribute& a : n.attributes)
            if (a.name == m.name) change(a, m.first);
        break;
    case mutation::kind::constant:
        for (node_attribute& a : n.attributes)
            for (aton::tensor& t : a.tensors) change(t, static_cast<number_change>(m.first));
        break;
    case mutation::kind::nested: {
        graph_data& graph = n.attributes.at(m.first).graphs.at(m.second);
        graph = mutated(graph, m.inside.at(0));
        break;
    }
    case mutation::kind::drop_node: break;
    }
}

graph_data mutated(graph_data const& g, mutation const& m) {
    graph_data out = g;
    graph_node& n = out.nodes.at(m.node);
    apply(n, m);
    if (m.is != mutation::kind::drop_node) return out;
    value_id const was = n.outputs.at(0);
    value_id const now = n.inputs.at(m.first);
    for (graph_node& other : out.nodes) std::replace(other.inputs.begin(), other.inputs.end(), was, now);
    std::replace(out.outputs.begin(), out.outputs.end(), was, now);
    return out;
}

} // namespace ATON_NAMESPACE::verify
