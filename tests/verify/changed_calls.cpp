// SPDX-License-Identifier: MIT
// Draws calls of every mapped overload, changes the call or its graph at random, and runs it: there must be a result or a one-line error.
//
//   verify_changed_calls [--only PART] [--rounds N] [--first K] [--seed S] [--seconds N] [--jobs N]
#include <cstddef>
#include <exception>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/ir/print.hpp>
#include <aton/onnx/registry.hpp>
#include <aton/runtime/aten_operator.hpp>
#include <aton/runtime/onnx_model.hpp>
#include <aton/verify/sample.hpp>
#include <aton/verify/translation.hpp>

#include "../changed_bytes.hpp"
#include "../runtime/changed_graph.hpp"
#include "../runtime/hostile_run.hpp"
#include "mapped_rows.hpp"

namespace {

using namespace aton::tests;
using aton::runtime::aten_argument;
using aton::verify::sample;

sample drawn(aton::dsl::entry const& row, std::mt19937_64& rng) {
    using aton::dtype;
    static constexpr dtype types[] = {dtype::float32,
                                      dtype::float32,
                                      dtype::int64,
                                      dtype::bool_,
                                      dtype::float16,
                                      dtype::bfloat16,
                                      dtype::uint8,
                                      dtype::complex64};
    aton::verify::sampling_profile t;
    t.sizes =
        static_cast<aton::verify::size_profile>(up_to(rng, static_cast<int>(aton::verify::size_profile::count_) - 1));
    t.values =
        static_cast<aton::verify::value_profile>(up_to(rng, static_cast<int>(aton::verify::value_profile::count_) - 1));
    t.type = types[up_to<std::size_t>(rng, std::size(types) - 1)];
    t.scattered = up_to(rng, 1) == 0;
    return draw(row.overload, row.schema, find_rule(aton::verify::aten_sampling_rules(), row.overload), t, rng());
}

aton::scalar strange_number(std::mt19937_64& rng) {
    switch (up_to(rng, 4)) {
    case 0: return strange_real(rng);
    case 1: return up_to(rng, 1) == 0;
    case 2: return aton::scalar::complex(strange_real(rng), strange_real(rng));
    default: return strange_integer(rng);
    }
}

void change_argument(aten_argument& a, std::mt19937_64& rng) {
    using kind = aton::aten::argument_kind;
    if (up_to(rng, 9) == 0) {
        constexpr kind all[] = {
            kind::none, kind::tensor, kind::tensors, kind::number, kind::numbers, kind::text, kind::type};
        a.kind = all[up_to(rng, std::size(all) - 1)];
        if (a.kind == kind::tensor && !a.tensor) a.tensor = aton::runtime::tensor::of_scalar(1, aton::dtype::float32);
        return;
    }
    switch (a.kind) {
    case kind::tensor: a.tensor = changed(a.tensor, rng); return;
    case kind::tensors:
        if (a.tensors.empty()) return;
        if (up_to(rng, 2) == 0) a.tensors.pop_back();
        else if (up_to(rng, 2) == 0) a.tensors.push_back(a.tensors.front());
        else {
            auto& one = a.tensors[up_to<std::size_t>(rng, a.tensors.size() - 1)];
            one = changed(one, rng);
        }
        return;
    case kind::number: a.number = strange_number(rng); return;
    case kind::numbers:
        if (up_to(rng, 3) == 0 || a.numbers.empty()) a.numbers.push_back(strange_number(rng));
        else if (up_to(rng, 3) == 0) a.numbers.pop_back();
        else a.numbers[up_to<std::size_t>(rng, a.numbers.size() - 1)] = strange_number(rng);
        return;
    case kind::text: a.text = strange_text(rng); return;
    case kind::type: a.type = strange_type(rng); return;
    default: return;
    }
}

void run_changed_call(sample s, std::mt19937_64& rng, bool shown) {
    for (int n = up_to(rng, 2); n >= 0 && !s.arguments.empty(); --n) {
        std::size_t const i = up_to<std::size_t>(rng, s.arguments.size() - 1);
        if (up_to(rng, 15) == 0) s.arguments.erase(s.arguments.begin() + static_cast<std::ptrdiff_t>(i));
        else change_argument(s.arguments[i], rng);
    }
    if (shown) std::cout << to_python(s) << '\n' << std::flush;
    (void)aton::runtime::call_aten(s.overload, s.arguments);
}

void run_changed_graph(aton::dsl::entry const& row, sample const& s, node_pool const& nodes, std::mt19937_64& rng,
                       bool shown) {
    runnable what;
    try {
        aton::verify::translation t = translate(row, row.schema, row.until, s);
        what = {std::move(t.graph), std::move(t.inputs)};
    } catch (aton::error const&) {
        return;
    }
    change(what, nodes, rng);
    if (shown) std::cout << to_string(what.graph) << std::flush;
    aton::runtime::onnx_options with;
    with.max_steps = 100000;
    (void)aton::runtime::onnx_model(std::move(what.graph), with).run(what.inputs);
}

int run(hostile_options const& options) {
    std::vector<aton::dsl::entry const*> const rows = all_rows();
    node_pool nodes;
    std::mt19937_64 fixed(1);
    for (aton::dsl::entry const* row : rows) {
        try {
            sample const s = drawn(*row, fixed);
            for (aton::graph_node const& n : translate(*row, row->schema, row->until, s).graph.nodes)
                nodes.push_back(n);
        } catch (aton::error const&) {
            continue;
        }
    }
    hostile_tally const tally = hostile_run(
        "verify_changed_calls",
        rows.size(),
        options,
        [&](std::size_t i) { return std::string(rows[i]->overload); },
        [&](std::size_t i, std::uint64_t seed) {
            std::mt19937_64 rng(seed);
            sample s = drawn(*rows[i], rng);
            bool const shown = options.jobs == 0;
            if (up_to(rng, 1) == 0) run_changed_call(std::move(s), rng, shown);
            else run_changed_graph(*rows[i], s, nodes, rng, shown);
        });
    return tally.found == 0 ? 0 : 1;
}

} // namespace

int main(int count, char** words) {
    try {
        return run(read_hostile_options(count, words, 1));
    } catch (std::exception const& e) {
        std::cerr << "verify_changed_calls: " << e.what() << '\n';
        return 2;
    }
}
