// SPDX-License-Identifier: MIT
#include "given_inputs.hpp"

#include <algorithm>
#include <filesystem>

#include <aton/core/error.hpp>
#include <aton/core/nearest.hpp>
#include <aton/frontend/weights/tensor_file.hpp>
#include <aton/model_io/values.hpp>
#include <aton/model_io/weights.hpp>

#include "commands.hpp"
#include "system/paths.hpp"

namespace aton::tool {

namespace {

namespace fs = std::filesystem;

runtime::value value_of(file_value const& v) {
    if (v.is_empty()) return {};
    if (!v.is_sequence) return runtime::tensor::from_constant(v.tensors.at(0));
    std::vector<runtime::tensor> many;
    for (tensor const& t : v.tensors) many.push_back(runtime::tensor::from_constant(t));
    return many;
}

fs::path file_of(std::string const& folder, std::string const& what, std::size_t i) {
    return system::path_in(system::path_of(folder), what + '_' + std::to_string(i) + ".pb");
}

std::vector<runtime::value> from_folder(std::string const& folder, std::span<part_value const> inputs) {
    std::vector<runtime::value> out;
    for (; fs::exists(file_of(folder, "input", out.size()));) {
        if (out.size() == inputs.size())
            throw error(plain(folder) + ": has more inputs than the model, which has " + std::to_string(inputs.size()));
        out.push_back(
            value_of(read_value(system::text_of(file_of(folder, "input", out.size())), inputs[out.size()].type.kind)));
    }
    if (out.size() != inputs.size())
        throw error(plain(folder) + ": has no input_" + std::to_string(out.size()) + ".pb, for input '" +
                    plain(inputs[out.size()].name) + "'");
    return out;
}

std::vector<runtime::value> from_file(std::string const& path, std::span<part_value const> inputs) {
    weights::tensor_file const file = weights::read_tensor_file(path);
    std::vector<runtime::value> out(inputs.size());
    for (auto const& [name, stored] : file.tensors) {
        auto const found = std::ranges::find(inputs, name, &part_value::name);
        if (found != inputs.end()) {
            out[static_cast<std::size_t>(found - inputs.begin())] = runtime::tensor::from_constant(load(stored));
            continue;
        }
        nearest near(name);
        for (part_value const& each : inputs) near.offer(each.name);
        throw error(plain(path) + ": the model has no input '" + plain(name) + "'" +
                    (near.found().empty() ? "" : "; did you mean '" + plain(std::string(near.found())) + "'?"));
    }
    for (std::size_t i = 0; i != inputs.size(); ++i)
        if (!out[i]) throw error(plain(path) + ": has no input '" + plain(inputs[i].name) + "'");
    return out;
}

} // namespace

std::vector<runtime::value> read_values(std::string const& folder, std::string const& what) {
    std::vector<runtime::value> out;
    for (;;) {
        fs::path const path = file_of(folder, what, out.size());
        if (!fs::exists(path)) return out;
        out.push_back(value_of(read_value(system::text_of(path), value_kind::tensor)));
    }
}

std::vector<runtime::value> read_inputs(std::string const& from, std::span<part_value const> inputs) {
    if (fs::is_directory(system::path_of(from))) return from_folder(from, inputs);
    return from_file(from, inputs);
}

} // namespace aton::tool
