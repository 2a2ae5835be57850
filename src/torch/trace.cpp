// SPDX-License-Identifier: MIT
// Runs a module several times, at different sizes and with different elements, and exports the program that the runs have in common.
#include <aton/torch.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <aton/aten/scalar_type.hpp>
#include <aton/core/error.hpp>

#include "recorder.hpp"
#include "replay.hpp"
#include "unify.hpp"

namespace ATON_NAMESPACE::torch {

namespace {

/// The random numbers of the caller do not change because a module is recorded.
class kept_generator {
public:
    kept_generator() : generator_(at::detail::getDefaultCPUGenerator()), state_(generator_.get_state()) {}
    kept_generator(kept_generator const&) = delete;
    kept_generator& operator=(kept_generator const&) = delete;
    ~kept_generator() {
        try {
            reset();
        } catch (std::exception const&) { // NOLINT(bugprone-empty-catch): it is the state that it had
        }
    }
    void reset() { generator_.set_state(state_); }

private:
    at::Generator generator_;
    at::Tensor state_;
};

std::string name_of(detail::callee const& f, export_options const& options) {
    ::torch::nn::Module const* const module = f.module != nullptr ? f.module : options.module;
    return f.module == nullptr || module->name().empty() ? "function" : module->name();
}

/// A dynamic dimension by its name, with its sizes in the runs.
struct dynamic_size {
    std::string name;
    std::vector<std::int64_t> values;
};

struct axis_of_input {
    std::size_t input = 0;
    std::int64_t axis = 0;
    std::size_t size = 0; ///< index into the dynamic sizes
};

class plan {
public:
    plan(std::string file, detail::inputs const& x, export_options const& options)
        : file_(std::move(file)),
          inputs_(x),
          options_(options) {
        if (x.size() > detail::max_inputs) detail::fail_arity(x.size());
        if (options.input_names.size() > x.size())
            throw error(file_ + ": there are " + std::to_string(options.input_names.size()) + " names of inputs, but " +
                        std::to_string(x.size()) + " inputs");
        for (at::Tensor const& each : x)
            if (!each.defined())
                throw error(file_ +
                            ": an input is an undefined tensor; leave it out in a function that calls the module");
        for (dim_name const& each : options.dims) add(each);
        for (auto const& [name, values] : options.sizes)
            if (std::none_of(sizes_.begin(), sizes_.end(), [&](dynamic_size const& s) { return s.name == name; }))
                throw error(file_ + ": there are sizes for '" + name + "', which names no dimension in `dims`");
        if (options.examples.empty()) choose_sizes();
        else check_examples();
    }

    /// The inputs of each run.
    [[nodiscard]] std::vector<detail::inputs> runs() const {
        std::vector<detail::inputs> out;
        if (!options_.examples.empty()) {
            out.push_back(copies(inputs_));
            for (detail::inputs const& each : options_.examples) out.push_back(copies(each));
            return out;
        }
        std::size_t const count = sizes_.empty() ? 2 : sizes_[0].values.size();
        for (std::size_t run = 0; run != count; ++run) out.push_back(inputs_of(run));
        return out;
    }

    /// ", at batch=9"
    [[nodiscard]] std::string sizes_text(std::size_t run) const {
        std::string out;
        for (dynamic_size const& s : sizes_)
            if (run < s.values.size())
                out += (out.empty() ? " at " : ", ") + s.name + "=" + std::to_string(s.values[run]);
        return out;
    }

private:
    [[nodiscard]] std::string input_name(std::size_t i) const {
        return i < options_.input_names.size() ? options_.input_names[i]
               : inputs_.size() == 1           ? "input"
                                               : "input_" + std::to_string(i);
    }

    void add(dim_name const& d) {
        std::size_t i = 0;
        while (i != inputs_.size() && input_name(i) != d.input) ++i;
        if (i == inputs_.size()) {
            std::string known;
            for (std::size_t k = 0; k != inputs_.size(); ++k) known += (k == 0 ? "" : ", ") + input_name(k);
            throw error(file_ + ": cannot name a dimension: there is no input '" + d.input +
                        "'; the inputs are: " + known);
        }
        std::string const where = file_ + ": dimension " + std::to_string(d.axis) + " of input '" + d.input + "'";
        std::int64_t const rank = inputs_[i].dim();
        if (d.axis < -rank || d.axis >= rank)
            throw error(where + " does not exist: the input has rank " + std::to_string(rank));
        std::int64_t const axis = d.axis < 0 ? d.axis + rank : d.axis;
        std::int64_t const size = inputs_[i].size(axis);
        if (size == 0) throw error(where + " is empty in the example; give an example with elements");
        for (axis_of_input const& known : axes_)
            if (known.input == i && known.axis == axis) throw error(where + " has two names");
        auto found =
            std::find_if(sizes_.begin(), sizes_.end(), [&](dynamic_size const& s) { return s.name == d.name; });
        if (found == sizes_.end()) found = sizes_.insert(sizes_.end(), {d.name, {size}});
        else if (found->values[0] != size)
            throw error(where + " is " + std::to_string(size) + " in the example, but another dimension named '" +
                        d.name + "' is " + std::to_string(found->values[0]));
        axes_.push_back({i, axis, static_cast<std::size_t>(found - sizes_.begin())});
    }

    /// Sizes with different differences for each dimension, so that no two of them look related. A size of 1 is not run: it broadcasts.
    void choose_sizes() {
        std::size_t const count = sizes_.size() > 1 ? 4 : 3;
        for (std::size_t i = 0; i != sizes_.size(); ++i) {
            std::vector<std::int64_t>& values = sizes_[i].values;
            std::int64_t const n = values[0];
            auto const shift = static_cast<std::int64_t>(i);
            if (auto const given = options_.sizes.find(sizes_[i].name); given != options_.sizes.end()) {
                values = given->second;
                std::set<std::int64_t> const different(values.begin(), values.end());
                if (different.size() < 3 || different.size() != values.size() || *different.begin() < 2)
                    throw error(file_ + ": the sizes of '" + sizes_[i].name +
                                "' must be at least 3 different numbers that are at least 2");
                continue;
            }
            values = {n, n + 1 + shift, 2 * n + 3, 3 * n + 5 + shift * shift};
            if (n < 2) values.erase(values.begin());
            values.resize(n < 2 ? 3 : count);
        }
        if (sizes_.empty()) return;
        std::size_t most = 0;
        for (dynamic_size const& s : sizes_) most = std::max(most, s.values.size());
        for (dynamic_size& s : sizes_)
            for (std::size_t k = 0; s.values.size() < most; ++k) s.values.push_back(s.values[k]);
    }

    void check_examples() {
        if (!options_.sizes.empty()) throw error(file_ + ": give either sizes or examples, not both");
        if (!sizes_.empty() && options_.examples.size() < 2)
            throw error(file_ + ": dynamic dimensions need at least 2 more examples, at different sizes");
        for (detail::inputs const& example : options_.examples) {
            if (example.size() != inputs_.size())
                throw error(file_ + ": an example has " + std::to_string(example.size()) + " inputs instead of " +
                            std::to_string(inputs_.size()));
            for (std::size_t i = 0; i != example.size(); ++i)
                if (!example[i].defined() || example[i].dim() != inputs_[i].dim() ||
                    example[i].scalar_type() != inputs_[i].scalar_type())
                    throw error(file_ + ": an example of '" + input_name(i) +
                                "' has another rank or dtype than the first one");
            for (axis_of_input const& a : axes_) {
                std::vector<std::int64_t>& values = sizes_[a.size].values;
                auto const run = static_cast<std::size_t>(&example - options_.examples.data()) + 1;
                std::int64_t const size = example[a.input].size(a.axis);
                if (values.size() == run) values.push_back(size);
                else if (values[run] != size)
                    throw error(file_ + ": an example has two sizes for '" + sizes_[a.size].name + "'");
            }
        }
        for (dynamic_size const& s : sizes_)
            if (std::set<std::int64_t>(s.values.begin(), s.values.end()).size() < 3)
                throw error(file_ + ": the examples must have at least 3 different sizes of '" + s.name + "'");
    }

    [[nodiscard]] detail::inputs inputs_of(std::size_t run) const {
        at::NoGradGuard const no_gradients;
        detail::inputs out = copies(inputs_);
        for (axis_of_input const& a : axes_) {
            at::Tensor& x = out[a.input];
            std::int64_t const old = x.size(a.axis);
            std::int64_t const wanted = sizes_[a.size].values[run];
            if (wanted != old)
                x = x.index_select(a.axis,
                                   at::arange(wanted, at::TensorOptions(at::kLong).device(x.device())).remainder(old));
        }
        // Other elements, from the same ones: integers and bools may be indices or lengths and stay in their order.
        if (run != 0)
            for (at::Tensor& x : out)
                if (x.is_floating_point() && x.numel() > 1 && x.layout() == at::kStrided) {
                    at::Tensor const order = at::arange(x.numel(), at::TensorOptions(at::kLong).device(x.device()));
                    x = x.flatten()
                            .index(
                                {(order * order * 7 + order * 3 + static_cast<std::int64_t>(run)).remainder(x.numel())})
                            .view(x.sizes());
                }
        return out;
    }

    std::string file_;
    detail::inputs const& inputs_;
    export_options const& options_;
    std::vector<dynamic_size> sizes_;
    std::vector<axis_of_input> axes_;
};

/// The bytes of a tensor on the CPU.
stored_tensor stored(at::Tensor const& t) {
    stored_tensor out;
    out.type = aten::scalar_type(static_cast<std::int64_t>(t.scalar_type()));
    out.sizes = t.sizes().vec();
    stored_part part;
    part.bytes.data = static_cast<std::byte const*>(t.storage().data());
    part.bytes.size = t.storage().nbytes();
    part.bytes.position = reinterpret_cast<std::uintptr_t>(part.bytes.data);
    part.sizes = out.sizes;
    part.strides = t.strides().vec();
    part.offset = t.storage_offset();
    out.parts.push_back(std::move(part));
    return out;
}

} // namespace

namespace detail {

void fail_arity(std::size_t given) {
    throw error("forward() cannot be called with " + std::to_string(given) +
                " tensors; export a function that calls it");
}

program::program trace(callee const& f, inputs const& x, export_options const& options) {
    std::string const file = name_of(f, options);
    at::NoGradGuard const no_gradients;
    kept_generator generator;
    plan const planned(file, x, options);
    ::torch::nn::Module const* const module = f.module != nullptr ? f.module : options.module;
    weight_names const names = weights_of(module);
    std::vector<recording> runs;
    std::vector<inputs> const all = planned.runs();
    for (std::size_t i = 0; i != all.size(); ++i) {
        try {
            runs.push_back(recorder(names, file, has_attention(module)).run(f, all[i], options));
        } catch (error const& e) {
            if (i == 0) throw;
            throw error(std::string(e.what()) + " (run " + std::to_string(i + 1) + planned.sizes_text(i) +
                        "; give `sizes` or `examples` that the module accepts)");
        }
    }
    if (std::all_of(x.begin(), x.end(), [](at::Tensor const& t) { return t.device().is_cpu(); })) {
        generator.reset();
        require_complete(runs[0], all[0]);
    }
    program::program p = unify(runs, options.dims);
    auto const kept = std::make_shared<std::vector<at::Tensor>>();
    for (std::size_t i = 0; i != p.inputs.size(); ++i) {
        if (p.inputs[i].kind == program::input_kind::user) continue;
        at::Tensor t = runs[0].weights[i].detach();
        if (!t.device().is_cpu()) t = t.cpu();
        t = t.resolve_conj().resolve_neg();
        kept->push_back(t);
        p.inputs[i].data = stored(t);
    }
    p.name = file;
    p.storage = std::shared_ptr<void const>(kept, kept->data());
    return p;
}

export_report export_module(callee const& f, inputs const& x, std::string const& to, export_options const& options) {
    return export_program(trace(f, x, options), to, options);
}

} // namespace detail

} // namespace ATON_NAMESPACE::torch
