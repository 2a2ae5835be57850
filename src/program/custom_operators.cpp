// SPDX-License-Identifier: MIT
#include "custom_operators.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <aton/aten/mutation.hpp>
#include <aton/aten/schema_table.hpp>
#include <aton/core/error.hpp>

#include "functionalized_views.hpp"
#include "node_arguments.hpp"
#include "row_schema.hpp"

namespace ATON_NAMESPACE::program {

namespace {

constexpr std::string_view version_1 = "higher_order::auto_functionalized";
constexpr std::string_view version_2 = "higher_order::auto_functionalized_v2";

/// A mutated argument, inferred from a node without the operator's schema.
struct formal {
    std::string name;
    bool is_list = false;
};

class call_decoder {
public:
    call_decoder(node_emitter& out, node const& n, std::string_view schema)
        : out_(out),
          from_(n),
          schema_(schema),
          taken_(n.arguments.size()) {
        made_.call.op = functionalized_operator(out.owner(), n);
        made_.call.name = n.name;
        made_.call.origin = n.origin;
        if (!schema.empty()) made_.op = read_custom_operator(schema);
        for (std::size_t i = 0; i != n.arguments.size(); ++i) taken_[i] = n.arguments[i].kind == argument_kind::op;
    }

    decoded_call decode_v1() {
        if (schema_.empty()) {
            made_.call.is_functional = true;
            copy_rest();
            made_.call.results = from_.results;
            if (returns_none()) made_.call.results.erase(made_.call.results.begin());
            return std::move(made_);
        }
        std::size_t const written_count = require_schema_of_v1();
        std::size_t const own = split_results(written_count);
        aten::schema_argument each;
        std::size_t written = 0;
        for (aten::argument_cursor arguments(schema_); arguments.next(each);) {
            argument const* const given = take(std::string(each.name));
            if (each.type.mutates) ++written;
            if (given == nullptr) continue;
            made_.call.arguments.push_back(*given);
            if (!each.type.mutates) continue;
            result const& now = from_.results[own + written - 1];
            std::span<value_ref> const tensors = tensors_of(made_.call.arguments.back());
            for (std::size_t i = 0; i != tensors.size(); ++i)
                if (tensors[i] != no_value)
                    tensors[i] = copy_of(tensors[i], i < now.values.size() ? now.values[i] : no_value);
        }
        finish();
        return std::move(made_);
    }

    decoded_call decode_v2() {
        if (argument const* const bases = take("_all_bases"); bases != nullptr)
            bases_.assign(tensors_of(*bases).begin(), tensors_of(*bases).end());
        std::vector<formal> written = find_written();
        if (!schema_.empty()) {
            require_schema_of_v2(written);
            written.clear();
        }
        bool const makes_outs = bases_.empty() && has_outs(written);
        std::size_t const own = makes_outs ? from_.results.size() : split_results(bases_.size());
        for (std::size_t i = 0; i != bases_.size(); ++i) {
            result const& now = from_.results[own + i];
            if (bases_[i] == no_value) fail("one of its base tensors is None");
            bases_[i] = copy_of(bases_[i], now.values.size() == 1 ? now.values.front() : no_value);
        }
        aten::schema_argument each;
        for (aten::argument_cursor arguments(schema_); arguments.next(each);) {
            if (each.type.mutates) {
                add_written({std::string(each.name), each.type.list}, makes_outs);
            } else if (argument const* const given = take(std::string(each.name)); given != nullptr) {
                made_.call.arguments.push_back(*given);
            }
        }
        for (formal const& f : written) {
            add_written(f, makes_outs);
            made_.op.written.push_back({f.name, makes_outs ? made_.op.written.size() : written_argument::npos});
        }
        if (schema_.empty()) {
            std::vector<argument> last = std::exchange(made_.call.arguments, {});
            copy_rest();
            std::move(last.begin(), last.end(), std::back_inserter(made_.call.arguments));
            made_.op.results = made_.call.results.size();
            if (makes_outs) made_.op.results = from_.results.size();
        }
        if (makes_outs) made_.call.results = from_.results;
        finish();
        return std::move(made_);
    }

private:
    [[noreturn]] void fail(std::string const& what) const {
        throw error(describe(out_.owner(), from_) + ": " + what + "; the file is damaged, or newer than this reader");
    }

    argument const* take(std::string const& name) {
        for (std::size_t i = 0; i != from_.arguments.size(); ++i) {
            if (taken_[i] || from_.arguments[i].name != name) continue;
            taken_[i] = true;
            return &from_.arguments[i];
        }
        return nullptr;
    }
    [[nodiscard]] bool has(std::string const& name) const { return find_argument(from_, name) != nullptr; }

    /// Refuses a schema with other names, or another number of written arguments or results, than the call. Returns the number of written
    /// arguments, whose new values follow the results; the None of `-> ()` is a result here.
    [[nodiscard]] std::size_t require_schema_of_v1() const {
        std::vector<std::string> given;
        for (argument const& each : from_.arguments)
            if (each.kind != argument_kind::op) given.push_back(each.name);
        require_names(out_.owner(), made_.call, given, schema_);
        std::size_t const written = made_.op.written.size();
        std::size_t const own = made_.op.results == 0 && returns_none() ? 1 : made_.op.results;
        if (from_.results.size() >= own)
            require_write_count(out_.owner(), made_.call, from_.results.size() - own, schema_);
        return written;
    }

    /// The same; this form says what the operator writes to.
    void require_schema_of_v2(std::vector<formal> const& found) const {
        std::vector<std::string> written;
        std::vector<std::string> read;
        for (formal const& f : found) written.push_back(f.name);
        for (argument const& a : from_.arguments) {
            bool const describes = std::any_of(
                found.begin(), found.end(), [&](formal const& f) { return a.name.starts_with('_' + f.name + '_'); });
            if (a.kind != argument_kind::op && a.name != "_all_bases" && !describes) read.push_back(a.name);
        }
        require_writes(out_.owner(), made_.call, read, written, schema_);
        std::size_t const copies = bases_.empty() && has_outs(found) ? 0 : bases_.size();
        if (from_.results.size() < copies) return; // split_results() refuses it
        std::size_t const own = from_.results.size() - copies;
        bool const none = own == 1 && made_.op.results == 0 && returns_none();
        require_result_count(out_.owner(), made_.call, none ? 0 : own, schema_);
    }

    void copy_rest() {
        for (std::size_t i = 0; i != taken_.size(); ++i)
            if (!taken_[i]) made_.call.arguments.push_back(from_.arguments[i]);
        taken_.assign(taken_.size(), true);
    }

    void finish() const {
        for (std::size_t i = 0; i != taken_.size(); ++i)
            if (!taken_[i])
                fail("its argument '" + from_.arguments[i].name + "' is not an argument of " + made_.call.op);
        if (made_.call.results.size() != made_.op.results)
            fail("it has " + std::to_string(made_.call.results.size()) + " results, " + made_.call.op + " has " +
                 std::to_string(made_.op.results));
    }

    /// Whether the operator returns None: its schema ends in `-> ()`.
    [[nodiscard]] bool returns_none() const {
        return !from_.results.empty() && from_.results.front().values.empty() && !from_.results.front().is_list;
    }

    /// Assigns the results of the operator to the call, excluding the `copies` at the end. Returns their number, including the None of
    /// `-> ()`.
    std::size_t split_results(std::size_t copies) {
        if (from_.results.size() < copies) fail("it has fewer results than copied tensors");
        std::size_t const own = from_.results.size() - copies;
        bool const none = own == 1 && returns_none() && (schema_.empty() || made_.op.results == 0);
        if (!none)
            made_.call.results.assign(from_.results.begin(), from_.results.begin() + static_cast<std::ptrdiff_t>(own));
        return own;
    }

    value_index add_before(std::string_view op, std::vector<argument> arguments, value_index made) {
        made_.before.push_back(view_node(out_.owner(), from_, op, std::move(arguments), made));
        return made;
    }

    value_index copy_of(value_index v, value_index made) {
        return add_before("aten::clone", {tensor_argument("self", v)}, made == no_value ? out_.fresh(v) : made);
    }

    /// "_x_base_index" belongs to x, "_ys_length" to a list ys, whose elements have "_ys_0_base_index", and "_x_dtype" to an out argument x.
    [[nodiscard]] std::vector<formal> find_written() const {
        std::vector<formal> found;
        auto const offer = [&](std::string_view name, std::string_view end, bool is_list) {
            aten::schema_argument own;
            int position = 0;
            if (!name.starts_with('_') || !name.ends_with(end) || aten::find_argument(schema_, name, own, position))
                return;
            std::string const stem(name.substr(1, name.size() - 1 - end.size()));
            bool const is_element = std::any_of(found.begin(), found.end(), [&](formal const& f) {
                return f.is_list && stem.starts_with(f.name + '_') &&
                       stem.find_first_not_of("0123456789", f.name.size() + 1) == std::string::npos;
            });
            if (!is_element) found.push_back({stem, is_list});
        };
        for (argument const& a : from_.arguments) {
            offer(a.name, "_length", true);
            offer(a.name, "_base_index", false);
            if (bases_.empty() && a.kind == argument_kind::type) offer(a.name, "_dtype", false);
        }
        return found;
    }

    /// Whether the mutated arguments are out tensors that the node creates (torch.Tag.out).
    [[nodiscard]] bool has_outs(std::vector<formal> const& written) const {
        auto const is_made = [&](std::string const& name) {
            return has('_' + name + "_dtype") && has('_' + name + "_size");
        };
        for (formal const& f : written)
            if (is_made(f.name)) return true;
        for (written_argument const& w : made_.op.written)
            if (is_made(w.name)) return true;
        return false;
    }

    void add_written(formal const& f, bool makes_outs) {
        if (makes_outs) return add_out(f.name);
        if (!f.is_list) {
            value_index const v = view_of_base('_' + f.name);
            made_.call.arguments.push_back(tensor_argument(f.name, v));
            return;
        }
        argument const* const length = take('_' + f.name + "_length");
        constexpr std::int64_t max_length = 1'000'000;
        if (length == nullptr) fail("it has no argument '_" + f.name + "_length'");
        if (length->kind == argument_kind::none) {
            made_.call.arguments.push_back(argument::none().named(f.name));
            return;
        }
        std::int64_t const count = integer_of(*length).value_or(-1);
        if (count < 0 || count > max_length || static_cast<std::size_t>(count) > from_.arguments.size())
            fail("its argument '" + length->name + "' is not a length");
        std::vector<value_index> all;
        for (std::int64_t i = 0; i != count; ++i) all.push_back(view_of_base('_' + f.name + '_' + std::to_string(i)));
        made_.call.arguments.push_back(tensors_argument(f.name, all));
    }

    /// The tensor that the arguments "<prefix>_base_index" and so on describe.
    value_index view_of_base(std::string const& prefix) {
        argument const* const index = take(prefix + "_base_index");
        if (index == nullptr) fail("it has no argument '" + prefix + "_base_index'");
        if (index->kind == argument_kind::none) return no_value;
        std::int64_t const at = integer_of(*index).value_or(-1);
        if (at < 0 || static_cast<std::size_t>(at) >= bases_.size())
            fail("its argument '" + index->name + "' is not the index of a base tensor");
        value_index const base = bases_[static_cast<std::size_t>(at)];
        if (take(prefix + "_alias") != nullptr) return base;
        argument const* const dim = take(prefix + "_slice_dim");
        argument const* const start = take(prefix + "_slice_start");
        argument const* const end = take(prefix + "_slice_end");
        argument const* const sizes = take(prefix + "_size");
        argument const* const strides = take(prefix + "_stride");
        argument const* const offset = take(prefix + "_storage_offset");
        std::optional<functionalized_view> view;
        if (dim == nullptr && sizes == nullptr) return base;
        if (dim != nullptr && start != nullptr && end != nullptr)
            view = slice_of(out_, from_, base, {*dim, *start, *end});
        else if (sizes != nullptr && strides != nullptr && offset != nullptr)
            view = strided_of(out_, from_, base, {*sizes, *strides, *offset});
        if (!view) fail("its arguments '" + prefix + "_...' do not describe a view of its base");
        std::move(view->nodes.begin(), view->nodes.end(), std::back_inserter(made_.before));
        return view->value;
    }

    /// Adds an out argument: an empty tensor with the recorded dtype and layout.
    void add_out(std::string const& name) {
        argument const* const sizes = take('_' + name + "_size");
        argument const* const strides = take('_' + name + "_stride");
        argument const* const type = take('_' + name + "_dtype");
        take('_' + name + "_device");
        if (sizes == nullptr || strides == nullptr || type == nullptr || type->kind != argument_kind::type)
            fail("its arguments '_" + name + "_...' do not describe a tensor");
        value empty;
        empty.name = from_.name + '_' + name;
        empty.has_type = true;
        empty.type = type->type;
        auto const known_sizes = extents_of(out_.owner(), *sizes);
        auto const known_strides = extents_of(out_.owner(), *strides);
        if (!known_sizes || !known_strides || known_sizes->size() != known_strides->size())
            fail("its arguments '_" + name + "_...' do not describe a tensor");
        empty.sizes = *known_sizes;
        empty.strides = *known_strides;
        value_index const made = add_before("aten::empty.memory_format",
                                            {renamed(*sizes, "size"), type_argument("dtype", type->type)},
                                            out_.fresh(std::move(empty)));
        made_.call.arguments.push_back(tensor_argument(name, made));
    }

    node_emitter& out_;
    node const& from_;
    std::string_view schema_;
    std::vector<bool> taken_; ///< arguments of the node that were used
    std::vector<value_index> bases_;
    decoded_call made_;
};

} // namespace

custom_operator read_custom_operator(std::string_view schema) {
    custom_operator out;
    aten::schema_argument argument;
    std::size_t returned = 0;
    for (aten::argument_cursor each(schema); each.next(argument);) {
        if (!argument.type.mutates) continue;
        int const result = aten::returned_as(schema, argument);
        written_argument made{std::string(argument.name), written_argument::npos};
        if (result >= 0) made.result = static_cast<std::size_t>(result);
        if (result >= 0) ++returned;
        out.written.push_back(std::move(made));
    }
    aten::schema_return r;
    std::size_t annotated = 0;
    for (aten::return_cursor each(schema); each.next(r); ++out.results)
        if (!r.type.alias.empty()) ++annotated;
    out.returns_view = annotated != returned;
    return out;
}

bool is_auto_functionalized(node const& n) {
    return n.kind == node_kind::higher_order && (n.op == version_1 || n.op == version_2);
}

std::string const& functionalized_operator(program const& p, node const& n) {
    for (argument const& a : n.arguments)
        if (a.kind == argument_kind::op && a.text.find("::") != std::string::npos) return a.text;
    throw error(describe(p, n) + ": the operator that it runs is not recorded");
}

decoded_call decode_functionalized(node_emitter& out, node const& n, std::string_view schema) {
    call_decoder one(out, n, schema);
    return n.op == version_1 ? one.decode_v1() : one.decode_v2();
}

} // namespace ATON_NAMESPACE::program
