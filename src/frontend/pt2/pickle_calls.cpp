// SPDX-License-Identifier: MIT
#include "pickle_calls.hpp"

#include <string>
#include <utility>

#include <aton/core/budget.hpp>

#include "frontend/files/text.hpp"
#include "pickle_machine.hpp"
#include "storage_classes.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

/// Known functions that are refused, and why.
struct refused_function {
    std::string_view name;
    std::string_view why;
};

constexpr refused_function refused_functions[] = {
    {"_rebuild_sparse_tensor", "a sparse tensor: make it dense with .to_dense() before torch.export.export"},
    {"_rebuild_sparse_csr_tensor", "a sparse tensor: make it dense with .to_dense() before torch.export.export"},
    {"_rebuild_nested_tensor", "a nested tensor: pad it before torch.export.export"},
    {"_rebuild_qtensor", "a quantized tensor: store integers, scales and zero points instead"},
    {"_rebuild_meta_tensor_no_storage", "a meta tensor, which has no data: load the weights before torch.export.save"},
    {"_reconstruct_fake_tensor", "a fake tensor, which has no data: load the weights before torch.export.save"},
    {"_rebuild_wrapper_subclass", "a tensor subclass: turn it into plain tensors before torch.export.export"}};

} // namespace

void pickle_calls::refuse(global function) const {
    // The object's name is on the stack below its arguments.
    std::string what = "an object";
    for (std::size_t i = machine_.stack_.size(); i-- > 0;) {
        if (machine_.stack_[i].is != kind::text) continue;
        what = files::in_quotes(machine_.to_.text(machine_.stack_[i]));
        break;
    }
    for (auto const& r : refused_functions)
        if (function.name == r.name) machine_.refuse_here(what + " is " + std::string(r.why));
    machine_.refuse_here(what + " calls " + files::in_quotes(name_of(function)) + ", which dense tensors do not need");
}

pickle_calls::value pickle_calls::call(global function, value arguments) {
    std::span<value const> const given = machine_.to_.items_of(arguments);
    if (function.module == "collections" && function.name == "OrderedDict" && given.empty()) {
        machine_.count(2);
        machine_.to_.containers.emplace_back();
        return {kind::dict, 0, static_cast<std::int64_t>(machine_.to_.containers.size() - 1)};
    }
    if (function.module == "torch" && function.name == "Size" && given.size() == 1 && begins_with(given, {kind::tuple}))
        return given[0];
    if (function.module == "torch._tensor" && function.name == "_rebuild_from_type_v2") return rebuild_from_type(given);
    if (function.module != "torch._utils") return unknown_call(function, arguments);
    if (function.name == "_rebuild_tensor_v2") return rebuild_tensor(given, false);
    if (function.name == "_rebuild_tensor_v3") return rebuild_tensor(given, true);
    if (function.name != "_rebuild_parameter" && function.name != "_rebuild_parameter_with_state")
        return unknown_call(function, arguments);
    if (!begins_with(given, {kind::tensor, kind::boolean}) && !begins_with(given, {kind::subclass, kind::boolean}))
        machine_.fail_here("makes a parameter of a value that is not a tensor");
    return given[0];
}

pickle_calls::value pickle_calls::unknown_call(global function, value arguments) {
    if (!machine_.keeps_objects_) refuse(function);
    return add_object(kind::object, {function, arguments, {}, dtype::undefined, {}});
}

pickle_calls::value pickle_calls::add_object(kind is, pickle_data::object const& made) {
    machine_.count(6);
    machine_.to_.objects.push_back(made);
    return {is, 0, static_cast<std::int64_t>(machine_.to_.objects.size() - 1)};
}

/// (storage, offset, sizes, strides, requires_grad, hooks[, dtype][, metadata])
pickle_calls::value pickle_calls::rebuild_tensor(std::span<value const> arguments, bool has_dtype) {
    std::size_t const needed = has_dtype ? 7 : 6;
    if (arguments.size() < needed || arguments.size() > needed + 1 ||
        !begins_with(arguments, {kind::storage, kind::number, kind::tuple, kind::tuple, kind::boolean}))
        machine_.fail_here("makes a tensor from the wrong arguments");
    value const sizes = arguments[2];
    value const strides = arguments[3];
    if (sizes.length != strides.length || std::cmp_greater(sizes.length, budget::max_rank))
        machine_.fail_here("makes a tensor with " + std::to_string(sizes.length) + " sizes and " +
                           std::to_string(strides.length) + " strides");
    if (arguments.size() > needed) {
        value const metadata = arguments[needed];
        bool const is_empty =
            metadata.is == kind::dict && machine_.to_.containers[static_cast<std::size_t>(metadata.number)].empty();
        if (metadata.is != kind::none && !is_empty)
            machine_.refuse_here("makes a conjugate or negative view: call .resolve_conj() and .resolve_neg() before "
                                 "torch.export.export");
    }
    auto const storage = static_cast<std::uint32_t>(arguments[0].number);
    dtype type = machine_.to_.storages[storage].type;
    if (has_dtype) {
        global const g = machine_.global_of(arguments[6]);
        type = g.module == "torch" ? dtype_from_name(g.name) : dtype::undefined;
        if (type == dtype::undefined) refuse(g);
    }
    if (type == dtype::undefined || bits(type) < 8) machine_.fail_here("makes a tensor without a dtype");
    machine_.count(4);
    machine_.to_.tensors.push_back({storage, type, arguments[1].number, sizes, strides});
    return {kind::tensor, 0, static_cast<std::int64_t>(machine_.to_.tensors.size() - 1)};
}

/// (function, type, arguments, attributes): a tensor with additional attributes, such as a torch.nn.Buffer.
pickle_calls::value pickle_calls::rebuild_from_type(std::span<value const> arguments) {
    if (arguments.size() != 4 || !begins_with(arguments, {kind::global, kind::global, kind::tuple}))
        machine_.fail_here("makes a tensor from the wrong arguments");
    global const type = machine_.global_of(arguments[1]);
    if (machine_.keeps_objects_ && begins_with(arguments.subspan(0, 1), {kind::global}) &&
        name_of(machine_.global_of(arguments[0])) == "torch._utils._rebuild_wrapper_subclass")
        return rebuild_subclass(type, arguments[2], arguments[3]);
    if ((type.module != "torch" || type.name != "Tensor") &&
        (type.module != "torch.nn.parameter" || (type.name != "Parameter" && type.name != "Buffer")))
        refuse(type);
    global const function = machine_.global_of(arguments[0]);
    // Not through call(), which a hostile pickle could make recurse without bound.
    if (function.module != "torch._utils") refuse(function);
    if (function.name == "_rebuild_tensor_v2") return rebuild_tensor(machine_.to_.items_of(arguments[2]), false);
    if (function.name == "_rebuild_tensor_v3") return rebuild_tensor(machine_.to_.items_of(arguments[2]), true);
    refuse(function);
}

/// (class, dtype, sizes, strides, offset, layout, device, requires_grad), and the attributes.
pickle_calls::value pickle_calls::rebuild_subclass(global type, value arguments, value state) {
    std::span<value const> const given = machine_.to_.items_of(arguments);
    if (!begins_with(given, {kind::global, kind::global, kind::tuple, kind::tuple}) ||
        std::cmp_greater(given[2].length, budget::max_rank))
        machine_.fail_here("makes a tensor of a class from the wrong arguments");
    // Some classes have slots: (attributes, slots).
    if (state.is == kind::tuple && state.length != 0) state = machine_.to_.items_of(state)[0];
    if (state.is != kind::dict) machine_.fail_here("makes a tensor of a class without attributes");
    global const element = machine_.global_of(given[1]);
    dtype const of = element.module == "torch" ? dtype_from_name(element.name) : dtype::undefined;
    if (of == dtype::undefined) machine_.fail_here("makes a tensor of a class without a dtype");
    return add_object(kind::subclass, {type, arguments, state, of, given[2]});
}

} // namespace ATON_NAMESPACE::pt2
