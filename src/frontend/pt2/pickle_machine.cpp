// SPDX-License-Identifier: MIT
#include "pickle_machine.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <span>

#include "frontend/files/text.hpp"
#include "pickle_calls.hpp"
#include "storage_classes.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

// Limits that a pickle of 100,000 tensors does not reach. Every object takes at least one byte of the pickle.
constexpr std::size_t max_objects = std::size_t{1} << 22U;
constexpr std::size_t max_stack_size = std::size_t{1} << 16U;
constexpr std::size_t max_pickle_bytes = std::size_t{1} << 26U;

constexpr unsigned protocol_opcode = 0x80;

std::string hexadecimal(unsigned op) {
    constexpr std::string_view digits = "0123456789abcdef";
    return std::string("0x") + digits[op >> 4U & 15U] + digits[op & 15U];
}

} // namespace

void pickle_machine::run() {
    if (code_.size() > max_pickle_bytes) files::fail(to_.where, "the pickle is longer than 64 MiB");
    for (;;) {
        op_ = at_;
        auto const op = static_cast<unsigned>(take(1));
        if (op == '.') break;
        if (!constant(op) && !container(op) && !memo(op) && !object(op))
            refuse_here("opcode " + hexadecimal(op) + " is refused: a dict of tensors does not need it");
    }
}

std::vector<std::pair<std::string_view, pickle_machine::value>> pickle_machine::run_dict() {
    run();
    if (stack_.size() != 1 || stack_[0].is != kind::dict) files::fail(to_.where, "the pickle is not a dict of tensors");
    std::vector<value> const& dict = to_.containers[static_cast<std::size_t>(stack_[0].number)];
    std::vector<std::pair<std::string_view, value>> out;
    out.reserve(dict.size() / 2);
    for (std::size_t i = 0; i != dict.size(); i += 2) {
        if (dict[i].is != kind::text)
            files::fail(to_.where, "the pickle is not a dict of tensors: a key is not a string");
        out.emplace_back(to_.text(dict[i]), dict[i + 1]);
    }
    return out;
}

pickle_machine::value pickle_machine::run_object() {
    keeps_objects_ = true;
    run();
    if (stack_.size() == 1 && stack_[0].is == kind::subclass) return stack_[0];
    bool const is_object = stack_.size() == 1 && stack_[0].is == kind::object;
    throw unsupported_object(
        to_.where + ": is not a tensor with attributes" +
        (is_object ? ", but " + files::in_quotes(name_of(to_.objects[static_cast<std::size_t>(stack_[0].number)].type))
                   : std::string()));
}

bool pickle_machine::constant(unsigned op) {
    switch (op) {
    case protocol_opcode:
        if (std::uint64_t const version = take(1); version < 2 || version > 5)
            fail_here("protocol " + std::to_string(version) + " is not supported, only 2 to 5 are");
        return true;
    case 0x95: // FRAME: the size of the next frame
        if (take(8) > code_.size() - at_) fail_here("a frame is longer than the pickle");
        return true;
    case 'N': push({}); return true;
    case 0x88: push({kind::boolean, 0, 1}); return true;
    case 0x89: push({kind::boolean, 0, 0}); return true;
    case 'K': push({kind::number, 0, static_cast<std::int64_t>(take(1))}); return true;
    case 'M': push({kind::number, 0, static_cast<std::int64_t>(take(2))}); return true;
    case 'J': push({kind::number, 0, static_cast<std::int32_t>(take(4))}); return true;
    case 0x8a: { // LONG1: two's complement of the given number of bytes
        std::size_t const width = take(1);
        if (width > 8) fail_here("has an integer of more than 64 bits");
        std::uint64_t const bits = take(width);
        unsigned const unused = 64U - 8U * static_cast<unsigned>(width);
        push({kind::number, 0, width == 0 ? 0 : static_cast<std::int64_t>(bits << unused) >> unused});
        return true;
    }
    case 'G': { // BINFLOAT: big-endian
        std::uint64_t bits = 0;
        for (int i = 0; i != 8; ++i) bits = bits << 8U | take(1);
        push({kind::real, 0, static_cast<std::int64_t>(bits)});
        return true;
    }
    case 0x8c: push_text(take(1)); return true;
    case 'X': push_text(take(4)); return true;
    case 0x8d: push_text(take(8)); return true;
    default: return false;
    }
}

bool pickle_machine::container(unsigned op) {
    switch (op) {
    case '(': push({kind::mark, 0, 0}); return true;
    case '0': (void)pop(); return true;
    case '1': stack_.resize(above_mark()); return true;
    case ')': push_tuple(stack_.size()); return true;
    case 't': push_tuple(above_mark()); return true;
    case 0x85:
    case 0x86:
    case 0x87: {
        std::size_t const length = op - 0x84U;
        if (stack_.size() < length) fail_here("takes more values from the stack than it has");
        push_tuple(stack_.size() - length);
        return true;
    }
    case ']':
    case '}':
        count(2);
        push({op == ']' ? kind::list : kind::dict, 0, static_cast<std::int64_t>(to_.containers.size())});
        to_.containers.emplace_back();
        return true;
    case 'a':
    case 'e': {
        std::size_t const first = op == 'e' ? above_mark() : stack_.size() - 1;
        if (stack_.empty() || first == 0 || stack_[first - 1].is != kind::list)
            fail_here("appends to a value that is not a list");
        auto& list = to_.containers[static_cast<std::size_t>(stack_[first - 1].number)];
        count(stack_.size() - first);
        list.insert(list.end(), stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
        stack_.resize(first);
        return true;
    }
    case 's':
        if (stack_.size() < 3) fail_here("takes more values from the stack than it has");
        set_items(stack_[stack_.size() - 3], stack_.size() - 2);
        return true;
    case 'u': {
        std::size_t const first = above_mark();
        if (first == 0) fail_here("takes more values from the stack than it has");
        set_items(stack_[first - 1], first);
        return true;
    }
    default: return false;
    }
}

bool pickle_machine::memo(unsigned op) {
    switch (op) {
    case 'q': memorize(take(1)); return true;
    case 'r': memorize(take(4)); return true;
    case 0x94: memorize(memo_.size()); return true;
    case 'h': recall(take(1)); return true;
    case 'j': recall(take(4)); return true;
    default: return false;
    }
}

bool pickle_machine::object(unsigned op) {
    switch (op) {
    case 'c': {
        std::string_view const module = take_line();
        push_global(module, take_line());
        return true;
    }
    case 0x93: { // STACK_GLOBAL
        value const name = pop();
        value const module = pop();
        if (name.is != kind::text || module.is != kind::text)
            fail_here("names a function with a value that is not a string");
        push_global(to_.text(module), to_.text(name));
        return true;
    }
    case 'R': reduce(); return true;
    case 'Q': persistent_id(); return true;
    case 'b': build(); return true;
    case 0x81: make_object(); return true;
    default: return false;
    }
}

/// REDUCE: the result of a call.
void pickle_machine::reduce() {
    value const arguments = pop();
    global const function = global_of(pop());
    if (arguments.is != kind::tuple) fail_here("calls a function with arguments that are not a tuple");
    push(pickle_calls(*this).call(function, arguments));
}

/// BUILD: the attributes of an object, or of an OrderedDict, such as the _metadata of a state dict, which are dropped.
void pickle_machine::build() {
    value const state = pop();
    if (stack_.empty()) fail_here("sets attributes of a value that is not a dict");
    value const to = stack_.back();
    if (to.is == kind::object) to_.objects[static_cast<std::size_t>(to.number)].state = state;
    else if (to.is != kind::dict) fail_here("sets attributes of a value that is not a dict");
}

/// NEWOBJ: an object of a class, from arguments.
void pickle_machine::make_object() {
    value const arguments = pop();
    global const type = global_of(pop());
    push(pickle_calls(*this).unknown_call(type, arguments));
}

/// BINPERSID: ('storage', class, key, device, number of elements)
void pickle_machine::persistent_id() {
    value const id = pop();
    std::span<value const> const given = id.is == kind::tuple ? to_.items_of(id) : std::span<value const>();
    if (given.size() != 5 || !begins_with(given, {kind::text, kind::global, kind::text, kind::text, kind::number}) ||
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

void pickle_machine::set_items(value dict, std::size_t first) {
    std::size_t const length = stack_.size() - first;
    if (dict.is != kind::dict || length % 2 != 0) fail_here("sets items of a value that is not a dict");
    count(length);
    auto& items = to_.containers[static_cast<std::size_t>(dict.number)];
    items.insert(items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
    stack_.resize(first);
}

std::uint64_t pickle_machine::take(std::size_t width) {
    if (width > code_.size() - at_) files::fail(to_.where, "the pickle is truncated at byte " + std::to_string(op_));
    std::uint64_t out = 0;
    for (std::size_t i = width; i-- > 0;) out = out << 8U | static_cast<unsigned char>(code_[at_ + i]);
    at_ += width;
    return out;
}

std::string_view pickle_machine::take_text(std::uint64_t length) {
    if (length > code_.size() - at_) files::fail(to_.where, "the pickle is truncated at byte " + std::to_string(op_));
    std::string_view const out = code_.substr(at_, static_cast<std::size_t>(length));
    at_ += out.size();
    return out;
}

std::string_view pickle_machine::take_line() {
    constexpr std::size_t max_name_length = 1000;
    std::size_t const length = code_.substr(at_, max_name_length).find('\n');
    if (length == std::string_view::npos) fail_here("has an unterminated name");
    std::string_view const out = take_text(length);
    ++at_;
    return out;
}

void pickle_machine::push(value v) {
    if (stack_.size() == max_stack_size) fail_here("pushes more than 65536 objects");
    stack_.push_back(v);
}

void pickle_machine::push_text(std::uint64_t length) {
    std::size_t const start = at_;
    std::string_view const text = take_text(length);
    push({kind::text, static_cast<std::uint32_t>(text.size()), static_cast<std::int64_t>(start)});
}

void pickle_machine::push_tuple(std::size_t first) {
    count(stack_.size() - first);
    auto const start = static_cast<std::int64_t>(to_.items.size());
    auto const length = static_cast<std::uint32_t>(stack_.size() - first);
    to_.items.insert(to_.items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
    stack_.resize(first);
    push({kind::tuple, length, start});
}

void pickle_machine::push_global(std::string_view module, std::string_view name) {
    count(2);
    push({kind::global, 0, static_cast<std::int64_t>(to_.globals.size())});
    to_.globals.push_back({module, name});
}

pickle_machine::value pickle_machine::pop() {
    if (stack_.empty()) fail_here("takes more values from the stack than it has");
    value const out = stack_.back();
    stack_.pop_back();
    return out;
}

std::size_t pickle_machine::above_mark() {
    std::size_t first = stack_.size();
    while (first != 0 && stack_[first - 1].is != kind::mark) --first;
    if (first == 0) fail_here("needs a mark, but the stack has none");
    stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(first) - 1);
    return first - 1;
}

void pickle_machine::recall(std::uint64_t index) {
    if (index >= memo_.size()) fail_here("reads a memo entry that was never written");
    push(memo_[static_cast<std::size_t>(index)]);
}

// Picklers number memo entries consecutively.
void pickle_machine::memorize(std::uint64_t index) {
    if (stack_.empty() || index > memo_.size()) fail_here("writes memo entries out of order");
    if (index == memo_.size()) {
        count(1);
        memo_.emplace_back();
    }
    memo_[static_cast<std::size_t>(index)] = stack_.back();
}

void pickle_machine::count(std::size_t objects) {
    objects_ += objects;
    if (objects_ > max_objects) files::fail(to_.where, "the pickle creates more than 4194304 objects");
}

pickle_machine::global pickle_machine::global_of(value v) const {
    if (v.is != kind::global) fail_here("calls a value that is not a function");
    return to_.globals[static_cast<std::size_t>(v.number)];
}

void pickle_machine::fail_here(std::string_view what) const {
    files::fail(to_.where, "the pickle at byte " + std::to_string(op_) + ": " + std::string(what));
}

void pickle_machine::refuse_here(std::string_view what) const {
    if (static_cast<unsigned char>(code_[0]) != protocol_opcode) fail_here(what); // this is no pickle
    throw unsupported_object(to_.where + ": the pickle at byte " + std::to_string(op_) + ": " + std::string(what));
}

} // namespace ATON_NAMESPACE::pt2
