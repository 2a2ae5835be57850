// SPDX-License-Identifier: MIT
// Modules that are exported with a dynamic batch, and what libtorch computes at two sizes, for compare.py to run with ONNX Runtime.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <torch/torch.h>

#include <aton/torch.hpp>

namespace torch_test {

using torch::Tensor;
using tensors = std::vector<Tensor>;
/// The inputs for a size of the batch.
using make_inputs = std::function<tensors(std::int64_t batch)>;

struct case_options {
    int axis = 0;                          ///< of the batch
    std::vector<aton::dim_name> dims = {}; ///< further dynamic dimensions
    std::vector<std::size_t> fixed = {};   ///< inputs without the batch
    int opset = 20;
    bool training = false;
    std::map<std::string, std::vector<std::int64_t>> sizes = {};
    torch::nn::Module const* module = nullptr;
    bool examples = false; ///< record at given inputs instead of derived ones
};

class exporter {
public:
    explicit exporter(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// Exports `f`, and records its outputs for two batches.
    template <class F>
    void add(std::string const& name, F f, make_inputs const& inputs, case_options const& wanted = {}) {
        torch::manual_seed(static_cast<std::uint64_t>(++count_));
        torch::NoGradGuard const no_gradients;
        if constexpr (requires { f->eval(); }) {
            if (!wanted.training) f->eval();
        }
        std::filesystem::path const to = folder_ / name;
        std::filesystem::create_directories(to);
        try {
            aton::torch::export_options options;
            options.opset = wanted.opset;
            options.sizes = wanted.sizes;
            options.module = wanted.module;
            options.dims = wanted.dims;
            tensors const example = inputs(3);
            for (std::size_t i = 0; i != example.size(); ++i) {
                options.input_names.push_back("x" + std::to_string(i));
                bool const is_fixed = std::find(wanted.fixed.begin(), wanted.fixed.end(), i) != wanted.fixed.end();
                if (!is_fixed && wanted.axis >= 0)
                    options.dims.push_back({options.input_names.back(), wanted.axis, "batch"});
            }
            if (wanted.examples) options.examples = {inputs(4), inputs(7)};
            aton::torch::export_module(f, example, (to / "model.onnx").string(), options);
            for (std::int64_t const batch : {3, 6}) {
                tensors given = inputs(batch);
                aton::torch::check(f, given, (to / "model.onnx").string());
                save(to / std::to_string(batch), "input", given);
                auto const callee = aton::torch::detail::callee_of(f);
                tensors out;
                for (auto const& each : callee.call(given)) out.push_back(each.value);
                save(to / std::to_string(batch), "output", out);
            }
        } catch (std::exception const& e) {
            std::string const text = e.what();
            std::cout << "FAILED " << name << ": " << text.substr(0, text.find('\n')) << '\n';
            ++failures_;
        }
    }

    [[nodiscard]] int failures() const { return failures_; }
    [[nodiscard]] int count() const { return count_; }

private:
    /// .npy files, in the order of the tensors.
    static void save(std::filesystem::path const& folder, std::string const& name, tensors const& all) {
        std::filesystem::create_directories(folder);
        int number = 0;
        for (Tensor const& each : all) {
            if (!each.defined()) continue;
            Tensor const t = each.contiguous();
            std::string const type = t.scalar_type() == torch::kFloat    ? "<f4"
                                     : t.scalar_type() == torch::kDouble ? "<f8"
                                     : t.scalar_type() == torch::kHalf   ? "<f2"
                                     : t.scalar_type() == torch::kInt    ? "<i4"
                                     : t.scalar_type() == torch::kBool   ? "|b1"
                                                                         : "<i8";
            std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (";
            for (std::int64_t const n : t.sizes()) header += std::to_string(n) + ",";
            header += ")}";
            while ((header.size() + 11) % 64 != 0) header += ' ';
            header += '\n';
            std::ofstream file(folder / (name + "_" + std::to_string(number++) + ".npy"), std::ios::binary);
            file << "\x93NUMPY\x01" << '\0' << static_cast<char>(header.size() % 256)
                 << static_cast<char>(header.size() / 256) << header;
            file.write(static_cast<char const*>(t.const_data_ptr()), static_cast<std::streamsize>(t.nbytes()));
        }
    }

    std::filesystem::path folder_;
    int count_ = 0;
    int failures_ = 0;
};

/// One input of random floats; the batch comes first.
inline make_inputs floats(std::vector<std::int64_t> const& sizes) {
    return [sizes](std::int64_t batch) {
        std::vector<std::int64_t> all{batch};
        all.insert(all.end(), sizes.begin(), sizes.end());
        return tensors{torch::randn(all)};
    };
}

void add_layers(exporter& to);
void add_activations(exporter& to);
void add_pools_and_pads(exporter& to);
void add_losses(exporter& to);
void add_sequences(exporter& to);
void add_models(exporter& to);
void add_functions(exporter& to);

} // namespace torch_test
