// SPDX-License-Identifier: MIT
#include "quantize.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/ir/kernels.hpp>
#include <aton/passes/passes.hpp>

#include "make_attribute.hpp"
#include "quantized_nodes.hpp"
#include "weight_uses.hpp"

namespace ATON_NAMESPACE::exporter {

namespace {

// Of MatMulNBits. Of longer blocks ONNX Runtime computes zeros, or refuses them, depending on its version.
constexpr std::int64_t smallest_block = 16;
constexpr std::int64_t largest_block = 256;

std::string word_of(quantization const& how) { return "int" + std::to_string(how.bits); }

/// Whether a name matches a pattern, in which `*` is any text.
bool matches(std::string_view pattern, std::string_view name) {
    std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == name;
    if (!name.starts_with(pattern.substr(0, star))) return false;
    name.remove_prefix(star);
    for (;;) { // each piece between two stars is where it is found first
        pattern.remove_prefix(star + 1);
        star = pattern.find('*');
        if (star == std::string_view::npos) return name.ends_with(pattern);
        std::size_t const at = name.find(pattern.substr(0, star));
        if (at == std::string_view::npos) return false;
        name.remove_prefix(at + star);
    }
}

/// The first opset whose DequantizeLinear has blocks of integers of this width.
int first_opset(quantization const& how) { return how.bits == 2 ? 25 : 21; }

void require_supported(quantize_options const& options, int opset, bool for_onnxruntime) {
    quantization const& how = options.how;
    if (how.bits != 2 && how.bits != 4 && how.bits != 8)
        throw error("--quantize " + word_of(how) + ": choose int2, int4 or int8");
    if (how.block < smallest_block || how.block > largest_block || (how.block & (how.block - 1)) != 0)
        throw error("--quantize: blocks of " + std::to_string(how.block) +
                    " elements do not run in ONNX Runtime; choose 16, 32, 64, 128 or 256");
    if (options.accuracy_level < 0 || options.accuracy_level > 4)
        throw error("--quantize: the accuracy is 0 to 4, not " + std::to_string(options.accuracy_level));
    if (for_onnxruntime) return;
    if (options.accuracy_level != 0)
        throw error("--quantize: only MatMulNBits has an accuracy; use --target onnxruntime");
    if (opset < first_opset(how))
        throw error("--quantize " + word_of(how) + ": DequantizeLinear of opset " + std::to_string(opset) +
                    " has no blocks of such integers; use --opset " + std::to_string(first_opset(how)) +
                    " or newer, or --target onnxruntime");
}

/// Whether elements of a dtype can be cast while they are read.
bool is_read_as_number(dtype type) {
    return type == dtype::float32 || type == dtype::float64 || type == dtype::float16 || type == dtype::bfloat16;
}

/// The length of the blocks of a matrix. Where one block is longer than a row, a shorter one has the same scale and less to fill.
std::int64_t block_for(std::int64_t row, std::int64_t wanted) {
    while (wanted > smallest_block && wanted / 2 >= row) wanted /= 2;
    return wanted;
}

/// A weight as the matrix of a use, whose rows are rounded; nothing if it cannot be read in that order, for which `why` is the reason.
std::optional<stored_tensor> matrix_of(stored_tensor const& from, weight_use const& use, std::string& why) {
    stored_tensor out = from;
    if (!use.is_stored) {
        if (out.parts.size() != 1) return why = "is made of several parts in another order", std::nullopt;
        stored_part& part = out.parts[0];
        if (!part.factors.empty()) return why = "is multiplied by numbers in another order", std::nullopt;
        if (part.sizes != out.sizes) {
            if (!part.is_contiguous()) return why = "is not a matrix in its file", std::nullopt;
            part.sizes = out.sizes;
            part.strides = {out.sizes[1], 1};
        }
        for (std::vector<std::int64_t>* each : {&out.sizes, &part.sizes, &part.strides})
            std::swap((*each)[0], (*each)[1]);
    }
    if (use.type == from.type) return out;
    if (!is_read_as_number(from.type)) return why = "is cast from " + std::string(name(from.type)), std::nullopt;
    for (stored_part& part : out.parts) { // the cast happens while the elements are read
        if (!part.is_unchanged()) return why = "is cast after it is computed", std::nullopt;
        part.stored_as = from.type;
    }
    out.type = use.type;
    return out;
}

class quantizer {
public:
    quantizer(exported_graph& made, export_options const& options)
        : made_(made),
          graph_(made.graph),
          options_(*options.quantize),
          for_onnxruntime_(options.target != nullptr && options.target->has_onnxruntime_kernels),
          shares_bytes_(options.weights != weight_mode::embed) {
        require_supported(options_, graph_.opset, for_onnxruntime_);
    }

    void run() {
        use_finder const finder(graph_);
        for (graph_initializer const& i : graph_.initializers) plan(i, finder.uses_of(i.value));
        require_matched(options_.include, "--quantize-include");
        require_matched(options_.exclude, "--quantize-exclude");
        quantized_nodes nodes(made_, options_, for_onnxruntime_, shares_bytes_);
        std::vector<graph_node> const old = std::exchange(graph_.nodes, {});
        for (std::size_t k = 0; k != old.size(); ++k) {
            auto const found = uses_.find(k);
            if (found == uses_.end()) nodes.append(old[k]);
            else if (found->second.is_lookup) nodes.append_lookup(old[k], *found->second.matrix);
            else nodes.append_product(old[k], *found->second.matrix);
        }
        remove_unused(graph_);
        order_canonically(graph_);
    }

private:
    struct planned_use {
        bool is_lookup = false;
        integer_matrix* matrix = nullptr;
    };

    [[nodiscard]] static bool any(std::vector<std::string> const& patterns, std::string_view name) {
        return std::any_of(patterns.begin(), patterns.end(), [&](auto const& p) { return matches(p, name); });
    }

    void require_matched(std::vector<std::string> const& patterns, std::string const& option) const {
        for (std::string const& pattern : patterns)
            if (std::none_of(
                    candidates_.begin(), candidates_.end(), [&](auto const& n) { return matches(pattern, n); }))
                throw error(option + " " + pattern + ": is the name of no weight of a product" +
                            (options_.embeddings ? " or an embedding" : ""));
    }

    void leave(std::string const& name, std::string reason) { made_.unquantized.push_back({name, std::move(reason)}); }

    /// Decides which uses of an initializer are replaced.
    void plan(graph_initializer const& from, weight_uses const& uses) {
        value_type const& type = graph_.values[from.value].type;
        if (!is_floating(type.dtype) || !(uses.has_products() || (options_.embeddings && uses.has_lookups()))) return;
        std::string name = graph_.values[from.value].name;
        if (name.empty()) name = graph_.origins[graph_.nodes[uses.all.front().node].origin].name; // of the node instead
        candidates_.push_back(name);
        if (any(options_.exclude, name)) return leave(name, "is excluded");
        if (!options_.include.empty() && !any(options_.include, name)) return leave(name, "is not included");
        if (from.stored == nullptr)
            return leave(name, "is a small constant, or one that is computed when the model is exported");
        stored_tensor const& weight = *from.stored;
        if (weight.sizes.size() != 2) return leave(name, "has rank " + std::to_string(weight.sizes.size()));
        if (weight.element_count() == 0) return leave(name, "has no elements");
        if (!uses.obstacle.empty()) return leave(name, uses.obstacle);
        std::size_t const first = integers_.size();
        if (replace(name, weight, uses.all, false, first) && options_.embeddings)
            replace(name, weight, uses.all, true, first);
    }

    /// Replaces the products of a weight, or its lookups: all of them, or none. `first`: the index of its first matrix.
    bool replace(std::string const& name, stored_tensor const& weight, std::vector<weight_use> const& uses,
                 bool lookups, std::size_t first) {
        std::string why;
        std::map<std::pair<bool, dtype>, quantized_matrix> matrices; // by the order and dtype
        for (weight_use const& use : uses) {
            if (use.is_lookup != lookups || !why.empty()) continue;
            why = obstacle_of(graph_.nodes[use.node], use, weight);
            if (!why.empty() || matrices.contains({use.is_stored, use.type})) continue;
            if (auto matrix = matrix_for(weight, use, name, why))
                matrices.emplace(std::pair(use.is_stored, use.type), std::move(*matrix));
        }
        if (!why.empty()) return leave(name, why), false;
        for (weight_use const& use : uses) {
            if (use.is_lookup != lookups) continue;
            integer_matrix& m = kept(name, use, matrices.at({use.is_stored, use.type}), first);
            m.has_products = m.has_products || !lookups;
            uses_[use.node] = {lookups, &m};
        }
        return true;
    }

    /// The matrix of a use, which is that of other uses of the same weight in the same order and dtype.
    integer_matrix& kept(std::string const& name, weight_use const& use, quantized_matrix const& matrix,
                         std::size_t first) {
        for (std::size_t i = first; i != integers_.size(); ++i)
            if (integers_[i].is_stored == use.is_stored && integers_[i].matrix.rows().type == use.type)
                return integers_[i];
        made_.quantized.push_back({name, matrix});
        return integers_.emplace_back(integer_matrix{matrix, name, use.is_stored});
    }

    /// Why a use cannot be replaced; empty: it can be.
    [[nodiscard]] std::string obstacle_of(graph_node const& n, weight_use const& use,
                                          stored_tensor const& weight) const {
        if (use.type != dtype::float32 && use.type != dtype::float16 && use.type != dtype::bfloat16)
            return "is " + std::string(aton::name(use.type));
        if (!for_onnxruntime_) {
            if (use.is_lookup && options_.how.bits != 8)
                return "is an embedding, and Gather of " + word_of(options_.how) +
                       " is not part of ONNX; use int8, or --target onnxruntime";
            return "";
        }
        std::string_view const op = use.is_lookup ? "GatherBlockQuantized" : "MatMulNBits";
        if (!has_bits_kernel(op, use.type, graph_.opset))
            return "is " + std::string(aton::name(use.type)) + ", for which ONNX Runtime has no " + std::string(op);
        if (use.is_lookup && weight.sizes[1] * options_.how.bits % 8 != 0)
            return "is an embedding whose rows of " + std::to_string(weight.sizes[1]) + " elements are not whole bytes";
        if (use.is_lookup) return "";
        shape const& operand = graph_.values[n.inputs[0]].type.shape;
        if (!operand.has_rank()) return "is multiplied by an operand of unknown rank";
        if (operand.rank() < 2) return "is multiplied by a vector";
        if (int_of(n, "transA") != 0 || int_of(n, "transBatchA") != 0)
            return "is multiplied by a transposed operand of " + n.op;
        if (n.op == "Gemm" && n.inputs.size() > 2 && n.inputs[2] != no_value && float_of(n, "beta", 1) != 1.0F)
            return "is the weight of a Gemm with a beta other than 1";
        return "";
    }

    [[nodiscard]] std::optional<quantized_matrix> matrix_for(stored_tensor const& weight, weight_use const& use,
                                                             std::string const& name, std::string& why) const {
        std::optional<stored_tensor> rows = matrix_of(weight, use, why);
        if (!rows) return {};
        quantization how = options_.how;
        how.block = block_for(rows->sizes[1], how.block);
        quantized_matrix matrix(std::move(*rows), how, name);
        if (matrix.byte_count() < weight.byte_count()) return matrix;
        why = "would not become smaller: it has rows of " + std::to_string(matrix.rows().sizes[1]) + " elements";
        return {};
    }

    exported_graph& made_;
    graph_data& graph_;
    quantize_options const& options_;
    bool for_onnxruntime_;
    bool shares_bytes_; ///< the file has the bytes of initializers with the same elements once
    std::vector<std::string> candidates_;
    std::deque<integer_matrix> integers_;
    std::unordered_map<std::size_t, planned_use> uses_; ///< by the index of the node
};

} // namespace

void quantize_weights(exported_graph& made, export_options const& options) {
    if (options.quantize) quantizer(made, options).run();
}

} // namespace ATON_NAMESPACE::exporter
