// SPDX-License-Identifier: MIT
// The interpreter of ONNX graphs: plans them once, then runs node by node.
#include <aton/runtime/onnx_model.hpp>

#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/ir/print.hpp>
#include <aton/model_io/operator_body.hpp>

#include "plan.hpp"
#include "runtime/error_boundary.hpp"

namespace ATON_NAMESPACE::runtime {

// Not in an unnamed namespace: onnx_model::state has them.

/// The key of an operator body that ONNX generates.
struct body_key {
    std::vector<graph_node const*> calls; ///< the call, and calls of functions that provide its attributes
    std::string types;

    friend auto operator<=>(body_key const&, body_key const&) = default;
};

struct operator_plan;

/// Operator bodies of one graph that ONNX generates; bounded, since sizes may change at each call.
struct body_cache {
    static constexpr std::size_t max_bodies = 256;

    std::mutex mutex;
    std::map<body_key, std::shared_ptr<operator_plan>> all;
};

struct operator_plan {
    graph_data graph;
    graph_plan plan;
    body_cache inner; ///< for the operators inside
};

namespace {

using onnx_kernels::call;

value_type type_of(value const& v) {
    value_type t;
    if (v.is_tensor()) {
        t.dtype = v.one().dtype();
        t.shape = shape(v.one().sizes());
    } else if (v.is_sequence()) {
        t.kind = value_kind::sequence;
        t.dtype = v.many().empty() ? dtype::float32 : v.many().front().dtype();
    }
    return t;
}

/// Checks kind and dtype of an input; nodes check sizes.
void require_type(graph_value const& input, value const& given) {
    auto const refuse = [&](std::string const& what) { throw error("input '" + input.name + "' " + what); };
    value_type const& t = input.type;
    bool const optional = t.kind == value_kind::optional_tensor || t.kind == value_kind::optional_sequence;
    bool const sequence = t.kind == value_kind::sequence || t.kind == value_kind::optional_sequence;
    if (!given) {
        if (!optional) refuse("is missing");
        return;
    }
    if (t.dtype == dtype::undefined) return; // the type has no representation here
    if (given.is_sequence() != sequence) refuse(sequence ? "is not a sequence" : "is a sequence, expected a tensor");
    auto const check = [&](tensor const& one) {
        if (one.dtype() != t.dtype)
            refuse("is " + std::string(name(one.dtype())) + ", expected " + std::string(name(t.dtype)));
    };
    if (!sequence) return check(given.one());
    for (tensor const& one : given.many()) check(one);
}

} // namespace

struct onnx_model::state {
    state(graph_data of, onnx_options with)
        : graph(std::move(of)),
          options(std::move(with)),
          functions(graph.functions, options.where),
          plan(functions.plan(graph, false)) {}

    graph_data graph;
    onnx_options options;
    planner functions;
    graph_plan plan;
    mutable body_cache bodies;
};

/// The state that all graphs of a run share.
struct onnx_model::run_state {
    onnx_options const& options;
    std::uint64_t seed = 0;
    opset_range& same;
    std::uint64_t steps = 0;

    void spend(std::uint64_t more) {
        steps += more;
        if (steps > options.max_steps)
            throw step_limit_error("the run takes more than " + std::to_string(options.max_steps) + " steps");
    }
};

/// The execution of one graph: its values, and the enclosing frames.
class onnx_model::frame final : public onnx_kernels::graph_runner {
public:
    frame(run_state& run, body_cache& bodies) : run_(run), bodies_(&bodies) {}

    std::vector<value> execute(graph_plan const& plan, std::vector<value> inputs, onnx_observer const& observer = {}) {
        graph_data const& g = *plan.graph;
        run_.spend(1); // a body may be empty
        values_.assign(g.values.size(), {});
        if (inputs.size() > g.inputs.size())
            throw error("the graph '" + g.name + "' takes " + std::to_string(g.inputs.size()) + " inputs, not " +
                        std::to_string(inputs.size()));
        for (auto const& [id, constant] : plan.constants) values_[id] = constant;
        for (std::size_t i = 0; i != inputs.size(); ++i)
            if (inputs[i]) values_[g.inputs[i]] = std::move(inputs[i]);
        for (std::size_t i = 0; i != g.values.size(); ++i)
            if (g.values[i].outer != no_value) values_[i] = around_->values_[g.values[i].outer];
        for (std::size_t n = 0; n != g.nodes.size(); ++n) run_node(g, g.nodes[n], plan.nodes[n], observer);
        std::vector<value> outputs;
        outputs.reserve(g.outputs.size());
        for (value_id const id : g.outputs) outputs.push_back(id == no_value ? value() : values_[id]);
        return outputs;
    }

    [[nodiscard]] std::vector<value> run(graph_data const& body, std::vector<value> inputs) override {
        // The graph may come from an attribute of a function; then it belongs to the caller and captures values there.
        for (frame* owner = this; owner != nullptr;
             owner = owner->caller_ != nullptr ? owner->calling_ : owner->around_)
            for (auto const& plan : owner->current_->graphs)
                if (plan->graph == &body) {
                    if (run_.options.on_nested_graph) run_.options.on_nested_graph(*owner->node_, body);
                    frame inner(*this, owner->bodies_);
                    inner.around_ = owner;
                    return inner.execute(*plan, std::move(inputs));
                }
        throw error("the graph does not belong to the node");
    }

    [[nodiscard]] node_attribute const* attribute(graph_node const& node, std::string_view name) override {
        node_attribute const* const a = node.attribute(name);
        if (a == nullptr || a->reference.empty()) return a;
        frame const* f = this;
        while (f != nullptr && f->caller_ == nullptr) f = f->around_;
        if (f == nullptr) return nullptr;
        if (node_attribute const* const given = f->calling_->attribute(*f->caller_, a->reference)) return given;
        if (f->function_ == nullptr) return nullptr;
        for (node_attribute const& d : f->function_->defaults)
            if (d.name == a->reference) return &d;
        return nullptr;
    }

    [[nodiscard]] device where() const override { return run_.options.where; }
    [[nodiscard]] std::uint64_t next_seed() override { return run_.seed++; }
    [[nodiscard]] opset_range& same_opsets() override { return run_.same; }

private:
    frame(frame const& outer, body_cache* bodies) : run_(outer.run_), bodies_(bodies), depth_(outer.depth_ + 1) {
        if (depth_ > max_nesting)
            throw error("graphs and functions are nested more than " + std::to_string(max_nesting) + " deep");
    }

    void run_node(graph_data const& g, graph_node const& n, node_plan const& p, onnx_observer const& observer) {
        if (!p.is_done) {
            std::vector<value> inputs;
            inputs.reserve(n.inputs.size());
            for (value_id const id : n.inputs) inputs.push_back(id == no_value ? value() : values_[id]);
            node_ = &n;
            current_ = &p;
            try {
                run_.spend(1);
                for (value const& v : inputs) run_.spend(v.many().size());
                set_outputs(n,
                            p.run != nullptr ? std::move(p.run(call(n, p.opset, std::move(inputs), *this)).values())
                                             : by_body(n, p, std::move(inputs)));
            } catch (step_limit_error const& e) {
                throw step_limit_error(describe(g, n) + ": " + e.what());
            } catch (std::exception const& e) { // such as std::bad_alloc
                throw error(describe(g, n) + ": " + e.what());
            }
        }
        if (observer) show(n, observer);
        for (value_id const id : p.last_uses) values_[id] = {};
    }

    void show(graph_node const& n, onnx_observer const& observer) const {
        std::vector<value> results;
        for (value_id const id : n.outputs) results.push_back(id == no_value ? value() : values_[id]);
        observer(n, results);
    }

    void set_outputs(graph_node const& n, std::vector<value> outputs) {
        if (outputs.size() < n.outputs.size()) outputs.resize(n.outputs.size());
        for (std::size_t i = 0; i != n.outputs.size(); ++i)
            if (n.outputs[i] != no_value) values_[n.outputs[i]] = std::move(outputs[i]);
    }

    std::vector<value> by_body(graph_node const& n, node_plan const& p, std::vector<value> inputs) {
        std::shared_ptr<operator_plan> const onnx = p.function != nullptr ? nullptr : body_of(n, p.opset, inputs);
        if (onnx != nullptr) run_.same.intersect({p.opset, p.opset}); // another opset may have another body
        frame inner(*this, onnx == nullptr ? bodies_ : &onnx->inner);
        inner.caller_ = &n;
        inner.calling_ = this;
        inner.function_ = p.function;
        return inner.execute(onnx == nullptr ? *p.body : onnx->plan, std::move(inputs));
    }

    /// ONNX's function body of an operator for these operands.
    std::shared_ptr<operator_plan> body_of(graph_node const& n, int opset, std::vector<value> const& inputs) {
        body_key key{{&n}, {}};
        std::vector<value_type> types;
        for (value const& v : inputs) {
            types.push_back(type_of(v));
            key.types += to_string(types.back()) + ';';
        }
        graph_node call = n;
        call.attributes.clear();
        bool refers = false;
        for (node_attribute const& a : n.attributes) {
            refers = refers || !a.reference.empty();
            node_attribute const* const given = attribute(n, a.name);
            if (given == nullptr) continue;
            call.attributes.push_back(*given);
            call.attributes.back().name = a.name;
        }
        for (frame const* f = this; refers && f != nullptr; f = f->caller_ != nullptr ? f->calling_ : f->around_)
            if (f->caller_ != nullptr) key.calls.push_back(f->caller_);
        std::lock_guard const lock(bodies_->mutex);
        if (auto const known = bodies_->all.find(key); known != bodies_->all.end()) return known->second;
        auto made = std::make_shared<operator_plan>();
        made->graph = operator_body(call, opset, types);
        made->plan = planner({}, run_.options.where).plan(made->graph, true);
        if (bodies_->all.size() == body_cache::max_bodies) bodies_->all.clear();
        return bodies_->all[std::move(key)] = std::move(made);
    }

    run_state& run_;
    body_cache* bodies_;
    int depth_ = 0;
    frame* around_ = nullptr;            ///< frame of the enclosing graph
    frame* calling_ = nullptr;           ///< in an operator's body: the frame of the call
    graph_node const* caller_ = nullptr; ///< in an operator's body: the call
    graph_function const* function_ = nullptr;
    graph_node const* node_ = nullptr; ///< that runs
    node_plan const* current_ = nullptr;
    std::vector<value> values_;
};

onnx_model::onnx_model(graph_data graph, onnx_options options)
    : state_(with_one_line_errors([&] { return std::make_unique<state>(std::move(graph), std::move(options)); })) {}

onnx_model::onnx_model(onnx_model&&) noexcept = default;
onnx_model& onnx_model::operator=(onnx_model&&) noexcept = default;
onnx_model::~onnx_model() = default;

graph_data const& onnx_model::graph() const { return state_->graph; }

bool has_kernel(std::string_view domain, std::string_view op) {
    return onnx_kernels::find_kernel(domain, op) != nullptr;
}

std::vector<value> onnx_model::run(std::span<value const> inputs, onnx_observer const& observer,
                                   opset_range* same) const {
    opset_range unused;
    return with_one_line_errors([&] { return run_once(inputs, observer, same != nullptr ? *same : unused); });
}

std::vector<value> onnx_model::run_once(std::span<value const> inputs, onnx_observer const& observer,
                                        opset_range& same) const {
    same = state_->functions.same_opsets();
    graph_data const& g = state_->graph;
    std::vector<value> placed;
    for (std::size_t i = 0; i < g.inputs.size(); ++i) {
        value const given = i < inputs.size() ? inputs[i] : value();
        graph_value const& input = g.values[g.inputs[i]];
        if (given || input.initializer < 0) require_type(input, given);
        placed.push_back(to_device(given, state_->options.where));
    }
    for (std::size_t i = g.inputs.size(); i < inputs.size(); ++i) placed.push_back(inputs[i]); // surplus inputs
    run_state run{state_->options, state_->options.seed, same};
    frame outermost(run, state_->bodies);
    return outermost.execute(state_->plan, std::move(placed), observer);
}

} // namespace ATON_NAMESPACE::runtime
