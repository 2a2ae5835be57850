// SPDX-License-Identifier: MIT
// Exports every mapped overload in every dtype at every opset: it must be refused, or accepted by ONNX's checker with full inference.
//
//   verify_legality [--only PART] [--opset N] [--samples N] [--seed S] [--jobs N] [--every-opset] [--raw]
//
// The dtype is that of the tensors of a random call, of its dtype arguments, or of both. The graphs are checked after the passes; --raw:
// also before. Opsets at which the graph has the same schema versions of the same operators as at the previous one are counted with it;
// --every-opset: each is checked.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iostream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/core/stored_tensor.hpp>
#include <aton/exporter/exporter.hpp>
#include <aton/fusions/built_in.hpp>
#include <aton/mappings/built_in.hpp>
#include <aton/model_io/legality.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/onnx/integer_kernels.hpp>
#include <aton/onnx/registry.hpp>
#include <aton/passes/passes.hpp>
#include <aton/verify/sample.hpp>
#include <aton/verify/translation.hpp>

#include "retyped_calls.hpp"

namespace {

using aton::dtype;
using aton::tests::place;
using aton::verify::sample;

struct options {
    std::string only;
    int opset = 0; ///< 0: all
    int samples = 1;
    std::uint64_t seed = 1;
    int jobs = 2;
    bool every_opset = false;
    bool raw = false;
};

struct counts {
    std::int64_t calls = 0; ///< pairs of a call and an opset
    std::int64_t refused = 0;
    std::int64_t legal = 0;
    std::map<std::string, std::int64_t> wrong; ///< count by message

    void operator+=(counts const& other) {
        calls += other.calls;
        refused += other.refused;
        legal += other.legal;
        for (auto const& [text, n] : other.wrong) wrong[text] += n;
    }
};

class row_matrix {
public:
    row_matrix(aton::dsl::entry const& row, options const& o) : row_(row), options_(o) {}

    counts run() {
        for (std::size_t i = 1; i != aton::onnx_dtype_count; ++i)
            for (int k = 0; k != options_.samples; ++k)
                for (place const where : {place::tensors, place::arguments, place::both})
                    check(static_cast<dtype>(i), where, options_.seed + static_cast<std::uint64_t>(k));
        return std::move(counts_);
    }

private:
    void check(dtype t, place where, std::uint64_t seed) {
        aton::verify::sampling_profile profile;
        profile.type = where == place::arguments ? dtype::float32 : aton::tests::drawn_as(t);
        sample call;
        try {
            call = draw(row_.overload,
                        row_.schema,
                        find_rule(aton::verify::aten_sampling_rules(), row_.overload),
                        profile,
                        seed * 1000 + static_cast<std::uint64_t>(t));
        } catch (aton::error const&) {
            return; // the rule fixes the dtype
        }
        if (where != place::tensors && !aton::tests::has_type_argument(call)) return;
        aton::tests::retype(call, profile.type, t, where);
        std::string before;
        bool was_legal = false;
        for (int opset = row_.since; opset <= std::min(row_.until, aton::onnx::newest_opset); ++opset) {
            if (opset < aton::oldest_export_opset || (options_.opset != 0 && opset != options_.opset)) continue;
            ++counts_.calls;
            try {
                aton::verify::translation const made = translate(row_, row_.schema, opset, call);
                std::string structure = aton::verify::structure_of(made.graph);
                if (!options_.every_opset && structure == before) {
                    if (was_legal) ++counts_.legal; // otherwise it is already counted as illegal
                    continue;
                }
                before = std::move(structure);
                was_legal = is_legal(made.graph, t, where, opset);
            } catch (aton::error const&) {
                before.clear();
                ++counts_.refused;
            }
        }
    }

    bool is_legal(aton::graph_data const& graph, dtype t, place where, int opset) {
        std::string what = options_.raw ? fault_of(graph, true) : std::string();
        if (what.empty()) {
            aton::graph_data optimized = graph;
            std::deque<aton::stored_tensor> weights;
            aton::optimize(optimized, weights, {});
            what = fault_of(optimized, false);
            auto const make_exact = [&] {
                return aton::use_exact_integers(
                    optimized, aton::onnx::onnx_runtime_integer_kernels, aton::fusions::build_exact_integers);
            };
            if (what.empty() && make_exact()) what = fault_of(optimized, false);
        }
        if (what.empty()) {
            ++counts_.legal;
            return true;
        }
        constexpr std::string_view names[] = {"tensors", "arguments", "tensors and arguments"};
        std::string text(row_.overload);
        ((text += ": ") += names[static_cast<std::size_t>(where)]) += " of ";
        ((text += name(t)) += ", opset ") += std::to_string(opset) + ": ";
        ++counts_.wrong[text += what];
        return false;
    }

    static std::string fault_of(aton::graph_data const& graph, bool is_raw) {
        std::string const as = is_raw ? "before passes: " : "";
        try {
            require_legal(graph);
        } catch (aton::error const& e) {
            return as + "built, but refused only by the final check: " + e.what();
        }
        try {
            aton::check_model_bytes(to_model_proto(graph), "the checker");
        } catch (aton::error const& e) {
            return as + e.what();
        }
        return {};
    }

    aton::dsl::entry const& row_;
    options const& options_;
    counts counts_;
};

counts run(options const& o) {
    std::vector<aton::dsl::entry const*> rows;
    for (aton::dsl::table_view const family : aton::mappings::built_in_tables())
        for (aton::dsl::entry const& row : family)
            if (row.overload.find(o.only) != std::string_view::npos) rows.push_back(&row);
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    counts all;
    auto const work = [&] {
        for (std::size_t i = next++; i < rows.size(); i = next++) {
            counts const of_row = row_matrix(*rows[i], o).run();
            std::lock_guard const lock(mutex);
            all += of_row;
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i != o.jobs; ++i) threads.emplace_back(work);
    for (std::thread& t : threads) t.join();
    std::cout << rows.size() << " rows, ";
    return all;
}

options read(int argc, char** argv) {
    options o;
    for (int i = 1; i != argc; ++i) {
        std::string_view const word = argv[i];
        auto const value = [&] {
            if (++i == argc) throw std::invalid_argument(std::string(word) + " needs a value");
            return std::string(argv[i]);
        };
        if (word == "--only") o.only = value();
        else if (word == "--opset") o.opset = std::stoi(value());
        else if (word == "--samples") o.samples = std::stoi(value());
        else if (word == "--seed") o.seed = std::stoull(value());
        else if (word == "--jobs") o.jobs = std::stoi(value());
        else if (word == "--every-opset") o.every_opset = true;
        else if (word == "--raw") o.raw = true;
        else throw std::invalid_argument(std::string(word) + " is not an option");
    }
    return o;
}

} // namespace

int main(int argc, char** argv) {
    try {
        counts const all = run(read(argc, argv));
        std::cout << all.calls << " calls at an opset: " << all.legal << " legal, " << all.refused << " refused, "
                  << all.wrong.size() << " illegal\n";
        for (auto const& [text, n] : all.wrong) std::cout << text << '\n';
        return all.wrong.empty() && all.legal != 0 ? 0 : 1;
    } catch (std::exception const& e) {
        std::cerr << e.what() << '\n';
        return 2;
    }
}
