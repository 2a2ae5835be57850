// SPDX-License-Identifier: MIT
// `--operators aten` and `aten-fallback`: converts an ATen operator to a node `ATen` of domain org.pytorch.aten (docs/exporter.md). Tensors
// and computed values are inputs; everything else is an attribute with its name in the schema.
#include "converter.hpp"

#include "make_attribute.hpp"

#include <algorithm>

namespace ATON_NAMESPACE::exporter {

namespace {

using kind = program::argument_kind;
using onnx::attr_type;

node_attribute number(std::string const& name, scalar const& value) {
    if (value.is_complex())
        throw unsupported_error("argument '" + name + "' is a complex number, which an attribute cannot hold");
    if (!value.is_floating()) return make_attribute(name, value.to<std::int64_t>());
    node_attribute a = make_attribute(name, attr_type::f);
    a.f = attribute_float(name, value.to<double>());
    return a;
}

} // namespace

/// Builds a node `ATen`; arguments are added in the order of the schema.
class converter::aten_node {
public:
    aten_node(converter& owner, program::node const& n) : owner_(owner) {
        aten::schema_head const head = aten::parse_head(n.op);
        made_.domain = aten_domain;
        made_.op = "ATen";
        made_.attributes.push_back(make_attribute("operator", head.name));
        if (!head.overload.empty()) made_.attributes.push_back(make_attribute("overload_name", head.overload));
    }

    /// `takes_tensor`: the schema has a single tensor here.
    void add(program::argument const& a, std::string const& name, bool takes_tensor) {
        switch (a.kind) {
        case kind::none:
            if (takes_tensor) add_input(no_value, name);
            return;
        case kind::tensor: return add_value(a.tensor, name, takes_tensor);
        case kind::tensors:
            for (program::value_index v : a.tensors) add_input(v == program::no_value ? no_value : id_of(v), name);
            return add_attribute(make_attribute(name, static_cast<std::int64_t>(a.tensors.size())));
        case kind::number:
            if (a.number.is_computed()) return add_value(a.number.computed, name, takes_tensor);
            return add_attribute(number(name, a.number.constant));
        case kind::numbers: return add_list(a, name);
        case kind::tag: return add_attribute(make_attribute(name, a.text));
        default: {
            node_attribute made = attribute_of(a);
            made.name = name;
            return add_attribute(std::move(made));
        }
        }
    }

    /// Adds an optional tensor that the program omits.
    void skip(std::string_view name) { add_input(no_value, std::string(name)); }

    graph_node finish() {
        while (!made_.inputs.empty() && made_.inputs.back() == no_value) {
            made_.inputs.pop_back();
            names_.pop_back();
        }
        if (computed_) {
            node_attribute inputs = make_attribute("inputs", attr_type::strings);
            inputs.strings = std::move(names_);
            add_attribute(std::move(inputs));
        }
        return std::move(made_);
    }

private:
    void add_attribute(node_attribute a) { made_.attributes.push_back(std::move(a)); }
    void add_input(value_id id, std::string const& name) {
        made_.inputs.push_back(id);
        names_.push_back(name);
    }
    [[nodiscard]] value_id id_of(program::value_index v) const {
        return owner_.captured(owner_.as_value(owner_.bound(v), dtype_of(owner_.program_.values[v].kind)));
    }

    void add_value(program::value_index v, std::string const& name, bool takes_tensor) {
        binding const& b = owner_.bound(v);
        if (b.number.has_value()) return add_attribute(number(name, *b.number));
        computed_ = computed_ || !takes_tensor;
        add_input(id_of(v), name);
    }

    /// A list of numbers: an attribute, or an input if the program computes some of them.
    void add_list(program::argument const& a, std::string const& name) {
        std::vector<dsl::number> list;
        for (program::number const& n : a.numbers) list.push_back(owner_.to_number(n));
        bool const real = std::any_of(list.begin(), list.end(), [](dsl::number const& n) { return n.is_floating(); });
        if (!std::all_of(list.begin(), list.end(), [](dsl::number const& n) { return n.is_constant(); })) {
            computed_ = true;
            return add_input(owner_.captured(real ? floats_of(list) : ints_of(list)), name);
        }
        node_attribute made = make_attribute(name, real ? attr_type::floats : attr_type::ints);
        for (dsl::number const& n : list)
            if (real) made.floats.push_back(attribute_float(name, n.constant<double>()));
            else made.ints.push_back(n.constant<std::int64_t>());
        add_attribute(std::move(made));
    }
    [[nodiscard]] dsl::value ints_of(std::vector<dsl::number> const& list) const {
        std::vector<dsl::sym_int> sizes;
        for (dsl::number const& n : list) sizes.push_back(n.to_size());
        return ops(*owner_.graph_, owner_.options_.opset).ints(sizes);
    }
    [[nodiscard]] dsl::value floats_of(std::vector<dsl::number> const& list) const {
        ops const g(*owner_.graph_, owner_.options_.opset);
        std::vector<dsl::value> parts;
        for (dsl::number const& n : list) parts.push_back(g.op<"Reshape">(g.scalar(n, dtype::float64), g.ints({1})));
        return g.op<"Concat">(parts, dsl::attr::axis_i(0));
    }

    converter& owner_;
    graph_node made_;
    std::vector<std::string> names_; ///< of the arguments of the inputs
    bool computed_ = false;          ///< whether an input is not a tensor in the schema
};

void converter::add_aten_node(program::node const& n) {
    check_kept(n);
    aten_node made(*this, n);
    std::vector<char> taken(n.arguments.size(), 0);
    aten::schema_argument formal;
    std::size_t position = 0;
    for (aten::argument_cursor cursor(n.schema); cursor.next(formal); ++position) {
        bool const takes_tensor = formal.type.base == aten::base_type::tensor && !formal.type.list;
        bool given = false;
        for (std::size_t i = 0; i != n.arguments.size() && !given; ++i) {
            program::argument const& a = n.arguments[i];
            if (taken[i] != 0 || !(a.name.empty() ? i == position : a.name == formal.name)) continue;
            made.add(a, std::string(formal.name), takes_tensor);
            given = true;
            taken[i] = 1;
        }
        if (!given && takes_tensor) made.skip(formal.name);
    }
    // Arguments and operators that this version of torch does not declare, in program order.
    for (std::size_t i = 0; i != n.arguments.size(); ++i) {
        program::argument const& a = n.arguments[i];
        if (taken[i] != 0) continue;
        if (a.name.empty()) throw unsupported_error("argument " + std::to_string(i + 1) + " has no name");
        bool const is_tensor = a.kind == kind::tensor && program_.values[a.tensor].kind == program::value_kind::tensor;
        made.add(a, a.name, is_tensor);
    }
    main_.import_domain(aten_domain, 1);
    append_node(n, made.finish(), result_values(n));
}

} // namespace ATON_NAMESPACE::exporter
