// SPDX-License-Identifier: MIT
// The types of a node's results, for front ends whose files do not record them: the node is converted alone, and ONNX's inference tells.
#include "infer_types.hpp"

#include <memory>
#include <unordered_map>
#include <utility>

#include <aton/dsl/tables.hpp>
#include <aton/frontend/pt2/read_program.hpp>
#include <aton/frontend/weights/bind_weights.hpp>
#include <aton/mappings/built_in.hpp>
#include <aton/onnx/registry.hpp>
#include <aton/passes/passes.hpp>

#include "converter.hpp"

namespace ATON_NAMESPACE::exporter {

/// The results of a node whose arguments are the inputs of the program.
std::vector<dsl::result> converter::results_alone(program::node const& n) {
    add_inputs();
    graph_->context.node_name = n.name;
    dsl::entry const* row = find_row(n.op);
    if (row == nullptr) throw unsupported_error("'" + n.op + "' has no type: " + describe_missing_row(n.op));
    std::vector<dsl::argument> const arguments = bind_arguments(n, row->schema);
    return dsl::convert_or_next(
        *graph_, row, options_.opset, arguments, [this](dsl::entry const& declining) { return row_below(declining); });
}

namespace {

/// A program of one node, whose values are numbered anew.
class small_program {
public:
    small_program(program::program const& from, program::node const& n,
                  std::unordered_map<program::value_index, std::size_t> const& weights,
                  torchscript::known_elements const* elements)
        : from_(from),
          node_(n),
          elements_(elements) {
        made_.file = from.file;
        made_.origins.emplace_back();
        made_.ranges = from.ranges;
        node_.origin = 0;
        for (program::argument& a : node_.arguments)
            program::for_each_value(a, [&](program::value_index& v) { v = copy(v, weights); });
    }

    [[nodiscard]] program::program const& made() const { return made_; }
    [[nodiscard]] program::node const& node() const { return node_; }

    [[nodiscard]] torchscript::inferred_type type_of(dsl::value const& v) const {
        torchscript::inferred_type out{v.dtype(), v.shape().has_rank(), {}};
        for (dim const& d : v.shape().dims()) {
            std::optional<program::extent> size;
            if (d.is_static()) size = program::extent{d.size(), program::extent::none};
            else if (auto const known = by_name_.find(std::string(d.symbol()));
                     d.is_symbolic() && known != by_name_.end())
                size = program::extent{0, known->second};
            out.sizes.push_back(size);
        }
        if (elements_ != nullptr) complete(out, v);
        return out;
    }

private:
    /// Adds the elements, if they follow from those of the arguments, and the sizes, which may depend on them.
    static void complete(torchscript::inferred_type& type, dsl::value const& v) {
        if (is_complex(v.dtype())) return;
        std::optional<tensor> found = constant_of(v.owner(), v.id());
        if (!found || found->type != v.dtype()) return;
        type.has_rank = true;
        type.sizes.clear();
        for (std::int64_t const size : found->sizes)
            type.sizes.emplace_back(program::extent{size, program::extent::none});
        type.elements = std::make_shared<tensor const>(*std::move(found));
    }

    static stored_tensor in_memory(tensor const& t) {
        stored_part part;
        part.bytes.data = reinterpret_cast<std::byte const*>(t.bytes.data());
        part.bytes.size = t.bytes.size();
        part.bytes.position = reinterpret_cast<std::uintptr_t>(t.bytes.data());
        part.sizes = t.sizes;
        part.strides.assign(t.sizes.size(), 1);
        for (std::size_t i = t.sizes.size(); i-- > 1;) part.strides[i - 1] = part.strides[i] * t.sizes[i];
        return {t.type, t.sizes, {std::move(part)}};
    }

    program::value_index copy(program::value_index v,
                              std::unordered_map<program::value_index, std::size_t> const& weights) {
        auto const [known, is_new] = copies_.try_emplace(v, static_cast<program::value_index>(made_.values.size()));
        if (!is_new) return known->second;
        program::value value = from_.values[v];
        for (program::extent& e : value.sizes) copy(e);
        value.strides.clear();
        if (value.symbolic) copy(*value.symbolic);
        made_.values.push_back(std::move(value));
        program::input in;
        if (auto const weight = weights.find(v); weight != weights.end()) {
            in = from_.inputs[weight->second];
        } else if (elements_ != nullptr && elements_->contains(v)) {
            in.kind = program::input_kind::constant;
            in.data = in_memory(*elements_->at(v));
        }
        if (is_complex(in.data.type)) in.as_real = as_real(in.data);
        in.target = "x" + std::to_string(known->second);
        in.value = known->second;
        made_.inputs.push_back(std::move(in));
        made_.main.inputs.push_back(known->second);
        return known->second;
    }

    void copy(program::extent& e) {
        if (e.is_number()) return;
        auto const [known, is_new] =
            expressions_.try_emplace(e.expression, static_cast<std::uint32_t>(made_.expressions.size()));
        if (is_new) {
            made_.expressions.push_back(from_.expressions[e.expression]);
            by_name_.emplace(to_string(made_.expressions.back()), e.expression);
        }
        e.expression = known->second;
    }

    program::program const& from_;
    program::node node_;
    torchscript::known_elements const* elements_;
    program::program made_;
    std::unordered_map<program::value_index, program::value_index> copies_;
    std::unordered_map<std::uint32_t, std::uint32_t> expressions_;
    std::unordered_map<std::string, std::uint32_t> by_name_;
};

std::vector<torchscript::inferred_result> infer(small_program const& small, export_options const& options) {
    converter c(small.made(), options);
    std::vector<torchscript::inferred_result> out;
    for (dsl::result const& each : c.results_alone(small.node())) {
        torchscript::inferred_result& made = out.emplace_back();
        made.is_list = each.is_list;
        if (each.is_list)
            for (dsl::value const& v : each.list) made.types.push_back(small.type_of(v));
        else if (each.single) made.types.push_back(small.type_of(*each.single));
    }
    return out;
}

} // namespace

torchscript::infer_types type_inference(export_options const& options) {
    // The weights of the program, which grows between the calls.
    struct known_weights {
        program::program const* of = nullptr;
        std::unordered_map<program::value_index, std::size_t> by_value;
        std::size_t inputs = 0;
    };
    auto const weights = std::make_shared<known_weights>();
    return [weights,
            options](program::program const& p, program::node const& n, torchscript::known_elements const* elements) {
        if (weights->of != &p) *weights = {&p, {}, 0}; // the reader interprets some modules twice
        for (; weights->inputs != p.inputs.size(); ++weights->inputs)
            if (p.inputs[weights->inputs].kind != program::input_kind::user)
                weights->by_value.emplace(p.inputs[weights->inputs].value, weights->inputs);
        small_program const small(p, n, weights->by_value, elements);
        try {
            return infer(small, options);
        } catch (unsupported_error const&) {
            // The type is that of a newer opset; the conversion says which one is needed.
            export_options newest = options;
            newest.opset = onnx::newest_version("");
            if (newest.opset == options.opset) throw;
            return infer(small, newest);
        }
    };
}

torchscript::custom_schemas schemas_of_tables(export_options const& options) {
    return [&options](std::string_view op) {
        std::vector<std::string_view> out;
        auto const scan = [&](std::span<dsl::table_view const> tables) {
            for (dsl::table_view const& table : tables)
                for (dsl::entry const& e : table)
                    if (e.overload.substr(0, e.overload.find('.')) == op && !e.schema.empty()) out.push_back(e.schema);
        };
        scan(options.tables);
        scan(mappings::built_in_tables());
        return out;
    };
}

} // namespace ATON_NAMESPACE::exporter

namespace ATON_NAMESPACE {

namespace {

program::program read_without_weights(std::string const& path, export_options const& options) {
    if (!torchscript::is_archive(path)) {
        if (!options.inputs.empty())
            throw error(path + ": is not a TorchScript archive; only these need the types of inputs (--input)");
        return pt2::read_program(path, options.model);
    }
    torchscript::read_options wanted;
    wanted.inputs = options.inputs;
    for (dim_name const& each : options.dims) {
        bool is_known = false;
        for (torchscript::input_type& in : wanted.inputs) {
            if (in.name != each.input || in.constant) continue;
            is_known = true;
            auto const rank = static_cast<std::int64_t>(in.sizes.size());
            if (each.axis < -rank || each.axis >= rank)
                throw error(path + ": input '" + in.name + "' has " + std::to_string(rank) +
                            " dimensions, so that axis " + std::to_string(each.axis) + " cannot be named");
            in.sizes[static_cast<std::size_t>(each.axis < 0 ? each.axis + rank : each.axis)] = dim(each.name);
        }
        if (!is_known)
            throw error(path + ": no --input gives the type of '" + each.input + "', whose dimension is named");
    }
    wanted.infer = exporter::type_inference(options);
    wanted.schemas_of = exporter::schemas_of_tables(options);
    return torchscript::read_program(path, wanted);
}

} // namespace

program::program read_program(std::string const& path, export_options const& options) {
    program::program out = read_without_weights(path, options);
    if (!options.weights_from.empty())
        weights::bind(out, {options.weights_from, options.weights_map, options.weights_cast});
    return out;
}

} // namespace ATON_NAMESPACE
