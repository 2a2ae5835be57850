// SPDX-License-Identifier: MIT
#include <aton/frontend/pt2/read_program.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "frontend/files/text.hpp"
#include "graph_reader.hpp"
#include "pickle_reader.hpp"
#include "read_program_json.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

void check_version(json_value const& root) {
    json_value const version = root.member("schema_version");
    json_value const major = version.member("major");
    constexpr std::int64_t oldest = 5;
    constexpr std::int64_t newest = 8;
    std::int64_t const number = major.integer();
    if (number >= oldest && number <= newest) return;
    std::string const what = "schema version " + std::to_string(number) + " is not supported, only 5 to 8 are; ";
    major.fail(what + (number < oldest ? "export the model again with torch 2.9 or newer"
                                       : "export the model with torch 2.13 or older, or get a newer Aton"));
}

/// A bound, or nothing if the range is unbounded: null, or an infinity in old files.
std::optional<std::int64_t> read_bound(json_value const& range, std::string_view key) {
    auto const bound = range.optional_member(key);
    if (!bound) return std::nullopt;
    if (bound->is_text()) {
        (void)bound->real();
        return std::nullopt;
    }
    return bound->integer();
}

void read_ranges(json_value const& root, program::program& out) {
    auto const ranges = root.optional_member("range_constraints");
    if (!ranges) return;
    ranges->for_each_member([&](json_value const& each) {
        program::symbol_range range;
        range.min = read_bound(each, "min_val").value_or(range.min);
        range.max = read_bound(each, "max_val").value_or(range.max);
        if (range.min > range.max)
            each.fail("the minimum " + std::to_string(range.min) + " is greater than the maximum " +
                      std::to_string(range.max));
        out.ranges.insert_or_assign(std::string(each.key()), range);
    });
}

/// Uses the keys of a dict that the model returns as the targets of its outputs.
void name_outputs(json_value const& module, program::program& out) {
    auto const calls = module.optional_member("module_call_graph");
    if (!calls) return;
    std::vector<std::string> keys;
    calls->for_each([&](json_value const& call, std::size_t i) {
        if (i != 0) return;
        auto const signature = call.optional_member("signature");
        if (!signature) return;
        auto const treespec = signature->optional_member("out_spec");
        if (treespec) keys = read_output_keys(treespec->text(), module);
    });
    std::vector<program::output*> named;
    for (program::output& each : out.outputs)
        if (each.kind == program::output_kind::user || each.kind == program::output_kind::loss) named.push_back(&each);
    if (named.size() != keys.size()) return;
    for (std::size_t i = 0; i != keys.size(); ++i) named[i]->target = std::move(keys[i]);
}

/// Opens the weights and the constants, so that damaged ones are refused, used or not. Objects that are not tensors are refused when they are
/// used.
void open_tensors(archive const& from, std::string_view model) {
    for (tensor_role const role : {tensor_role::weight, tensor_role::constant}) {
        try {
            (void)from.tensor_names(model, role);
        } catch (unsupported_object const&) {
            continue;
        }
    }
}

} // namespace

program::program read_program_json(std::string_view json, std::string document_name, tensor_lookup const& tensor,
                                   subclass_lookup const& subclass) {
    json_document document(json, document_name);
    json_value const root = document.root();
    check_version(root);
    program::program out;
    if (auto const version = root.optional_member("torch_version")) out.torch_version = version->text();
    out.origins.emplace_back();
    read_ranges(root, out);
    json_value const module = root.member("graph_module");
    json_value const graph = module.member("graph");
    out.main = graph_reader(out, document.place()).read(graph);
    json_value const signature = module.member("signature");
    std::vector<held_subclass> const held = read_signature(signature, out, tensor, subclass);
    name_outputs(module, out);
    read_guards(root, module, out);
    expand_subclasses(out, held, document_name);
    return out;
}

program::program read_program(archive const& from, std::string_view model) {
    std::string const name = from.resolve_model(model);
    auto const tensor = [&](tensor_role role, std::string_view tensor_name) {
        return from.tensor(name, role, tensor_name);
    };
    auto const subclass = [&](tensor_role role, std::string_view tensor_name) {
        return from.subclass(name, role, tensor_name);
    };
    std::string document = from.path();
    if (from.models().size() > 1) document += ": model " + files::in_quotes(name);
    program::program out = read_program_json(from.program_json(name), std::move(document), tensor, subclass);
    open_tensors(from, name);
    out.name = name;
    out.file = from.path();
    out.storage = from.storage();
    return out;
}

program::program read_program(std::string const& path, std::string_view model) {
    return read_program(archive(path), model);
}

} // namespace ATON_NAMESPACE::pt2
