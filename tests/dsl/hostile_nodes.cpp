// SPDX-License-Identifier: MIT
// Runs nodes whose inputs and attributes mostly contradict each other through the shape rules and ONNX's checker: what the checker rejects, the
// rules or the check of the finished graph must refuse as well.
//
//   hostile_nodes [--only OP] [--rounds N] [--seed S] [--show-stricter] [--trace]
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <string_view>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <onnx/shape_inference/implementation.h>

#include <aton/core/error.hpp>
#include <aton/ir/print.hpp>
#include <aton/ir/shapes/rules.hpp>
#include <aton/model_io/legality.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/onnx/registry.hpp>

#include "hostile_node.hpp"

namespace {

using random_graphs::hostile_node;

constexpr char const* library_text = "threw something else than aton::error";

/// Empty: the call is accepted.
template <class Call>
std::string refusal(Call const& call) {
    try {
        call();
    } catch (aton::error const& e) {
        return e.what();
    } catch (std::exception const& e) {
        return library_text + std::string(": ") + e.what();
    }
    return {};
}

/// A message without its numbers: one for each kind of fault.
std::string kind_of(std::string_view message) {
    std::string out;
    std::size_t const at = message.find("InferenceError");
    for (char const c : message.substr(at == std::string_view::npos ? 0 : at))
        if (std::isdigit(static_cast<unsigned char>(c)) == 0 && c != '-') out += c;
        else if (!out.ends_with('#')) out += '#';
    return out.substr(0, 220);
}

/// A result that ONNX's inference knows and the rules do not: a program with a contradicting type would not be refused.
std::string what_onnx_knows(aton::graph_data const& graph) {
    ::onnx::ModelProto model;
    model.ParseFromString(aton::to_model_proto(graph));
    model.mutable_graph()->clear_value_info();
    ::onnx::shape_inference::InferShapes(
        model, ::onnx::OpSchemaRegistry::Instance(), ::onnx::ShapeInferenceOptions(true, 1, false));
    for (auto const& info : model.graph().value_info()) {
        auto const& node = model.graph().node(model.graph().node_size() - 1);
        auto const at = std::find(node.output().begin(), node.output().end(), info.name());
        if (at == node.output().end() || !info.type().has_tensor_type() || !info.type().tensor_type().has_shape())
            continue;
        auto const& theirs = info.type().tensor_type().shape();
        std::size_t const i = static_cast<std::size_t>(at - node.output().begin());
        aton::shape const& ours = graph.values[graph.nodes.back().outputs[i]].type.shape;
        std::string const where = "KNOWN of output " + std::string(1, static_cast<char>('a' + i)) + ": ";
        if (!ours.has_rank()) return where + "rank " + std::to_string(theirs.dim_size());
        for (int k = 0; k != theirs.dim_size(); ++k)
            if (theirs.dim(k).has_dim_value() && !ours[static_cast<std::size_t>(k)].is_static())
                return where + "size " + std::to_string(theirs.dim(k).dim_value());
    }
    return {};
}

struct kind {
    int count = 0;
    std::string example;
};

struct options {
    std::string only;
    std::uint64_t rounds = 300;
    std::uint64_t seed = 1;
    bool shows_stricter = false;
    bool traces = false;
};

/// Operators on tensors that have a shape rule. Sequences, optionals and control flow have no sizes that could be hostile.
bool is_drawn(aton::onnx::op_schema s) {
    using context = aton::shapes::context<aton::graph_data>;
    static std::string const others =
        " If Loop Scan SequenceMap Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct"
        " SequenceEmpty SequenceErase SequenceInsert SequenceLength ConcatFromSequence SplitToSequence Constant"
        // not written by any mapping
        " Attention LinearAttention CausalConvWithState CenterCropPad DFT STFT DeformConv MaxRoiPool MaxUnpool"
        " MeanVarianceNormalization NonMaxSuppression ReverseSequence RoiAlign RotaryEmbedding Scatter SwiGLU"
        " TensorScatter Upsample BlackmanWindow HammingWindow HannWindow RegexFullMatch StringConcat"
        " QLinearConv QLinearMatMul ConvInteger MatMulInteger LRN LpPool ";
    return !s.deprecated() && others.find(" " + std::string(s.name()) + " ") == std::string::npos &&
           aton::shapes::rule_of<context>(s.name()) != nullptr;
}

struct findings {
    std::map<std::string, kind> missed;
    std::map<std::string, kind> stricter;
    std::size_t calls = 0;
    std::size_t refused = 0;
};

void draw(std::string const& name, aton::onnx::op_schema schema, int opset, std::uint64_t round, options const& o,
          findings& all) {
    std::seed_seq mixed(name.begin(), name.end());
    std::uint32_t word = 0;
    mixed.generate(&word, &word + 1);
    hostile_node h(schema, opset, (o.seed << 48U) + (round << 8U) + static_cast<std::uint64_t>(opset) + word);
    std::string const before = aton::to_string(h.data);
    if (o.traces) std::cerr << name << ", opset " << opset << ", round " << round << '\n' << before << '\n';
    std::string const ours = refusal([&] {
        aton::shapes::infer_types(h.data, h.node());
        aton::require_legal(h.data);
    });
    ++all.calls;
    all.refused += ours.empty() ? 0 : 1;
    bool const is_finding = ours.starts_with(library_text);
    if (!ours.empty() && !is_finding && !o.shows_stricter) return;
    if (!ours.empty())
        for (aton::value_id const id : h.node().outputs) h.data.values[id].type.shape = aton::shape();
    std::string theirs = is_finding ? "" : refusal([&] { aton::check_model_bytes(aton::to_model_proto(h.data)); });
    bool const is_einsum =
        name == "Einsum"; // ONNX's inference takes a 1 beside an unknown size as the size of the result
    if (!is_finding && ours.empty() && theirs.empty() && !is_einsum) theirs = what_onnx_knows(h.data);
    if (!is_finding && ours.empty() == theirs.empty()) return;
    std::string const& said = ours.empty() ? theirs : ours;
    kind& k = (is_finding || ours.empty() ? all.missed : all.stricter)[name + ": " + kind_of(said)];
    if (k.count++ == 0)
        k.example = "opset " + std::to_string(opset) + ", round " + std::to_string(round) + ": " + said + "\n" + before;
}

/// All draws of one operator; returns the number of kinds of findings.
int draw_all(std::string const& name, options const& o) {
    static constexpr int opsets[] = {11, 13, 18, 23, aton::onnx::newest_opset};
    findings all;
    for (int const opset : opsets)
        if (aton::onnx::op_schema const schema = aton::onnx::find("", name, opset); schema && is_drawn(schema))
            for (std::uint64_t round = 0; round != o.rounds; ++round) draw(name, schema, opset, round, o, all);
    for (auto const& [text, k] : all.stricter)
        std::cout << "STRICTER " << k.count << " x " << text << "\n" << k.example << '\n';
    for (auto const& [text, k] : all.missed)
        std::cout << "MISSED " << k.count << " x " << text << "\n" << k.example << '\n';
    if (all.calls != 0)
        std::cout << name << ": " << all.calls << " calls, " << all.refused << " refused, " << all.missed.size()
                  << " kinds of findings" << std::endl;
    return static_cast<int>(std::min<std::size_t>(all.missed.size(), 100));
}

/// Each operator in its own process, because ONNX's library aborts on some graphs.
int run(options const& o) {
    int found = 0;
    for (int op = 0; op != aton::onnx::op_count(); ++op) {
        std::string const name(aton::onnx::op_versions(op)[0].name());
        if (!aton::onnx::op_versions(op)[0].domain().empty() || (!o.only.empty() && o.only != name)) continue;
        std::cout << std::flush;
        pid_t const process = ::fork();
        if (process == 0) {
            rlimit const limit{rlim_t{4} << 30U, rlim_t{4} << 30U};
            ::setrlimit(RLIMIT_AS, &limit);
            ::alarm(300);
            ::_exit(draw_all(name, o));
        }
        int status = 0;
        while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
        }
        if (WIFSIGNALED(status))
            std::cout << "DIED " << name << ": " << ::strsignal(WTERMSIG(status)) << "; again: --only " << name
                      << " --trace\n";
        found += WIFSIGNALED(status) ? 1 : WEXITSTATUS(status);
    }
    std::cout << "hostile_nodes: " << found << " kinds of findings\n";
    return found == 0 ? 0 : 1;
}

} // namespace

int main(int count, char** words) {
    try {
        options o;
        for (int i = 1; i < count; ++i) {
            std::string_view const word = words[i];
            if (word == "--show-stricter") o.shows_stricter = true;
            else if (word == "--trace") o.traces = true;
            else if (i + 1 == count) throw aton::error("a word follows " + std::string(word));
            else if (word == "--only") o.only = words[++i];
            else if (word == "--rounds") o.rounds = std::stoull(words[++i]);
            else if (word == "--seed") o.seed = std::stoull(words[++i]);
            else throw aton::error("unknown option " + std::string(word));
        }
        return run(o);
    } catch (std::exception const& e) {
        std::cerr << "hostile_nodes: " << e.what() << '\n';
        return 2;
    }
}
