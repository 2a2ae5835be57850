// SPDX-License-Identifier: MIT
// The functions that a pickle of tensors may call: those of torch that rebuild tensors, without torch. None is run.
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

void pickle_machine::refuse(global function) const {
    // The object's name is on the stack below its arguments.
    std::string what = "an object";
    for (std::size_t i = stack_.size(); i-- > 0;) {
        if (stack_[i].is != kind::text) continue;
        what = files::in_quotes(to_.text(stack_[i]));
        break;
    }
    for (auto const& r : refused_functions)
        if (function.name == r.name) refuse_here(what + " is " + std::string(r.why));
    refuse_here(what + " calls " + files::in_quotes(name_of(function)) + ", which dense tensors do not need");
}

void pickle_machine::reduce() {
    value const arguments = pop();
    global const function = global_of(pop());
    if (arguments.is != kind::tuple) fail_here("calls a function with arguments that are not a tuple");
    push(call(function, arguments));
}

pickle_machine::value pickle_machine::call(global function, value arguments) {
    std::span<value const> const given = to_.items_of(arguments);
    if (function.module == "collections" && function.name == "OrderedDict" && given.empty()) {
        count(2);
        to_.containers.emplace_back();
        return {kind::dict, 0, static_cast<std::int64_t>(to_.containers.size() - 1)};
    }
    if (function.module == "torch" && function.name == "Size" && given.size() == 1 && match(given, {kind::tuple}))
        return given[0];
    if (function.module == "torch._tensor" && function.name == "_rebuild_from_type_v2") return rebuild_from_type(given);
    if (function.module != "torch._utils") return unknown_call(function, arguments);
    if (function.name == "_rebuild_tensor_v2") return rebuild_tensor(given, false);
    if (function.name == "_rebuild_tensor_v3") return rebuild_tensor(given, true);
    if (function.name != "_rebuild_parameter" && function.name != "_rebuild_parameter_with_state")
        return unknown_call(function, arguments);
    if (!match(given, {kind::tensor, kind::boolean}) && !match(given, {kind::subclass, kind::boolean}))
        fail_here("makes a parameter of a value that is not a tensor");
    return given[0];
}

pickle_machine::value pickle_machine::unknown_call(global function, value arguments) {
    if (!keeps_objects_) refuse(function);
    return add_object(kind::object, {function, arguments, {}, dtype::undefined, {}});
}

pickle_machine::value pickle_machine::add_object(kind is, pickle_data::object made) {
    count(6);
    to_.objects.push_back(made);
    return {is, 0, static_cast<std::int64_t>(to_.objects.size() - 1)};
}

/// (storage, offset, sizes, strides, requires_grad, hooks[, dtype][, metadata])
pickle_machine::value pickle_machine::rebuild_tensor(std::span<value const> arguments, bool has_dtype) {
    std::size_t const needed = has_dtype ? 7 : 6;
    if (arguments.size() < needed || arguments.size() > needed + 1 ||
        !match(arguments, {kind::storage, kind::number, kind::tuple, kind::tuple, kind::boolean}))
        fail_here("makes a tensor from the wrong arguments");
    value const sizes = arguments[2];
    value const strides = arguments[3];
    if (sizes.length != strides.length || std::cmp_greater(sizes.length, budget::max_rank))
        fail_here("makes a tensor with " + std::to_string(sizes.length) + " sizes and " +
                  std::to_string(strides.length) + " strides");
    if (arguments.size() > needed) {
        value const metadata = arguments[needed];
        bool const is_empty =
            metadata.is == kind::dict && to_.containers[static_cast<std::size_t>(metadata.number)].empty();
        if (metadata.is != kind::none && !is_empty)
            refuse_here("makes a conjugate or negative view: call .resolve_conj() and .resolve_neg() before "
                        "torch.export.export");
    }
    auto const storage = static_cast<std::uint32_t>(arguments[0].number);
    dtype type = to_.storages[storage].type;
    if (has_dtype) {
        global const g = global_of(arguments[6]);
        type = g.module == "torch" ? dtype_from_name(g.name) : dtype::undefined;
        if (type == dtype::undefined) refuse(g);
    }
    if (type == dtype::undefined || bits(type) < 8) fail_here("makes a tensor without a dtype");
    count(4);
    to_.tensors.push_back({storage, type, arguments[1].number, sizes, strides});
    return {kind::tensor, 0, static_cast<std::int64_t>(to_.tensors.size() - 1)};
}

/// (function, type, arguments, attributes): a tensor with additional attributes, such as a torch.nn.Buffer.
pickle_machine::value pickle_machine::rebuild_from_type(std::span<value const> arguments) {
    if (arguments.size() != 4 || !match(arguments, {kind::global, kind::global, kind::tuple}))
        fail_here("makes a tensor from the wrong arguments");
    global const type = global_of(arguments[1]);
    if (keeps_objects_ && match(arguments.subspan(0, 1), {kind::global}) &&
        name_of(global_of(arguments[0])) == "torch._utils._rebuild_wrapper_subclass")
        return rebuild_subclass(type, arguments[2], arguments[3]);
    if ((type.module != "torch" || type.name != "Tensor") &&
        (type.module != "torch.nn.parameter" || (type.name != "Parameter" && type.name != "Buffer")))
        refuse(type);
    global const function = global_of(arguments[0]);
    // Not through call(), which a hostile pickle could make recurse without bound.
    if (function.module != "torch._utils") refuse(function);
    if (function.name == "_rebuild_tensor_v2") return rebuild_tensor(to_.items_of(arguments[2]), false);
    if (function.name == "_rebuild_tensor_v3") return rebuild_tensor(to_.items_of(arguments[2]), true);
    refuse(function);
}

/// (class, dtype, sizes, strides, offset, layout, device, requires_grad), and the attributes.
pickle_machine::value pickle_machine::rebuild_subclass(global type, value arguments, value state) {
    std::span<value const> const given = to_.items_of(arguments);
    if (!match(given, {kind::global, kind::global, kind::tuple, kind::tuple}) ||
        std::cmp_greater(given[2].length, budget::max_rank))
        fail_here("makes a tensor of a class from the wrong arguments");
    // Some classes have slots: (attributes, slots).
    if (state.is == kind::tuple && state.length != 0) state = to_.items_of(state)[0];
    if (state.is != kind::dict) fail_here("makes a tensor of a class without attributes");
    global const element = global_of(given[1]);
    dtype const of = element.module == "torch" ? dtype_from_name(element.name) : dtype::undefined;
    if (of == dtype::undefined) fail_here("makes a tensor of a class without a dtype");
    return add_object(kind::subclass, {type, arguments, state, of, given[2]});
}

/// ('storage', class, key, device, number of elements)
void pickle_machine::persistent_id() {
    value const id = pop();
    std::span<value const> const given = id.is == kind::tuple ? to_.items_of(id) : std::span<value const>();
    if (given.size() != 5 || !match(given, {kind::text, kind::global, kind::text, kind::text, kind::number}) ||
        to_.text(given[0]) != "storage")
        fail_here("has a persistent id that is not a storage");
    global const g = global_of(given[1]);
    if (std::optional<dtype> const type = dtype_of_storage(g.module, g.name)) {
        count(3);
        to_.storages.push_back({*type, to_.text(given[2]), given[4].number});
        push({kind::storage, 0, static_cast<std::int64_t>(to_.storages.size() - 1)});
        return;
    }
    refuse_here("has a storage of class " + files::in_quotes(name_of(g)) + ", which dense tensors do not use");
}

} // namespace ATON_NAMESPACE::pt2
