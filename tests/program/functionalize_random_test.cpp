// SPDX-License-Identifier: MIT
// Random programs with nested views and writes to them compute the same before and after functionalize().
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/program/program.hpp>

#include "interpreter.hpp"
#include "program_builder.hpp"

using namespace aton::program;

namespace {

/// Generates programs node by node and runs each node immediately, so that all sizes and strides are known.
class random_program {
public:
    program_builder b;
    std::size_t writes = 0;
    std::size_t views = 0;

    explicit random_program(unsigned seed) : random_(seed) {
        for (std::string name : {"x", "y", "state"}) {
            numbers sizes;
            for (std::int64_t i = pick(1, 3); i > 0; --i) sizes.push_back(pick(1, 5));
            value_index const v = b.input(name == "state" ? input_kind::buffer : input_kind::user, name, sizes);
            alive_.push_back(v);
        }
        fill_inputs(interpreter_);
        for (std::int64_t left = pick(6, 30); left > 0; --left) step();
        for (int i = 0; i != 3; ++i) b.output(any());
    }

    void fill_inputs(interpreter& to) const {
        std::int64_t next = 1;
        for (value_index v : b.p.main.inputs) {
            numbers sizes;
            for (extent const& each : b.p.values[v].sizes) sizes.push_back(each.number);
            strided t = strided::zeros(sizes);
            for (std::int64_t& each : *t.memory) each = next++;
            to.set(v, t);
        }
    }

private:
    std::int64_t pick(std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
    }
    value_index any() {
        return alive_[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(alive_.size()) - 1))];
    }
    strided const& at(value_index v) { return interpreter_.get(v); }

    void add(std::string op, std::vector<argument> arguments) {
        node n = b.make(std::move(op), std::move(arguments), {});
        n.name = "node" + std::to_string(b.p.main.nodes.size());
        std::vector<strided> const made = interpreter_.results_of(n);
        std::vector<value_index> results;
        for (strided const& each : made) {
            results.push_back(b.value_of("v" + std::to_string(b.p.values.size()), each.sizes, each.strides));
            interpreter_.bind(n, results.back(), each);
            alive_.push_back(results.back());
        }
        bool const is_list = aton::aten::parse_head(n.schema).name == "chunk" || made.size() > 1 ||
                             n.op == "aten::split.Tensor" || n.op == "aten::unbind.int";
        n.results = {result{results, is_list}};
        b.p.main.nodes.push_back(std::move(n));
    }

    void step() {
        value_index const v = any();
        std::int64_t const choice = pick(0, 9);
        if (choice < 4) write(v);
        else if (choice < 9) view(v);
        else if (at(v).sizes.empty()) add("aten::mul.Scalar", {tensor("self", v), integer("other", pick(2, 5))});
        else add("aten::add.Tensor", {tensor("self", v), tensor("other", v)});
    }

    void write(value_index v) {
        ++writes;
        switch (pick(0, 5)) {
        case 0: return add("aten::mul_.Scalar", {tensor("self", v), integer("other", pick(2, 7))});
        case 1: return add("aten::fill_.Scalar", {tensor("self", v), integer("value", pick(100, 200))});
        case 2: return add("aten::zero_", {tensor("self", v)});
        case 3: return change_view(v);
        default: break;
        }
        value_index const other = matching(at(v).sizes, v);
        bool const copy = pick(0, 1) == 0;
        if (copy) add("aten::copy_", {tensor("self", v), tensor("src", other)});
        else add("aten::add_.Tensor", {tensor("self", v), tensor("other", other)});
    }

    /// A tensor that broadcasts to these sizes and does not share memory: overlaps are undefined in ATen.
    value_index matching(numbers const& sizes, value_index v) {
        for (int i = 0; i != 20; ++i) {
            value_index const other = any();
            numbers const& has = at(other).sizes;
            bool fits = has.size() <= sizes.size() && at(other).memory != at(v).memory;
            for (std::size_t d = 0; fits && d != has.size(); ++d) {
                std::int64_t const s = has[has.size() - 1 - d];
                fits = s == 1 || s == sizes[sizes.size() - 1 - d];
            }
            if (fits) return other;
        }
        add("aten::clone", {tensor("self", v)});
        return alive_.back();
    }

    void change_view(value_index v) {
        auto const rank = static_cast<std::int64_t>(at(v).sizes.size());
        if (rank >= 2 && pick(0, 1) == 0)
            return add("aten::transpose_", {tensor("self", v), integer("dim0", 0), integer("dim1", rank - 1)});
        if (rank < 4) return add("aten::unsqueeze_", {tensor("self", v), integer("dim", pick(-1 - rank, rank))});
    }

    void view(value_index v) {
        ++views;
        auto const rank = static_cast<std::int64_t>(at(v).sizes.size());
        argument const self = tensor("self", v);
        if (rank == 0) return add(pick(0, 1) == 0 ? "aten::detach" : "aten::alias", {self});
        std::int64_t const d = pick(0, rank - 1);
        std::int64_t const size = at(v).sizes[static_cast<std::size_t>(d)];
        argument const dim = integer("dim", pick(0, 1) == 0 ? d : d - rank);
        switch (pick(0, 13)) {
        case 0:
            if (size == 0) break;
            return add("aten::select.int", {self, dim, integer("index", pick(-size, size - 1))});
        case 1: {
            std::vector<argument> arguments = {self,
                                               dim,
                                               integer("start", pick(-size - 1, size)),
                                               integer("end", pick(0, 2) == 0 ? INT64_MAX : pick(-size, size + 1)),
                                               integer("step", pick(1, 3))};
            arguments.resize(static_cast<std::size_t>(pick(2, 5)));
            return add("aten::slice.Tensor", std::move(arguments));
        }
        case 2: {
            std::int64_t const length = pick(0, size);
            std::int64_t const start = pick(0, size - length);
            bool const negative = start != 0 && start != size && pick(0, 1) == 0;
            return add("aten::narrow",
                       {self, dim, integer("start", negative ? start - size : start), integer("length", length)});
        }
        case 3: return add("aten::transpose.int", {self, integer("dim0", -1), integer("dim1", d)});
        case 4: {
            numbers order(static_cast<std::size_t>(rank));
            for (std::size_t i = 0; i != order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
            std::shuffle(order.begin(), order.end(), random_);
            if (pick(0, 1) == 0) order.front() -= rank;
            return add("aten::permute", {self, integers("dims", order)});
        }
        case 5: return add("aten::reshape", {self, integers("shape", other_sizes(at(v)))});
        case 6: return add("aten::flatten.using_ints", {self, integer("start_dim", d)});
        case 7:
            if (rank == 4) break;
            return add("aten::unsqueeze", {self, integer("dim", pick(-1 - rank, rank))});
        case 8: return add("aten::squeeze.dim", {self, dim});
        case 9:
            if (size == 0) break;
            return add("aten::chunk", {self, integer("chunks", pick(1, 3)), dim});
        case 10:
            if (size == 0) break;
            return add("aten::split.Tensor", {self, integer("split_size", pick(1, size)), dim});
        case 11:
            if (size == 0) break;
            return add("aten::unbind.int", {self, dim});
        case 12:
            if (rank < 2) break;
            return add(
                "aten::diagonal",
                {self, integer("offset", pick(-1, 1)), integer("dim1", rank - 1), integer("dim2", pick(0, rank - 2))});
        default:
            return add("aten::movedim.int", {self, integer("source", d), integer("destination", pick(0, rank - 1))});
        }
        return add("aten::detach", {self});
    }

    numbers other_sizes(strided const& t) {
        auto const count = static_cast<std::int64_t>(t.count());
        if (count == 0) return t.sizes;
        numbers sizes;
        std::int64_t left = count;
        for (std::int64_t s : {2, 3}) {
            if (left % s != 0 || pick(0, 2) == 0) continue;
            sizes.push_back(s);
            left /= s;
        }
        sizes.insert(sizes.begin() + pick(0, static_cast<std::int64_t>(sizes.size())), left);
        return sizes;
    }

    std::mt19937 random_;
    interpreter interpreter_;
    std::vector<value_index> alive_;
};

bool writes_to_something(node const& n) {
    aton::aten::schema_argument each;
    for (aton::aten::argument_cursor arguments{n.schema}; arguments.next(each);)
        if (each.type.mutates) return true;
    return false;
}

/// Whether nodes only use values that earlier nodes compute, and no value is computed twice.
bool is_well_formed(program const& p) {
    std::vector<bool> known(p.values.size());
    for (value_index v : p.main.inputs) known[v] = true;
    for (node const& n : p.main.nodes) {
        for (argument const& a : n.arguments)
            for (value_index v : tensors_of(a))
                if (!known.at(v)) return false;
        for (result const& r : n.results)
            for (value_index v : r.values) {
                if (known.at(v)) return false;
                known[v] = true;
            }
    }
    return std::all_of(
        p.main.outputs.begin(), p.main.outputs.end(), [&](argument const& a) { return known.at(a.tensor); });
}

std::size_t compare(unsigned seed) {
    random_program made(seed);
    interpreter before;
    made.fill_inputs(before);
    before.run(made.b.p.main);

    program after = made.b.p;
    functionalize(after);
    bool clean = is_well_formed(after);
    for (node const& n : after.main.nodes) clean = clean && !writes_to_something(n);
    CHECK_MESSAGE(clean, "seed ", seed);
    if (seed % 2 == 0) remove_dead_nodes(after);
    interpreter functional;
    made.fill_inputs(functional);
    functional.run(after.main);

    std::size_t const extra = after.main.outputs.size() - made.b.p.main.outputs.size();
    REQUIRE(after.outputs.size() == after.main.outputs.size());
    for (std::size_t i = 0; i != made.b.p.main.outputs.size(); ++i) {
        strided const& expected = before.get(made.b.p.main.outputs[i].tensor);
        strided const& computed = functional.get(after.main.outputs[extra + i].tensor);
        CHECK_MESSAGE(expected.sizes == computed.sizes, "seed ", seed, ", output ", i);
        CHECK_MESSAGE(expected.elements() == computed.elements(), "seed ", seed, ", output ", i);
    }
    // Inputs whose memory changed have an output with the correct value, even if they end as a view of it.
    for (std::size_t i = 0; i != after.inputs.size(); ++i) {
        numbers const& ends_as = *before.get(after.inputs[i].value).memory;
        numbers const starts_as = functional.get(after.inputs[i].value).elements();
        auto const found = std::find_if(after.outputs.begin(), after.outputs.end(), [&](output const& o) {
            return o.target == after.inputs[i].target;
        });
        if (found == after.outputs.end()) {
            CHECK_MESSAGE(ends_as == starts_as, "seed ", seed, ", input ", i);
            continue;
        }
        auto const at = static_cast<std::size_t>(found - after.outputs.begin());
        value_index const last = after.main.outputs[at].tensor;
        CHECK_MESSAGE(ends_as == functional.get(last).elements(), "seed ", seed, ", input ", i);
    }
    return extra;
}

} // namespace

TEST_CASE("random programs compute the same after functionalize()") {
    std::size_t mutated = 0;
    for (unsigned seed = 0; seed != 4000; ++seed) mutated += compare(seed);
    CHECK(mutated > 4000);
}
