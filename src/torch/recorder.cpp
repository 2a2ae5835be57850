// SPDX-License-Identifier: MIT
#include "recorder.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/nn/modules/activation.h>

#include <aton/aten/schema_table.hpp>
#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::torch {

namespace {

thread_local recorder* current = nullptr;

/// Whether an operator gives numbers that depend on the elements of its arguments.
bool reads_elements(c10::FunctionSchema const& schema) {
    static constexpr std::string_view known[] = {
        "aten::item", "aten::_local_scalar_dense", "aten::is_nonzero", "aten::equal", "aten::allclose"};
    if (std::find(std::begin(known), std::end(known), schema.name()) != std::end(known)) return true;
    auto const op = c10::Dispatcher::singleton().findOp(schema.operator_name());
    if (!op || !op->hasTag(at::Tag::data_dependent_output)) return false;
    return std::none_of(schema.returns().begin(), schema.returns().end(), [](c10::Argument const& r) {
        return r.type()->isSubtypeOf(*c10::TensorType::get());
    });
}

bool is_random(c10::FunctionSchema const& schema) {
    auto const op = c10::Dispatcher::singleton().findOp(schema.operator_name());
    return op && op->hasTag(at::Tag::nondeterministic_seeded);
}

/// Whether an argument is the default of its schema. Tensors have no default but None.
bool is_default(c10::IValue const& v, c10::Argument const& formal) {
    if (!formal.default_value()) return false;
    c10::IValue const& d = *formal.default_value();
    if (v.isNone() || d.isNone()) return v.isNone() && d.isNone();
    if (v.isBool() && d.isBool()) return v.toBool() == d.toBool();
    if (v.isInt() && d.isInt()) return v.toInt() == d.toInt();
    if (v.isDouble() && d.isDouble()) return v.toDouble() == d.toDouble();
    if (v.isIntList() && d.isIntList()) return v.toIntVector() == d.toIntVector();
    if (v.isString() && d.isString()) return v.toStringRef() == d.toStringRef();
    return false;
}

} // namespace

bool leaves_blank(std::string_view op) { return op.starts_with("aten::empty") || op.starts_with("aten::new_empty"); }

void fill_blank(at::Tensor const& t) {
    if (t.device().is_cpu() && storage_of(t) != nullptr && t.storage().nbytes() != 0)
        std::memset(t.storage().mutable_data(), blank_byte, t.storage().nbytes());
}

std::string first_line(std::string_view text) {
    std::string out(text.substr(0, text.find('\n')));
    if (out.size() > 300) out.resize(300);
    return out;
}

weight_names weights_of(::torch::nn::Module const* module) {
    weight_names out;
    if (module == nullptr) return out;
    auto const add = [&](auto const& all, program::input_kind kind) {
        for (auto const& each : all)
            if (each.value().defined())
                out.try_emplace(each.value().unsafeGetTensorImpl(), named_weight{each.key(), kind, each.value()});
    };
    add(module->named_parameters(), program::input_kind::parameter);
    add(module->named_buffers(), program::input_kind::buffer);
    return out;
}

bool has_attention(::torch::nn::Module const* module) {
    if (module == nullptr) return false;
    if (dynamic_cast<::torch::nn::MultiheadAttentionImpl const*>(module) != nullptr) return true;
    for (auto const& each : module->children())
        if (has_attention(each.get())) return true;
    return false;
}

recorder::recorder(weight_names const& weights, std::string const& file, bool has_attention, bool only_outputs)
    : names_(weights),
      has_attention_(has_attention),
      only_outputs_(only_outputs) {
    out_.listing.file = file;
    out_.listing.origins.emplace_back();
    if (current != nullptr)
        throw error(out_.listing.file + ": is recorded while another module is: this is not supported");
    handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(&on_start, &on_end)
                                             .needsInputs(true)
                                             .needsOutputs(true)
                                             .scopes({at::RecordScope::FUNCTION}));
    current = this;
}

recorder::~recorder() {
    at::removeCallback(handle_);
    current = nullptr;
}

/// Only the first problem is kept: what follows may follow from it.
void recorder::fail(std::string const& what) {
    if (problem_.empty()) problem_ = what;
}

/// Callbacks must not throw. The ranges of RECORD_FUNCTION, which have a name and no schema, are not calls.
std::unique_ptr<at::ObserverContext> recorder::on_start(at::RecordFunction const& f) {
    struct inside : at::ObserverContext {};
    if (current == nullptr) return nullptr;
    recorder& r = *current;
    if (r.depth_ == 0) {
        std::optional<c10::FunctionSchema> const schema = f.operator_schema();
        if (!schema) return nullptr;
        ++r.depth_; // what start() itself calls is not recorded
        try {
            // The stack of an interpreter may have other values below the arguments.
            std::size_t const count = schema->arguments().size();
            c10::ArrayRef<c10::IValue const> const given = f.inputs();
            r.start(*schema, given.size() > count ? given.slice(given.size() - count) : given);
        } catch (std::exception const& e) {
            r.fail(first_line(e.what()));
        }
    } else {
        ++r.depth_;
    }
    return std::make_unique<inside>();
}

void recorder::on_end(at::RecordFunction const& f, at::ObserverContext* context) {
    if (current == nullptr || context == nullptr) return;
    recorder& r = *current;
    if (r.depth_ == 1) {
        try {
            r.end(f.outputs());
        } catch (std::exception const& e) {
            r.fail(first_line(e.what()));
        }
    }
    --r.depth_;
}

void recorder::start(c10::FunctionSchema const& schema, c10::ArrayRef<c10::IValue const> given) {
    program::node n;
    n.op = schema.name() + (schema.overload_name().empty() ? "" : "." + schema.overload_name());
    n.schema = aten::find_schema(n.op);
    node_.reset();
    is_of_inputs_ = depends_on_inputs(given) || is_random(schema);
    if (reads_elements(schema) && is_of_inputs_ && !is_decided(schema, given))
        return fail("reads the elements of a tensor that depends on the inputs ('" + n.op +
                    "'): a model cannot depend on a "
                    "number that C++ has read; compute with tensors instead" +
                    (schema.name() == "aten::equal" ? ", and give `module` if it has torch's attention" : ""));
    if (given.size() != schema.arguments().size())
        return fail("calls '" + n.op + "' with arguments that cannot be observed");
    for (std::size_t i = 0; i != given.size(); ++i) {
        c10::Argument const& formal = schema.arguments()[i];
        if (is_default(given[i], formal)) continue;
        n.arguments.push_back(argument_of(given[i], formal.real_type()).named(formal.name()));
    }
    for (std::size_t i = 0; i != given.size(); ++i)
        if (c10::AliasInfo const* const alias = schema.arguments()[i].alias_info();
            alias != nullptr && alias->isWrite())
            write(given[i]);
    node_ = std::move(n);
    returns_ = schema.returns().size();
}

/// Whether the result of equal() is known for all inputs. The attention of torch's C++ front end asks whether its arguments are equal, to
/// share a product; it computes the same if they are not.
bool recorder::is_decided(c10::FunctionSchema const& schema, c10::ArrayRef<c10::IValue const> given) const {
    if (schema.name() != "aten::equal") return false;
    at::Tensor const& a = given[0].toTensor();
    at::Tensor const& b = given[1].toTensor();
    return is_same_view(a, b) || a.sizes() != b.sizes() || (has_attention_ && !at::equal(a, b));
}

/// Called before an operator writes to its argument.
void recorder::write(c10::IValue const& given) {
    auto const one = [&](at::Tensor const& t) {
        void const* const memory = storage_of(t);
        if (memory == nullptr) return;
        bool const is_outside = !made_.contains(memory);
        if (is_outside) saved_.save(t);
        if (is_of_inputs_ || is_outside) of_inputs_.insert(memory);
    };
    if (given.isTensor()) one(given.toTensor());
    else if (given.isTensorList())
        for (at::Tensor const& each : given.toTensorVector()) one(each);
}

void recorder::end(std::vector<c10::IValue> const& stack) {
    if (!node_) return;
    program::node n = std::move(*node_);
    node_.reset();
    if (stack.size() < returns_) return; // it threw an exception, which the function has caught
    c10::ArrayRef<c10::IValue> const returned = c10::ArrayRef<c10::IValue>(stack).slice(stack.size() - returns_);
    std::string_view const op = n.op;
    std::string_view name = op.substr(op.find("::") + 2);
    name = name.substr(0, name.find('.'));
    if (leaves_blank(op) && returned.size() == 1 && returned[0].isTensor()) {
        at::Tensor const& t = returned[0].toTensor();
        fill_blank(t);
        alive_.push_back(t);
        n.name = name;
        blanks_.insert_or_assign(t.unsafeGetTensorImpl(), blank{t, std::move(n)});
        return;
    }
    bool has_tensors = false;
    for (c10::IValue const& v : returned) {
        if (is_of_inputs_) mark(v);
        n.results.push_back(result_of(v, name));
        has_tensors = has_tensors || !n.results.back().values.empty();
    }
    bool const writes = returned.empty();
    if (!has_tensors && !writes) return; // only about types and sizes
    n.name = has_tensors && n.results.front().values.size() == 1 && n.results.front().values[0] != program::no_value
                 ? out_.listing.values[n.results.front().values[0]].name
                 : unique_name(name);
    out_.listing.main.nodes.push_back(std::move(n));
}

recording recorder::run(detail::callee const& f, detail::inputs x, export_options const& options) {
    program::program& p = out_.listing;
    for (std::size_t i = 0; i != x.size(); ++i) {
        program::input in;
        in.target = i < options.input_names.size() ? options.input_names[i]
                    : x.size() == 1                ? "input"
                                                   : "input_" + std::to_string(i);
        in.value = add_value(x[i], in.target);
        values_[x[i].unsafeGetTensorImpl()] = in.value;
        if (void const* const memory = storage_of(x[i])) of_inputs_.insert(memory);
        p.main.inputs.push_back(in.value);
        p.inputs.push_back(std::move(in));
        out_.weights.emplace_back();
    }
    ++depth_; // the recorder's own calls are not recorded
    for (auto const& [id, w] : names_)
        if (w.kind == program::input_kind::buffer)
            saved_.save(w.tensor); // batch norms write to them, which no schema says
    --depth_;
    std::string failure;
    try {
        detail::outputs const made = f.call(x);
        ++depth_;
        if (options.output_names.size() > made.size())
            throw error("there are " + std::to_string(options.output_names.size()) + " names of outputs, but " +
                        std::to_string(made.size()) + " outputs");
        for (std::size_t i = 0; i != made.size(); ++i) add_output(made[i], i, made.size(), options);
    } catch (c10::Error const& e) {
        failure = "the module fails: " + first_line(e.what_without_backtrace());
    } catch (error const& e) {
        failure = e.what();
    } catch (std::exception const& e) {
        failure = "the module fails: " + first_line(e.what());
    }
    depth_ = 1;
    saved_.restore();
    if (!problem_.empty() && !only_outputs_) throw error(p.file + ": " + problem_);
    if (!failure.empty()) throw error(p.file + ": " + failure);
    return std::move(out_);
}

void recorder::add_output(detail::output const& out, std::size_t index, std::size_t count,
                          export_options const& options) {
    if (!out.value.defined()) return;
    out_.outputs.push_back(out.value.clone());
    if (only_outputs_) return;
    program::output made;
    made.target = index < options.output_names.size() ? options.output_names[index]
                  : !out.name.empty()                 ? out.name
                  : count == 1                        ? "output"
                                                      : "output_" + std::to_string(index);
    program::value_index const v = value_of(out.value);
    out_.listing.main.outputs.push_back(program::argument::of_tensor(v));
    out_.listing.outputs.push_back(std::move(made));
}

} // namespace ATON_NAMESPACE::torch
