// SPDX-License-Identifier: MIT
#include "part_search.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/runtime/onnx_model.hpp>
#include <aton/verify/comparison.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

runtime::value const* value_in(known_values const& all, std::string const& name) {
    auto const found = all.values.find(name);
    return found == all.values.end() ? nullptr : &found->second;
}

dtype narrowest_of(known_values const& all, std::string const& name) {
    auto const found = all.narrowest.find(name);
    return found == all.narrowest.end() ? dtype::undefined : found->second;
}

std::vector<std::string> names_of(std::vector<backends::named_value> const& all) {
    std::vector<std::string> out;
    for (backends::named_value const& each : all) out.push_back(each.first);
    return out;
}

std::vector<part_value> typed(std::vector<backends::named_value> const& all, bool with_sizes) {
    std::vector<part_value> out;
    for (backends::named_value const& each : all) out.push_back({each.first, type_of(each.second, with_sizes)});
    return out;
}

} // namespace

bool are_identical(runtime::value const& a, runtime::value const& b) {
    if (!a.is_tensor() || !b.is_tensor()) return false;
    aton::tensor const x = runtime::to_device(a, {}).one().to_constant();
    aton::tensor const y = runtime::to_device(b, {}).one().to_constant();
    return x == y;
}

value_type type_of(runtime::value const& v, bool with_sizes) {
    std::vector<dim> dims;
    for (std::int64_t size : v.one().sizes()) dims.push_back(with_sizes ? dim(size) : dim());
    return {v.one().dtype(), shape(dims)};
}

part_search::part_search(model_parts const& model, backends::backend const& other, known_values const& right,
                         bool has_run, std::function<void()> count)
    : model_(model),
      other_(other),
      right_(right),
      has_run_(has_run),
      count_(std::move(count)) {
    std::vector<model_node> const& nodes = model.nodes();
    for (std::size_t i = 0; i != nodes.size(); ++i) {
        for (std::string const& name : nodes[i].inputs) last_uses_[name] = i;
        for (std::string const& name : nodes[i].outputs) producers_.emplace(name, i);
    }
    for (std::string const& name : model.outputs()) last_uses_[name] = nodes.size();
}

std::optional<failing_part> part_search::find() {
    if (std::optional<failing_part> found = among_single_nodes()) return found;
    return among_runs_of_nodes();
}

std::optional<part_search::tested_part> part_search::cut(indices const& nodes, known_values const& from) const {
    tested_part out;
    auto const is_inside = [&](std::size_t node) { return std::ranges::binary_search(nodes, node); };
    auto const add = [&](std::vector<backends::named_value>& to, std::string const& name) {
        if (std::ranges::find(to, name, &backends::named_value::first) != to.end()) return true;
        runtime::value const* const v = value_in(from, name);
        if (v == nullptr || !v->is_tensor()) return false;
        to.emplace_back(name, *v);
        return true;
    };
    for (std::size_t const i : nodes)
        for (std::string const& name : model_.nodes()[i].inputs) {
            auto const producer = producers_.find(name);
            bool const is_own = producer != producers_.end() && is_inside(producer->second);
            if (!is_own && !model_.is_constant(name) && !add(out.inputs, name)) return {};
        }
    for (std::size_t const i : nodes)
        for (std::string const& name : model_.nodes()[i].outputs) {
            auto const last = last_uses_.find(name);
            if (last == last_uses_.end()) continue;
            bool is_read_outside = last->second == model_.nodes().size() || !is_inside(last->second);
            for (std::size_t k = i + 1; k < last->second && !is_read_outside; ++k)
                is_read_outside = !is_inside(k) &&
                                  std::ranges::find(model_.nodes()[k].inputs, name) != model_.nodes()[k].inputs.end();
            if (is_read_outside && !add(out.expected, name)) return {};
        }
    if (out.expected.empty()) return {};
    out.model = model_.part(nodes, typed(out.inputs, true), typed(out.expected, false));
    return out;
}

void part_search::test(tested_part& part, std::size_t nodes) const {
    count_();
    std::vector<runtime::value> got;
    try {
        got = other_.run(part.model, part.inputs, names_of(part.expected));
    } catch (backends::run_error const& e) {
        part.ran = false;
        part.why = e.what();
        return;
    }
    for (std::size_t i = 0; i != part.expected.size(); ++i) {
        std::string const& name = part.expected[i].first;
        comparison const c = compare(got.at(i), part.expected[i].second, terms_of(nodes), narrowest_of(right_, name));
        if (!c.same() && part.why.empty()) {
            part.value = name;
            part.why = to_string(c);
        }
        part.got.emplace_back(name, got[i]);
    }
}

std::optional<part_search::tested_part> part_search::failing(indices const& nodes, known_values const& from) const {
    std::optional<tested_part> part = cut(nodes, from);
    if (!part) return {};
    test(*part, nodes.size());
    if (part->why.empty() || part->ran != has_run_) return {};
    return part;
}

std::optional<known_values> part_search::exposed() const {
    std::vector<part_value> added;
    std::vector<std::string> names;
    for (model_node const& n : model_.nodes())
        for (std::string const& name : n.outputs) {
            runtime::value const* const v = value_in(right_, name);
            if (v == nullptr || !v->is_tensor()) continue;
            names.push_back(name);
            if (std::ranges::find(model_.outputs(), name) == model_.outputs().end())
                added.push_back({name, type_of(*v, false)});
        }
    known_values out;
    std::vector<backends::named_value> inputs;
    for (part_value const& in : model_.inputs())
        if (runtime::value const* const v = value_in(right_, in.name)) {
            inputs.emplace_back(in.name, *v);
            out.values.emplace(in.name, *v);
        }
    count_();
    try {
        std::vector<runtime::value> got = other_.run(model_.with_outputs(added), inputs, names);
        for (std::size_t i = 0; i != names.size(); ++i) out.values.emplace(names[i], std::move(got.at(i)));
    } catch (backends::run_error const&) {
        return {};
    }
    return out;
}

std::optional<known_values> part_search::recomputed(std::size_t node, known_values const& theirs) const {
    model_node const& n = model_.nodes()[node];
    bool const is_same_before = std::ranges::all_of(n.inputs, [&](std::string const& name) {
        runtime::value const* const a = value_in(theirs, name);
        runtime::value const* const b = value_in(right_, name);
        return model_.is_constant(name) || (a != nullptr && b != nullptr && are_identical(*a, *b));
    });
    if (is_same_before) return right_;
    std::optional<tested_part> const part = cut({node}, theirs);
    if (!part) return {};
    try {
        runtime::onnx_model const model(parse_model(part->model).graph);
        std::vector<runtime::value> inputs;
        for (value_id const id : model.graph().inputs) {
            runtime::value const* const v = value_in(theirs, model.graph().values[id].name);
            inputs.push_back(v == nullptr ? runtime::value() : *v);
        }
        std::vector<runtime::value> got = model.run(inputs);
        known_values out;
        for (std::size_t i = 0; i != got.size(); ++i) out.values.emplace(part->expected[i].first, std::move(got[i]));
        return out;
    } catch (error const&) {
        return {}; // Aton's runtime refuses the other's values
    }
}

std::vector<bool> part_search::suspects(known_values const& theirs) const {
    std::vector<model_node> const& nodes = model_.nodes();
    std::vector<bool> out(nodes.size());
    auto const suspect = [&](std::string const& name) {
        if (auto const found = producers_.find(name); found != producers_.end()) out[found->second] = true;
    };
    for (std::string const& name : model_.outputs()) {
        runtime::value const* const a = value_in(theirs, name);
        runtime::value const* const b = value_in(right_, name);
        if (a == nullptr || b == nullptr || !compare(*a, *b, terms_of(nodes.size()), narrowest_of(right_, name)).same())
            suspect(name);
    }
    for (std::size_t i = nodes.size(); i-- != 0;)
        if (out[i])
            for (std::string const& name : nodes[i].inputs) suspect(name);
    return out;
}

std::optional<failing_part> part_search::among_single_nodes() {
    if (!has_run_) return {};
    std::optional<known_values> const theirs = exposed();
    if (!theirs) return {};
    std::vector<bool> const suspected = suspects(*theirs);
    for (std::size_t i = 0; i != model_.nodes().size(); ++i) {
        if (!suspected[i]) continue;
        std::optional<known_values> const ours = recomputed(i, *theirs);
        if (!ours) continue;
        for (std::string const& name : model_.nodes()[i].outputs) {
            runtime::value const* const a = value_in(*theirs, name);
            runtime::value const* const b = value_in(*ours, name);
            if (a == nullptr || b == nullptr || !b->is_tensor()) continue;
            if (compare(*a, *b, terms_of(1), narrowest_of(right_, name)).same()) continue;
            known_values at = *theirs; // the operands are theirs, and the results Aton's on these
            for (auto const& [value_name, v] : ours->values)
                if (producers_.contains(value_name) && producers_.at(value_name) == i) at.values[value_name] = v;
            if (std::optional<tested_part> part = failing({i}, at)) return report({i}, std::move(*part));
            break;
        }
    }
    return {};
}

std::optional<failing_part> part_search::among_runs_of_nodes() {
    indices nodes(model_.nodes().size());
    std::iota(nodes.begin(), nodes.end(), std::size_t{0});
    auto const range = [&](std::size_t first, std::size_t last) {
        return indices(nodes.begin() + static_cast<std::ptrdiff_t>(first),
                       nodes.begin() + static_cast<std::ptrdiff_t>(last));
    };
    std::optional<tested_part> best = failing(nodes, right_);
    if (!best) return {};
    std::size_t last = nodes.size(); // a run of nodes up to here fails, and one up to `good` does not
    for (std::size_t good = 0; good + 1 < last;) {
        std::size_t const middle = good + (last - good) / 2;
        if (std::optional<tested_part> found = failing(range(0, middle), right_)) {
            best = std::move(found);
            last = middle;
        } else {
            good = middle;
        }
    }
    std::size_t first = 0;
    for (std::size_t good = last; first + 1 < good;) {
        std::size_t const middle = first + (good - first) / 2;
        if (std::optional<tested_part> found = failing(range(middle, last), right_)) {
            best = std::move(found);
            first = middle;
        } else {
            good = middle;
        }
    }
    indices const smallest = without_idle_nodes(range(first, last));
    if (smallest.size() != last - first) best = failing(smallest, right_);
    if (!best) return {};
    return report(smallest, std::move(*best));
}

part_search::indices part_search::without_idle_nodes(indices nodes) const {
    constexpr std::size_t max_tried = 64;
    if (nodes.size() > max_tried) return nodes;
    for (std::size_t i = 0; i < nodes.size() && nodes.size() > 1;) {
        indices fewer = nodes;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        if (failing(fewer, right_)) nodes = std::move(fewer);
        else ++i;
    }
    return nodes;
}

std::size_t part_search::producer_of(std::string const& name) const {
    auto const found = producers_.find(name);
    return found == producers_.end() ? model_.nodes().size() : found->second;
}

failing_part part_search::report(indices const& nodes, tested_part part) const {
    failing_part out;
    for (std::size_t const i : nodes) out.nodes.push_back(place_of(model_.nodes(), i));
    out.culprit = part.value.empty() ? out.nodes.back() : place_of(model_.nodes(), producer_of(part.value));
    out.value = std::move(part.value);
    out.why = std::move(part.why);
    out.model = std::move(part.model);
    out.inputs = std::move(part.inputs);
    out.expected = std::move(part.expected);
    out.got = std::move(part.got);
    return out;
}

} // namespace ATON_NAMESPACE::verify
