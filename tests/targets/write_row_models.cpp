// SPDX-License-Identifier: MIT
// Writes what `aton export --target onnxruntime` makes of every built-in row in every dtype, for onnxruntime_rows_test.py to load.
//
//   write_row_models [--only PART] [--of N] [--first OPSET]
//
// The calls are those of tests/verify/legality_matrix.cpp. --of N: one of N combinations of row and dtype. Opsets at which the graph has the
// same schema versions of the same operators as at the previous one are left out. Each record on stdout is a line
// "<bytes> <overload>, <dtype>, opset <n>" and the bytes of the model; what the target refuses is a line "0 <reason>".
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/core/stored_tensor.hpp>
#include <aton/exporter/exporter.hpp>
#include <aton/mappings/built_in.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/onnx/kernels.hpp>
#include <aton/passes/passes.hpp>
#include <aton/targets/built_in.hpp>
#include <aton/verify/sample.hpp>
#include <aton/verify/translation.hpp>

#include "../verify/retyped_calls.hpp"
#include "exporter/select_rewrites.hpp"
#include "exporter/target_limits.hpp"

namespace {

using aton::dtype;
using aton::tests::place;

constexpr dtype dtypes[] = {dtype::float32,
                            dtype::bfloat16,
                            dtype::float16,
                            dtype::float64,
                            dtype::bool_,
                            dtype::int8,
                            dtype::uint8,
                            dtype::int16,
                            dtype::uint16,
                            dtype::int32,
                            dtype::uint32,
                            dtype::int64,
                            dtype::uint64};

struct options {
    std::string only;
    std::size_t of = 1;
    int first = 13;
};

class writer {
public:
    explicit writer(options const& o) : options_(o) {
        settings_.target = aton::targets::find_target("onnxruntime");
        rewrites_ = aton::exporter::select_rewrites(settings_);
    }

    void write(aton::dsl::entry const& row, dtype t, place where) {
        aton::verify::sampling_profile profile;
        profile.type = where == place::arguments ? dtype::float32 : aton::tests::drawn_as(t);
        aton::verify::sample call;
        try {
            call = draw(row.overload,
                        row.schema,
                        find_rule(aton::verify::aten_sampling_rules(), row.overload),
                        profile,
                        1000 + static_cast<std::uint64_t>(t));
        } catch (aton::error const&) {
            return; // the rule fixes the dtype
        }
        if (where != place::tensors && !aton::tests::has_type_argument(call)) return;
        aton::tests::retype(call, profile.type, t, where);
        std::string before;
        for (int opset = std::max(row.since, options_.first);
             opset <= std::min(row.until, aton::onnx::onnxruntime::newest_opset);
             ++opset) {
            aton::graph_data graph;
            try {
                graph = translate(row, row.schema, opset, call).graph;
            } catch (aton::error const&) {
                continue; // no operator takes the dtype
            }
            std::string structure = aton::verify::structure_of(graph);
            if (structure == before) continue;
            before = std::move(structure);
            std::string const what = std::string(row.overload) + ", " + std::string(name(t)) + ", opset ";
            write(graph, what + std::to_string(opset));
        }
    }

private:
    void write(aton::graph_data& graph, std::string const& what) {
        std::deque<aton::stored_tensor> weights;
        aton::optimize(graph, weights, {.rewrites = rewrites_.first});
        aton::optimize(graph, weights, {.rewrites = rewrites_.last});
        if (aton::widen_dtypes(graph, aton::tensors(dtype::float16, dtype::bfloat16))) aton::optimize(graph, weights);
        if (graph.outputs.empty()) return; // ONNX Runtime loads no model without outputs
        std::string bytes;
        try {
            aton::exporter::require_target(graph, *settings_.target, what);
            bytes = to_model_proto(graph);
        } catch (aton::error const& e) {
            std::cout << "0 " << e.what() << '\n';
            return;
        }
        std::cout << bytes.size() << ' ' << what << '\n' << bytes;
    }

    options options_;
    aton::export_options settings_;
    aton::exporter::selected_rewrites rewrites_;
};

options read(int argc, char** argv) {
    options o;
    for (int i = 1; i + 1 < argc; i += 2) {
        std::string_view const word = argv[i];
        if (word == "--only") o.only = argv[i + 1];
        else if (word == "--of") o.of = std::stoul(argv[i + 1]);
        else if (word == "--first") o.first = std::stoi(argv[i + 1]);
        else throw std::invalid_argument(std::string(word) + " is not an option");
    }
    return o;
}

} // namespace

int main(int argc, char** argv) {
    try {
        options const o = read(argc, argv);
        writer to(o);
        std::size_t number = 0;
        for (aton::dsl::table_view const family : aton::mappings::built_in_tables())
            for (aton::dsl::entry const& row : family)
                for (dtype t : dtypes)
                    for (place const where : {place::tensors, place::arguments, place::both})
                        if (row.overload.find(o.only) != std::string_view::npos && number++ % o.of == 0)
                            to.write(row, t, where);
        return std::cout.flush() ? 0 : 2;
    } catch (std::exception const& e) {
        std::cerr << e.what() << '\n';
        return 2;
    }
}
