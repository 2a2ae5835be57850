// SPDX-License-Identifier: MIT
#include <string>
#include <unordered_set>
#include <utility>

#include "frontend/files/text.hpp"
#include "read_program_json.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

using program::input_kind;
using program::output_kind;

/// The value that an Argument names; empty for a constant.
std::string_view named_by(json_value const& argument) {
    json_value const held = argument.only_member();
    std::string_view const tag = held.key();
    if (tag == "as_tensor" || tag == "as_custom_obj") {
        json_value const name = held.member("name");
        return name.text();
    }
    if (!tag.starts_with("as_sym_")) return {};
    auto const name = held.optional_member("as_name");
    return name ? name->text() : std::string_view{};
}

struct input_row {
    std::string_view tag;
    input_kind kind;
    std::string_view target; ///< the member with its name in the module
};
constexpr input_row input_rows[] = {
    {"parameter", input_kind::parameter, "parameter_name"},
    {"buffer", input_kind::buffer, "buffer_name"},
    {"tensor_constant", input_kind::constant, "tensor_constant_name"},
    {"custom_obj", input_kind::custom_object, "custom_obj_name"},
    {"token", input_kind::token, {}},
};

struct output_row {
    std::string_view tag;
    output_kind kind;
    std::string_view target;
    input_kind written; ///< the kind of the target input
};
constexpr output_row output_rows[] = {
    {"buffer_mutation", output_kind::buffer_mutation, "buffer_name", input_kind::buffer},
    {"user_input_mutation", output_kind::input_mutation, "user_input_name", input_kind::user},
    {"parameter_mutation", output_kind::parameter_mutation, "parameter_name", input_kind::parameter},
    {"gradient_to_parameter", output_kind::gradient, "parameter_name", input_kind::parameter},
    {"gradient_to_user_input", output_kind::gradient, "user_input_name", input_kind::user},
    {"loss_output", output_kind::loss, {}, input_kind::user},
    {"token", output_kind::token, {}, input_kind::token},
};

class signature_reader {
public:
    signature_reader(program::program& out, tensor_lookup const& tensor, subclass_lookup const& subclass)
        : out_(out),
          tensor_(tensor),
          subclass_(subclass) {}

    void read_inputs(json_value const& specs) {
        expect_count(specs, out_.main.inputs.size(), "inputs");
        out_.inputs.reserve(specs.size());
        specs.for_each([&](json_value const& spec, std::size_t i) { read_input(spec, out_.main.inputs[i]); });
        for (program::input const& each : out_.inputs) names_.insert(key(each.kind, each.target));
    }

    void read_outputs(json_value const& specs) {
        expect_count(specs, out_.main.outputs.size(), "outputs");
        out_.outputs.reserve(specs.size());
        specs.for_each([&](json_value const& spec, std::size_t i) { read_output(spec, out_.main.outputs[i]); });
    }

    [[nodiscard]] std::vector<held_subclass> take_held() { return std::move(held_); }

private:
    static std::string key(input_kind kind, std::string_view target) {
        return static_cast<char>('0' + static_cast<int>(kind)) + std::string(target);
    }

    static void expect_count(json_value const& specs, std::size_t count, std::string_view what) {
        std::size_t found = 0;
        specs.for_each([&](json_value const&, std::size_t) { ++found; });
        if (found == count) return;
        specs.fail("the graph has " + std::to_string(count) + " " + std::string(what) + ", but the signature has " +
                   std::to_string(found));
    }

    [[nodiscard]] std::string_view value_name(program::value_index v) const {
        return v == program::no_value ? std::string_view{} : std::string_view(out_.values[v].name);
    }

    void expect_name(json_value const& place, std::string_view found, program::value_index v) const {
        if (found == value_name(v)) return;
        place.fail("names " + files::in_quotes(found) + ", but the graph has " + files::in_quotes(value_name(v)) +
                   " here");
    }

    void read_input(json_value const& spec, program::value_index v) {
        json_value const held = spec.only_member();
        program::input& made = out_.inputs.emplace_back();
        made.value = v;
        if (held.key() == "user_input") {
            json_value const argument = held.member("arg");
            expect_name(argument, named_by(argument), v);
            made.kind = v == program::no_value ? input_kind::baked : input_kind::user;
            made.target = value_name(v);
            return;
        }
        if (held.key() == "constant_input") {
            json_value const name = held.member("name");
            expect_name(name, {}, v);
            made.kind = input_kind::baked;
            made.target = name.name();
            return;
        }
        for (input_row const& row : input_rows)
            if (held.key() == row.tag) return read_held_input(held, row, made);
        spec.fail("unknown kind of input " + files::in_quotes(held.key()) +
                  "; the file is damaged, or newer than this version of Aton");
    }

    void read_held_input(json_value const& held, input_row const& row, program::input& made) {
        json_value const argument = held.member("arg");
        json_value const name = argument.member("name");
        if (made.value == program::no_value) name.fail("is a constant in the graph, not a value");
        expect_name(name, name.text(), made.value);
        made.kind = row.kind;
        program::value& known = out_.values[made.value];
        if (row.kind == input_kind::token) {
            known.kind = program::value_kind::token;
            made.target = known.name;
            return;
        }
        json_value const target = held.member(row.target);
        made.target = target.text();
        if (auto const persistent = held.optional_member("persistent")) made.persistent = persistent->boolean();
        if (row.kind == input_kind::custom_object) return;
        if (known.kind != program::value_kind::tensor) name.fail("is not a tensor in the graph");
        bool const is_constant = row.kind == input_kind::constant || !made.persistent;
        tensor_role const role = is_constant ? tensor_role::constant : tensor_role::weight;
        if (auto found = subclass_ ? subclass_(role, made.target) : nullptr) {
            expect_type(target, known, found->element_type(), found->sizes());
            held_.push_back({out_.inputs.size() - 1, std::move(found)});
            return;
        }
        made.data = tensor_(role, made.target);
        expect_type(target, known, made.data.type, made.data.sizes);
    }

    static void expect_type(json_value const& target, program::value const& known, dtype type,
                            std::vector<std::int64_t> const& has) {
        if (!known.has_type) return;
        std::vector<std::int64_t> sizes;
        bool all_numbers = true;
        for (program::extent const& each : known.sizes) {
            all_numbers = all_numbers && each.is_number();
            sizes.push_back(each.number);
        }
        if (!all_numbers)
            target.fail(files::in_quotes(target.text()) + " has a symbolic size, but its sizes must be constant");
        if (known.type == type && sizes == has) return;
        target.fail(files::in_quotes(target.text()) + " is " + files::type_text(type, has) + " in the weights, but " +
                    files::type_text(known.type, sizes) + " in the graph");
    }

    void read_output(json_value const& spec, program::argument const& given) {
        json_value const held = spec.only_member();
        json_value const argument = held.member("arg");
        program::value_index const v = program::value_of(given);
        program::output& made = out_.outputs.emplace_back();
        if (held.key() == "user_output") return expect_name(argument, named_by(argument), v);
        for (output_row const& row : output_rows) {
            if (held.key() != row.tag) continue;
            json_value const name = argument.member("name");
            expect_name(name, name.text(), v);
            made.kind = row.kind;
            if (row.target.empty()) return;
            json_value const target = held.member(row.target);
            made.target = target.text();
            if (!names_.contains(key(row.written, made.target)))
                target.fail("the program has no input " + files::in_quotes(made.target));
            return;
        }
        spec.fail("unknown kind of output " + files::in_quotes(held.key()) +
                  "; the file is damaged, or newer than this version of Aton");
    }

    program::program& out_;
    tensor_lookup const& tensor_;
    subclass_lookup const& subclass_;
    std::vector<held_subclass> held_;
    std::unordered_set<std::string> names_; ///< kind and target of all inputs
};

} // namespace

std::vector<held_subclass> read_signature(json_value const& signature, program::program& out,
                                          tensor_lookup const& tensor, subclass_lookup const& subclass) {
    json_value const inputs = signature.member("input_specs");
    json_value const outputs = signature.member("output_specs");
    signature_reader reader(out, tensor, subclass);
    reader.read_inputs(inputs);
    reader.read_outputs(outputs);
    return reader.take_held();
}

} // namespace ATON_NAMESPACE::pt2
