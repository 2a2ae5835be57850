// SPDX-License-Identifier: MIT
#include "object_reader.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <aton/core/budget.hpp>

#include "frontend/files/text.hpp"
#include "frontend/pt2/storage_classes.hpp"
#include "frontend/pt2/tensor_source.hpp"

#include "quantized_values.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;

constexpr std::size_t max_objects = std::size_t{1} << 22U; // no real module reaches these limits
constexpr std::size_t max_stack_size = std::size_t{1} << 20U;
constexpr std::size_t max_pickle_bytes = std::size_t{1} << 28U;

/// What only pickles have: marks, functions and storages, beside the values of the code.
struct item {
    enum class kind : std::uint8_t { value, mark, function, storage };
    kind is = kind::value;
    value held;
    std::string_view module; ///< of a function
    std::string_view name;   ///< of a function; the key of a storage
    dtype type = dtype::undefined;
    std::size_t index = 0; ///< of the key of a storage; one more than that of the arguments of a function
};

class object_reader {
public:
    object_reader(std::string_view pickle, std::string where, storage_lookup const& storage, heap& to)
        : code_(pickle),
          where_(std::move(where)),
          storage_(storage),
          to_(to) {}

    value run() {
        if (code_.size() > max_pickle_bytes) files::fail(where_, "the pickle is longer than 256 MiB");
        for (;;) {
            op_ = at_;
            auto const op = static_cast<unsigned>(take(1));
            if (op == '.') break;
            if (!constant(op) && !container(op) && !memo(op) && !object(op))
                fail("unknown opcode " + std::to_string(op));
        }
        if (stack_.size() != 1 || stack_[0].is != item::kind::value) fail("ends without an object");
        return stack_[0].held;
    }

private:
    bool constant(unsigned op) {
        switch (op) {
        case 0x80:
            if (std::uint64_t const version = take(1); version < 2 || version > 5)
                fail("protocol " + std::to_string(version) + " is not supported");
            return true;
        case 0x95: (void)take(8); return true;
        case 'N': push(value{}); return true;
        case 0x88: push(value::of(true)); return true;
        case 0x89: push(value::of(false)); return true;
        case 'K': push(value::of(static_cast<std::int64_t>(take(1)))); return true;
        case 'M': push(value::of(static_cast<std::int64_t>(take(2)))); return true;
        case 'J': push(value::of(std::int64_t{static_cast<std::int32_t>(take(4))})); return true;
        case 0x8a: {
            std::size_t const width = static_cast<std::size_t>(take(1));
            if (width > 8) fail("has an integer of more than 64 bits");
            std::uint64_t const bits = take(width);
            unsigned const unused = 64U - 8U * static_cast<unsigned>(width);
            push(value::of(width == 0 ? std::int64_t{0} : static_cast<std::int64_t>(bits << unused) >> unused));
            return true;
        }
        case 'G': { // big-endian
            std::uint64_t bits = 0;
            for (int i = 0; i != 8; ++i) bits = bits << 8U | take(1);
            push(value::of(std::bit_cast<double>(bits)));
            return true;
        }
        case 'X': push(text(take(4))); return true;
        case 0x8c: push(text(take(1))); return true;
        case 0x8d: push(text(take(8))); return true;
        default: return false;
        }
    }

    bool container(unsigned op) {
        switch (op) {
        case '(': push({item::kind::mark, {}, {}, {}, {}}); return true;
        case '0': (void)pop(); return true;
        case ')': push(to_.tuple({})); return true;
        case 't': make_tuple(above_mark()); return true;
        case 0x85:
        case 0x86:
        case 0x87:
            if (stack_.size() < op - 0x84U) fail("takes more values from the stack than it has");
            make_tuple(stack_.size() - (op - 0x84U));
            return true;
        case ']': count(2), push(to_.list({})); return true;
        case '}': count(2), push(to_.dict()); return true;
        case 'l': {
            std::vector<value> items = values_above(above_mark());
            push(to_.list(std::move(items)));
            return true;
        }
        case 'a':
        case 'e': {
            if (op == 'a' && stack_.size() < 2) fail("takes more values from the stack than it has");
            std::size_t const first = op == 'e' ? above_mark() : stack_.size() - 1;
            std::vector<value> const items = values_above(first);
            value const list = stack_.empty() ? value{} : stack_.back().held;
            if (list.is() != kind::list) fail("appends to a value that is not a list");
            count(items.size());
            list.list()->items.insert(list.list()->items.end(), items.begin(), items.end());
            return true;
        }
        case 's':
        case 'u': {
            if (op == 's' && stack_.size() < 3) fail("takes more values from the stack than it has");
            std::vector<value> const items = values_above(op == 'u' ? above_mark() : stack_.size() - 2);
            value const dict = stack_.empty() ? value{} : stack_.back().held;
            if (dict.is() != kind::dict || items.size() % 2 != 0) fail("sets items of a value that is not a dict");
            count(items.size());
            for (std::size_t i = 0; i != items.size(); i += 2) {
                torchscript::constant const* const key = items[i].known();
                if (key == nullptr)
                    fail("has a dict with a key that is " + std::string(torchscript::describe(items[i])));
                dict.dict()->items.emplace_back(*key, items[i + 1]);
            }
            return true;
        }
        default: return false;
        }
    }

    bool memo(unsigned op) {
        switch (op) {
        case 'q': memorize(take(1)); return true;
        case 'r': memorize(take(4)); return true;
        case 0x94: memorize(memo_.size()); return true;
        case 'h': recall(take(1)); return true;
        case 'j': recall(take(4)); return true;
        default: return false;
        }
    }

    bool object(unsigned op) {
        switch (op) {
        case 'c': {
            std::string_view const module = line();
            push({item::kind::function, {}, module, line(), {}});
            return true;
        }
        case 'R': {
            item const arguments = pop();
            item const function = pop();
            if (function.is == item::kind::function && function.module.starts_with("__torch__") &&
                arguments.is == item::kind::value &&
                (arguments.held.is() == kind::text || arguments.held.is() == kind::integer)) {
                // A member of an enumeration, by its value.
                push(value::of(kind::text, qualified(function) + '.' + text_of(*arguments.held.known())));
                return true;
            }
            if (function.is != item::kind::function || arguments.is != item::kind::value ||
                arguments.held.is() != kind::tuple)
                fail("calls a value that is not a function");
            push(call(function, items_of(arguments)));
            return true;
        }
        case 0x81: {
            (void)pop();
            item const type = pop();
            if (type.is != item::kind::function || !type.module.starts_with("__torch__"))
                fail("makes an object of " + in_quotes(qualified(type)) + ", which is not a class of the archive");
            count(4);
            push(to_.object(qualified(type)));
            return true;
        }
        case 'b': build(); return true;
        case 'Q': persistent_id(); return true;
        default: return false;
        }
    }

    void build() {
        item const state = pop();
        if (stack_.empty() || stack_.back().is != item::kind::value || stack_.back().held.is() != kind::object)
            fail("sets the state of a value that is not an object");
        instance& object = *stack_.back().held.object();
        object.is_loaded = true;
        if (state.is != item::kind::value || state.held.is() != kind::dict) {
            object.attributes["__state__"] = state.held; // of a class with __setstate__
            return;
        }
        for (auto const& [name, each] : state.held.dict()->items) {
            if (name.is() != kind::text) fail("names an attribute with a value that is not a string");
            object.attributes[name.text()] = each;
        }
    }

    /// ('storage', class, key, device, number of elements)
    void persistent_id() {
        std::vector<item> const given = items_of(pop());
        if (given.size() != 5 || given[1].is != item::kind::function || given[2].held.is() != kind::text)
            fail("has a persistent id that is not a storage");
        std::optional<dtype> const type = pt2::dtype_of_any_storage(given[1].module, given[1].name);
        if (!type || *type == dtype::undefined)
            fail("has a storage of class " + in_quotes(qualified(given[1])) + ", which is not supported");
        // The key is text of the pickle, so that it lives as long as it.
        push({item::kind::storage, {}, {}, given[1].name, *type, keys_.size()});
        keys_.push_back(*given[2].held.text());
    }

    item call(item const& function, std::vector<item> const& given) {
        std::string const name = qualified(function);
        auto const only = [&](kind wanted) {
            if (given.size() != 1 || given[0].is != item::kind::value || given[0].held.is() != wanted)
                fail("calls " + in_quotes(name) + " with the wrong arguments");
            return given[0];
        };
        if (name == "torch._utils._rebuild_tensor_v2") return rebuild_tensor(given);
        if (name == "collections.OrderedDict" && given.empty()) return {item::kind::value, to_.dict(), {}, {}, {}};
        if (name == "torch.device")
            return {item::kind::value, value::of(kind::device, *only(kind::text).held.text()), {}, {}, {}};
        if (name.starts_with("torch.jit._pickle.build_") && name.ends_with("list")) return only(kind::list);
        if (name == "torch.jit._pickle.restore_type_tag" && given.size() == 2) return given[0];
        if (name == "torch._utils._rebuild_qtensor") return rebuild_quantized(given);
        if (name.starts_with("torch._utils._rebuild_sparse"))
            fail("has a sparse tensor: make it dense before torch.jit.save");
        fail("calls " + in_quotes(name) + ", which modules do not need");
    }

    /// (storage, offset, sizes, strides, requires_grad, hooks)
    item rebuild_tensor(std::vector<item> const& given) {
        bool const is_plain = given.size() == 5 || (!given.empty() && !given[0].name.starts_with('Q'));
        if (given.size() < 5 || !is_plain || given[0].is != item::kind::storage || !given[1].held.integer())
            fail("makes a tensor from the wrong arguments");
        stored_tensor made = pt2::checked_tensor(given[0].type,
                                                 numbers(given[2]),
                                                 numbers(given[3]),
                                                 *given[1].held.integer(),
                                                 storage_(keys_[given[0].index]),
                                                 keys_[given[0].index],
                                                 where_ + ": the tensor at byte " + std::to_string(op_));
        count(8);
        to_.weights.push_back({std::move(made), {}, program::input_kind::constant, given[4].held.is_true()});
        return {item::kind::value, value::of(kind::weight, to_.weights.size() - 1), {}, {}, {}};
    }

    /// (storage, offset, sizes, strides, (scheme, parameters...), requires_grad, hooks)
    item rebuild_quantized(std::vector<item> const& given) {
        std::vector<value> parameters;
        std::vector<item> const quantizer = given.size() < 6 ? std::vector<item>() : items_of(given[4]);
        for (std::size_t i = 1; i < quantizer.size(); ++i) parameters.push_back(quantizer[i].held);
        if (quantizer.empty()) fail("makes a quantized tensor from the wrong arguments");
        value const data = rebuild_tensor({given[0], given[1], given[2], given[3], given[5]}).held;
        value const made = quantized_tensor(to_, quantizer[0].name, data, parameters);
        if (made.is() != kind::none) return {item::kind::value, made, {}, {}, {}};
        fail("makes a quantized tensor with a scheme that is not affine");
    }

    std::vector<std::int64_t> numbers(item const& from) const {
        if (from.is != item::kind::value || from.held.is() != kind::tuple ||
            std::cmp_greater(from.held.list()->items.size(), budget::max_rank))
            fail("makes a tensor from the wrong arguments");
        std::vector<std::int64_t> out;
        for (value const& each : from.held.list()->items) {
            std::optional<std::int64_t> const size = each.integer();
            if (!size) fail("makes a tensor with a size that is not an integer");
            out.push_back(*size);
        }
        return out;
    }

    void make_tuple(std::size_t first) {
        bool is_plain = true;
        for (std::size_t i = first; i != stack_.size(); ++i) is_plain = is_plain && stack_[i].is == item::kind::value;
        count(stack_.size() - first + 1);
        if (is_plain) {
            std::vector<value> items = values_above(first);
            push(to_.tuple(std::move(items)));
            return;
        }
        // The arguments of a function: they do not stay after the next opcode.
        tuples_.emplace_back(stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
        stack_.resize(first);
        push(item{item::kind::value, to_.tuple({}), {}, {}, {}, tuples_.size()});
    }

    [[nodiscard]] std::vector<item> items_of(item const& tuple) const {
        if (tuple.is != item::kind::value || tuple.held.is() != kind::tuple) fail("expected a tuple");
        if (tuple.index != 0) return tuples_[tuple.index - 1];
        std::vector<item> out;
        for (value const& each : tuple.held.list()->items) out.push_back({item::kind::value, each, {}, {}, {}});
        return out;
    }

    std::vector<value> values_above(std::size_t first) {
        std::vector<value> out;
        for (std::size_t i = first; i < stack_.size(); ++i) {
            if (stack_[i].is != item::kind::value) fail("puts a function or a storage into a container");
            out.push_back(std::move(stack_[i].held));
        }
        stack_.resize(first);
        return out;
    }

    static std::string qualified(item const& function) {
        return std::string(function.module) + '.' + std::string(function.name);
    }

    std::uint64_t take(std::size_t width) {
        if (width > code_.size() - at_) files::fail(where_, "the pickle is truncated at byte " + std::to_string(op_));
        std::uint64_t out = 0;
        for (std::size_t i = width; i-- > 0;) out = out << 8U | static_cast<unsigned char>(code_[at_ + i]);
        at_ += width;
        return out;
    }
    std::string_view bytes(std::uint64_t length) {
        if (length > code_.size() - at_) files::fail(where_, "the pickle is truncated at byte " + std::to_string(op_));
        std::string_view const out = code_.substr(at_, static_cast<std::size_t>(length));
        at_ += out.size();
        return out;
    }
    value text(std::uint64_t length) { return value::of(kind::text, std::string(bytes(length))); }
    std::string_view line() {
        std::size_t const length = code_.substr(at_, 2000).find('\n');
        if (length == std::string_view::npos) fail("has an unterminated name");
        std::string_view const out = bytes(length);
        ++at_;
        return out;
    }
    void push(item i) {
        if (stack_.size() == max_stack_size) fail("pushes more than 1048576 objects");
        stack_.push_back(std::move(i));
    }
    void push(value v) { push(item{item::kind::value, std::move(v), {}, {}, {}}); }
    item pop() {
        if (stack_.empty()) fail("takes more values from the stack than it has");
        item out = std::move(stack_.back());
        stack_.pop_back();
        return out;
    }
    std::size_t above_mark() {
        std::size_t first = stack_.size();
        while (first != 0 && stack_[first - 1].is != item::kind::mark) --first;
        if (first == 0) fail("needs a mark, but the stack has none");
        stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(first) - 1);
        return first - 1;
    }
    static std::size_t length(item const& i) { return i.held.text() == nullptr ? 0 : i.held.text()->size(); }
    void memorize(std::uint64_t index) {
        if (stack_.empty() || index > memo_.size()) fail("writes memo entries out of order");
        count(1 + length(stack_.back()) / 64);
        if (index == memo_.size()) memo_.emplace_back();
        memo_[static_cast<std::size_t>(index)] = stack_.back();
    }
    void recall(std::uint64_t index) {
        if (index >= memo_.size()) fail("reads a memo entry that was never written");
        count(1 + length(memo_[static_cast<std::size_t>(index)]) / 64);
        push(memo_[static_cast<std::size_t>(index)]);
    }
    void count(std::size_t objects) {
        objects_ += objects;
        if (objects_ > max_objects) files::fail(where_, "the pickle creates more than 4194304 objects");
    }
    [[noreturn]] void fail(std::string_view what) const {
        files::fail(where_, "the pickle at byte " + std::to_string(op_) + ": " + std::string(what));
    }

    std::string_view code_;
    std::string where_;
    storage_lookup const& storage_;
    heap& to_;
    std::size_t at_ = 0;
    std::size_t op_ = 0;
    std::size_t objects_ = 0;
    std::vector<item> stack_;
    std::vector<item> memo_;
    std::vector<std::vector<item>> tuples_; ///< those with a function or a storage
    std::vector<std::string> keys_;
};

} // namespace

value read_object(std::string_view pickle, std::string where, storage_lookup const& storage, heap& to) {
    return object_reader(pickle, std::move(where), storage, to).run();
}

} // namespace ATON_NAMESPACE::torchscript
