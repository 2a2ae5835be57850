// SPDX-License-Identifier: MIT
// Whole files: programs equal those of torch.export.load (tests/data/pt2/programs.txt, made by make_programs.py).
#include <aton/frontend/pt2/read_program.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>

#include "program_holds.hpp"

namespace read_program_test {

using namespace aton::program;
using aton::pt2::archive;
using aton::pt2::read_program;

namespace {

/// Prints a program in the format of programs.txt.
class listing {
public:
    explicit listing(program const& p) : p_(p) {
        for (auto const& [symbol, range] : p.ranges) symbols_.emplace(symbol, number_of(symbol));
    }

    std::vector<std::string> lines() {
        constexpr std::string_view inputs[] = {
            "user", "parameter", "buffer", "constant", "baked", "custom_object", "token"};
        for (input const& in : p_.inputs) {
            std::string line = "input ";
            line.append(inputs[static_cast<std::size_t>(in.kind)]).append(" ").append(in.target);
            if (in.value != no_value) line.append(" ").append(typed(in.value));
            out_.push_back(line);
        }
        for (node const& n : p_.main.nodes) add_node(n);
        constexpr std::string_view outputs[] = {
            "user", "buffer_mutation", "input_mutation", "parameter_mutation", "loss"};
        for (std::size_t i = 0; i != p_.outputs.size(); ++i) {
            bool const user = p_.outputs[i].kind == output_kind::user;
            std::string line = "output ";
            line.append(outputs[static_cast<std::size_t>(p_.outputs[i].kind)]).append(" ");
            line.append(user ? "-" : p_.outputs[i].target).append(" ").append(text(p_.main.outputs[i]));
            out_.push_back(line);
        }
        return out_;
    }

private:
    static std::int64_t number_of(std::string const& symbol) {
        return (symbol[0] == 'u' ? 102 : 2) + std::stoll(symbol.substr(1));
    }

    [[nodiscard]] std::string text(extent const& e) const {
        if (e.is_number()) return std::to_string(e.number);
        auto const v = evaluate(p_.expressions.at(e.expression), symbols_);
        return v ? std::to_string(*v) : "?";
    }

    template <typename List, typename Print>
    static std::string joined(List const& list, std::string_view separator, Print print) {
        std::string out;
        for (auto const& each : list) {
            if (!out.empty()) out += separator;
            out += print(each);
        }
        return out;
    }

    [[nodiscard]] std::string typed(value_index v) const {
        value const& x = p_.values.at(v);
        std::string out = x.name;
        if (x.symbolic) return out.append(":").append(text(*x.symbolic));
        if (x.kind != value_kind::tensor) return out;
        auto const print = [&](extent const& e) { return text(e); };
        out.append(":").append(name(x.type)).append("[").append(joined(x.sizes, ",", print));
        return out.append("]/[").append(joined(x.strides, ",", print)).append("]");
    }

    [[nodiscard]] std::string text(value_index v) const {
        return v == no_value ? std::string("None") : std::string("%").append(p_.values.at(v).name);
    }

    static std::string text(double v) {
        char buffer[40];
        std::snprintf(buffer, sizeof buffer, "%.17g", v);
        return buffer;
    }

    [[nodiscard]] std::string text(aton::program::number const& n) const {
        if (n.is_computed()) return text(n.computed);
        if (n.constant.is_bool()) return n.constant.to<bool>() ? "true" : "false";
        return n.integer() ? std::to_string(*n.integer()) : text(n.constant.to<double>());
    }

    template <typename List, typename Print>
    [[nodiscard]] static std::string list(List const& all, Print print) {
        return std::string("[").append(joined(all, ", ", print)).append("]");
    }

    [[nodiscard]] std::string text(argument const& a) const {
        auto const quoted = [](std::string const& s) { return std::string("'").append(s).append("'"); };
        switch (a.kind) {
        case argument_kind::none: return "None";
        case argument_kind::tensor: return text(a.tensor.index);
        case argument_kind::tensors: return list(a.tensors, [&](value_index v) { return text(v); });
        case argument_kind::number: return text(a.number);
        case argument_kind::numbers: return list(a.numbers, [&](aton::program::number const& n) { return text(n); });
        case argument_kind::number_lists:
            return list(aton::aten::lists_of(a, [](aton::program::number const& n) { return n; }),
                        [&](std::vector<aton::program::number> const& each) {
                            return list(each, [&](aton::program::number const& n) { return text(n); });
                        });
        case argument_kind::text: return quoted(a.text);
        case argument_kind::texts: return list(a.texts, quoted);
        case argument_kind::type: return std::string(name(a.type));
        case argument_kind::graph: return std::string("@").append(a.text);
        default: return a.text;
        }
    }

    void add_node(node const& n) {
        std::string line = "node ";
        line.append(n.name).append(" ").append(n.op).append("(");
        line += joined(
            n.arguments, ", ", [&](argument const& a) { return std::string(a.name).append("=").append(text(a)); });
        line.append(") -> ").append(joined(n.results, ", ", [&](result const& r) -> std::string {
            std::string const all = joined(r.values, ", ", [&](value_index v) { return typed(v); });
            if (r.is_list) return std::string("[").append(all).append("]");
            return all.empty() ? "None" : all;
        }));
        out_.push_back(line);
        origin const& o = p_.origins.at(n.origin);
        std::string from = "    ";
        from.append(o.module).append("|").append(o.module_type).append("|").append(o.source).append("|");
        out_.push_back(from.append(o.code.substr(0, 60)));
    }

    program const& p_;
    std::map<std::string, std::int64_t, std::less<>> symbols_;
    std::vector<std::string> out_;
};

struct recorded {
    std::string file;
    std::string model;
    std::vector<std::string> lines;
};

std::vector<recorded> read_recorded() {
    std::vector<recorded> out;
    std::ifstream in(ATON_PT2_SAMPLES "/programs.txt");
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with("program ")) {
            REQUIRE(!out.empty());
            out.back().lines.push_back(line);
            continue;
        }
        std::size_t const blank = line.rfind(' ');
        out.push_back({line.substr(8, blank - 8), line.substr(blank + 1), {}});
    }
    return out;
}

/// The path of a sample; empty if it is not on this machine.
std::string find_sample(std::string const& file) {
    for (std::string const& folder : {std::string(ATON_PT2_SAMPLES), std::string(ATON_SHARED_SAMPLES)}) {
        std::string path = folder;
        path.append("/").append(file);
        if (!folder.empty() && std::filesystem::exists(path)) return path;
    }
    return {};
}

} // namespace

TEST_CASE("programs equal those that torch loads") {
    std::size_t compared = 0;
    for (recorded const& each : read_recorded()) {
        std::string const path = find_sample(each.file);
        if (path.empty()) continue;
        CAPTURE(each.file);
        program const p = read_program(path, each.model);
        CHECK(aton::tests::holds(p));
        CHECK(p.file == path);
        CHECK(p.name == each.model);
        std::vector<std::string> const lines = listing(p).lines();
        CHECK(lines.size() == each.lines.size());
        for (std::size_t i = 0; i != std::min(lines.size(), each.lines.size()); ++i) CHECK(lines[i] == each.lines[i]);
        ++compared;
    }
    CHECK(compared >= 9); // 24 where the samples of all features are
    MESSAGE(compared << " programs");
}

TEST_CASE("a program keeps its file mapped, and its weights are views of it") {
    program p;
    {
        archive const opened(ATON_PT2_SAMPLES "/conv_bn_channels_last.pt2");
        p = read_program(opened);
    }
    REQUIRE(p.storage != nullptr);
    archive const again(ATON_PT2_SAMPLES "/conv_bn_channels_last.pt2");
    int weights = 0;
    for (input const& in : p.inputs) {
        if (in.kind != input_kind::parameter) continue;
        REQUIRE(in.data.parts.size() == 1);
        aton::file_span const& bytes = in.data.parts[0].bytes;
        CHECK(bytes.position % 64 == 0);
        aton::stored_tensor const other = again.tensor("", aton::pt2::tensor_role::weight, in.target);
        CHECK(std::memcmp(bytes.data, other.parts.at(0).bytes.data, bytes.size) == 0);
        ++weights;
    }
    CHECK(weights == 3);
}

TEST_CASE("one of several models is selected by its name") {
    std::string const path = ATON_PT2_SAMPLES "/multi_model.pt2";
    CHECK(read_program(path, "decode").main.nodes.size() == 2);
    CHECK(read_program(path, "prefill").main.nodes.size() == 4);
    CHECK_THROWS_AS((void)read_program(path), aton::error);
    CHECK_THROWS_AS((void)read_program(path, "encode"), aton::error);
    CHECK_THROWS_AS((void)read_program(path + ".not"), aton::error);
}

} // namespace read_program_test
