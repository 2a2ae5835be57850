// SPDX-License-Identifier: MIT
#include "interpreter.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "frontend/files/text.hpp"
#include "made_code.hpp"
#include "name_weights.hpp"
#include "program_outputs.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;

constexpr int max_calls = 200;

/// Counts a call while it runs, also if an exception of the module ends it.
class running_call {
public:
    explicit running_call(int& depth) : depth_(depth) { ++depth_; }
    running_call(running_call const&) = delete;
    running_call& operator=(running_call const&) = delete;
    ~running_call() { --depth_; }

private:
    int& depth_;
};

bool is_raise(expr const& e) {
    return e.is == expr_kind::call && e.items[0].is == expr_kind::attribute && e.items[0].text == "RaiseException";
}

/// Whether a block does nothing but raise an exception.
bool only_raises(std::vector<stmt> const& block) {
    for (stmt const& s : block) {
        if (s.is == stmt_kind::expression && is_raise(s.value)) return true;
        if (s.is == stmt_kind::if_ && only_raises(s.body) && only_raises(s.other)) return true;
        if (s.is != stmt_kind::assign && s.is != stmt_kind::pass) return false;
    }
    return false;
}

} // namespace

interpreter::interpreter(library& code, read_options const& options, state_before before)
    : code_(code),
      options_(options),
      attributes_(std::move(before), code.path(), build_, types_, values_, inputs_, heap_, at_) {
    out_.file = code.path();
    out_.name = "model";
    out_.origins.emplace_back();
}

flow interpreter::run_block(std::vector<stmt> const& block) {
    for (stmt const& s : block)
        if (run_statement(s) == flow::returned) return flow::returned;
    return flow::next;
}

flow interpreter::run_statement(stmt const& s) {
    at_.spend(1);
    at_.go_to(s);
    switch (s.is) {
    case stmt_kind::pass: return flow::next;
    case stmt_kind::assign: {
        value const v = evaluate(s.value);
        if (s.value.line != 0) at_.go_to(s.value); // archives record its place, not that of the statement
        assign(s.targets, v);
        return flow::next;
    }
    case stmt_kind::expression: (void)evaluate(s.value); return flow::next;
    case stmt_kind::if_: return run_if(s);
    case stmt_kind::while_: return run_while(s);
    case stmt_kind::for_: return run_for(s);
    case stmt_kind::with_: return run_with(s);
    case stmt_kind::def_: at_.current()->closures[s.targets.at(0).text] = &s; return flow::next;
    case stmt_kind::return_: at_.current()->result = evaluate(s.value); return flow::returned;
    }
    return flow::next;
}

flow interpreter::run_if(stmt const& s) {
    value const condition = evaluate(s.value);
    std::optional<bool> holds = values_.decide(condition);
    if (!holds && (only_raises(s.body) || only_raises(s.other))) {
        holds = !only_raises(s.body);
        build_.drop("ops.prim.RaiseException");
    }
    if (!holds) return run_cond(s, condition);
    return run_block(*holds ? s.body : s.other);
}

/// An `if` whose condition depends on data.
flow interpreter::run_cond(stmt const& s, value const& condition) {
    auto const branch = [&](std::vector<stmt> const& block) {
        return parts_.interpret_branch([&] {
            if (run_block(block) == flow::returned) at_.fail("returns inside a branch that depends on data");
            return value{};
        });
    };
    std::optional<part> holds = branch(s.body);
    std::optional<part> fails = branch(s.other);
    at_.go_to(s);
    if (!holds || !fails) { // as a branch that only raises is
        build_.drop("ops.prim.RaiseException");
        return run_block(holds ? s.body : s.other);
    }
    (void)branches_.join(condition, *holds, *fails);
    return flow::next;
}

flow interpreter::run_while(stmt const& s) {
    for (;;) {
        at_.go_to(s);
        at_.spend(1);
        value const condition = evaluate(s.value);
        std::optional<bool> const holds = values_.decide(condition);
        if (!holds || (*holds && condition.is_from_tensor())) {
            loops_.run(s);
            return flow::next;
        }
        if (!*holds) return flow::next;
        if (run_block(s.body) == flow::returned) return flow::returned;
    }
}

flow interpreter::run_for(stmt const& s) {
    if (std::optional<value> const count = open_count(s.value)) {
        run_counted_loop(s, *count);
        return flow::next;
    }
    value const over = evaluate(s.value);
    if (over.is() != kind::list && over.is() != kind::tuple)
        at_.fail("loops over " + std::string(describe(over)) + ", which is not supported");
    std::vector<value> const items = over.list()->items;
    for (value const& each : items) {
        at_.go_to(s);
        at_.spend(1);
        assign(s.targets, each);
        if (run_block(s.body) == flow::returned) return flow::returned;
    }
    return flow::next;
}

/// The count of `range(count)` if the model computes it.
std::optional<value> interpreter::open_count(expr const& over) {
    bool const is_range = over.is == expr_kind::call && over.items[0].is == expr_kind::name &&
                          over.items[0].text == "range" && over.items.size() == 2;
    if (!is_range) return {};
    value const count = evaluate(over.items[1]);
    return count.is() == kind::symbol || count.is_from_tensor() ? std::optional(count) : std::nullopt;
}

void interpreter::run_counted_loop(stmt const& s, value const& count) {
    std::string const number = std::to_string(made_.size());
    stmt const& loop = made_.emplace_back(counted_loop(s, "#counter" + number, "#end" + number));
    at_.current()->variables[loop.value.items[1].text] = value::of(std::int64_t{0});
    at_.current()->variables[loop.value.items[2].text] = count;
    loops_.run(loop, count);
}

void interpreter::assign(std::vector<expr> const& targets, value const& v) {
    auto const assign_one = [&](expr const& target, value const& each) {
        if (target.is == expr_kind::name) at_.current()->variables[target.text] = each;
        else if (target.is == expr_kind::attribute) assign_attribute(target, each);
        else at_.fail("assigns to an expression that is neither a variable nor an attribute");
    };
    if (targets.size() == 1 && targets[0].is != expr_kind::tuple) return assign_one(targets[0], v);
    std::vector<expr> const& names = targets.size() == 1 ? targets[0].items : targets;
    if (std::optional<std::vector<value>> const items = open_lists_.unpacked(v, names.size())) {
        for (std::size_t i = 0; i != names.size(); ++i) assign_one(names[i], (*items)[i]);
        return;
    }
    if (v.is() != kind::tuple && v.is() != kind::list)
        at_.fail("unpacks " + std::string(describe(v)) + ", which is not a tuple");
    if (v.list()->items.size() != names.size())
        at_.fail("unpacks " + std::to_string(v.list()->items.size()) + " values into " + std::to_string(names.size()) +
                 " variables");
    std::vector<value> const items = v.list()->items;
    for (std::size_t i = 0; i != names.size(); ++i) assign_one(names[i], items[i]);
}

void interpreter::assign_attribute(expr const& target, value const& v) {
    code_place const place = at_.place();
    value const owner = evaluate(target.items[0]);
    at_.go_to(place); // that of the new value
    if (owner.is() != kind::object) at_.fail("assigns an attribute of " + std::string(describe(owner)));
    attributes_.set(*owner.object(), target.text, v);
}

value interpreter::call_function(function_code const& f, call_arguments given) {
    running_call const running(depth_);
    if (depth_ > max_calls)
        at_.fail("calls are nested more than 200 levels deep: " + in_quotes(f.name) + " calls itself");
    frame inner;
    inner.function = &f;
    inner.made = heap_.made;
    if (at_.current() != nullptr) {
        inner.module = at_.current()->module;
        inner.module_type = at_.current()->module_type;
    }
    if (given.positional.size() > f.parameters().size())
        at_.fail(in_quotes(f.name) + " has " + std::to_string(f.parameters().size()) + " arguments, but gets " +
                 std::to_string(given.positional.size()));
    std::size_t const positional = given.positional.size();
    if (positional != 0 && given.positional[0].is() == kind::object && !f.parameters().empty() &&
        given.positional[0].object()->is_loaded) {
        inner.module = given.positional[0].object()->path;
        inner.module_type = given.positional[0].object()->class_name;
    }
    for (std::size_t i = 0; i != positional; ++i)
        inner.variables[f.parameters()[i].name] = std::move(given.positional[i]);
    for (auto& [name, each] : given.named) {
        auto const found = std::find_if(
            f.parameters().begin(), f.parameters().end(), [&](parameter const& p) { return p.name == name; });
        if (found == f.parameters().end()) at_.fail(in_quotes(f.name) + " has no argument " + in_quotes(name));
        inner.variables[found->name] = std::move(each);
    }
    for (parameter const& p : f.parameters()) {
        if (inner.variables.contains(p.name)) continue;
        if (!p.fallback) at_.fail(in_quotes(f.name) + " gets no argument " + in_quotes(p.name));
        inner.variables[p.name] = evaluate(*p.fallback);
    }
    code_place const place = at_.place();
    frame* const outer = at_.enter(&inner);
    (void)run_block(f.body());
    (void)at_.enter(outer);
    at_.go_to(place);
    return inner.result;
}

value interpreter::call_method(value const& object, std::string const& name, std::vector<value> given) {
    value const method = lookup_.attribute_of(object, name);
    if (method.is() != kind::function) at_.fail("the attribute " + in_quotes(name) + " is not a method");
    given.insert(given.begin(), object);
    return call_function(*method.function(), {std::move(given), {}});
}

/// `with value as target: body`. What the class of the value does before and after the body is code of the archive.
flow interpreter::run_with(stmt const& s) {
    value const context = evaluate(s.value);
    value const entered = call_method(context, "__enter__", {});
    if (!s.targets.empty()) assign(s.targets, entered);
    dtype const outside = autocast_.enter(context);
    flow const out = run_block(s.body);
    autocast_.leave(outside);
    at_.go_to(s);
    (void)call_method(context, "__exit__", {{}, {}, {}});
    return out;
}

value interpreter::construct(class_code const& type, call_arguments given) {
    if (type.base == "NamedTuple") {
        std::size_t fields = 0;
        for (class_attribute const& each : type.attributes) fields += each.type ? 1 : 0;
        for (auto& [name, each] : given.named) given.positional.push_back(std::move(each));
        if (given.positional.size() != fields)
            at_.fail(in_quotes(type.name) + " has " + std::to_string(fields) + " fields, but gets " +
                     std::to_string(given.positional.size()) + " values");
        value made = heap_.tuple(std::move(given.positional));
        made.list()->fields = &type;
        return made;
    }
    value made = heap_.object(type.qualified);
    made.object()->type = &type;
    for (function_code const& f : type.methods) {
        if (f.name != "__init__") continue;
        given.positional.insert(given.positional.begin(), made);
        (void)call_function(f, std::move(given));
        return made;
    }
    if (given.size() != 0) at_.fail("the class " + in_quotes(type.name) + " has no __init__");
    return made;
}

program::program interpreter::run() {
    value const module = code_.read_module(heap_);
    if (module.is() != kind::object) at_.fail("data.pkl has no module, but " + std::string(describe(module)));
    lookup_.set_constants(code_.read_constants(heap_));
    name_weights(module, code_, heap_, at_);
    quantized_.restore_states();
    function_code const* forward = nullptr;
    if (module.object()->type != nullptr)
        for (function_code const& f : module.object()->type->methods)
            if (f.name == "forward") forward = &f;
    if (forward == nullptr) at_.fail("the module has no method forward");
    call_arguments given = inputs_.make(*forward, module);
    attributes_.set_initial();
    value const result = call_function(*forward, std::move(given));
    quantized_.expect_plain(result);
    add_output(result, build_, values_, at_);
    attributes_.add_outputs();
    if (out_.outputs.empty()) at_.fail("forward returns nothing");
    return std::move(out_);
}

} // namespace ATON_NAMESPACE::torchscript
