// SPDX-License-Identifier: MIT
// Reads recorded calls. The schema of a call says how its arguments and results are read.
#include <aton/frontend/calls/read_calls.hpp>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <aton/aten/function_schema.hpp>
#include <aton/aten/mutation.hpp>
#include <aton/core/error.hpp>

#include "frontend/files/mapped_file.hpp"
#include "frontend/files/text.hpp"
#include "frontend/pt2/json_reader.hpp"
#include "stored_tensors.hpp"
#include "system/paths.hpp"

namespace ATON_NAMESPACE::calls {

namespace {

namespace fs = std::filesystem;
using aten::base_type;
using files::in_quotes;
using pt2::json_value;

constexpr std::string_view advice = "; docs/verify.md describes the files of recorded calls";

/// The text of `{"device": "cpu"}` or "cpu", without "torch.".
std::string_view word_of(json_value const& v, std::string_view key) {
    std::string_view text = v.is_object() ? v.member(key).name() : v.name();
    if (text.starts_with("torch.")) text.remove_prefix(6);
    return text;
}

double real_of(json_value const& v) {
    if (!v.is_text()) return v.real();
    std::string_view const text = v.text();
    return text == "inf"    ? std::numeric_limits<double>::infinity()
           : text == "-inf" ? -std::numeric_limits<double>::infinity()
           : text == "nan"  ? std::numeric_limits<double>::quiet_NaN()
                            : v.real();
}

/// 3, 0.5, true, NaN, {"float": "nan"}, {"complex": [0, 1]}.
scalar any_number(json_value const& v) {
    if (v.is_boolean()) return scalar(v.boolean());
    if (v.is_integer()) return scalar(static_cast<long long>(v.integer()));
    if (!v.is_object()) return scalar(real_of(v));
    if (std::optional<json_value> const real = v.optional_member("float")) return scalar(real_of(*real));
    json_value const parts = v.member("complex");
    if (parts.size() != 2) parts.fail("expected the real and the imaginary part");
    double both[2] = {};
    parts.for_each([&](json_value const& each, std::size_t i) { both[i] = real_of(each); });
    return scalar::complex(both[0], both[1]);
}

/// A number of this type; `true` is not an int, and 0.5 is not either.
scalar number_of(json_value const& v, base_type base) {
    scalar const n = any_number(v);
    bool const fits = base == base_type::bool_    ? n.is_bool()
                      : base == base_type::int_   ? n.is_integral() && !n.is_bool()
                      : base == base_type::float_ ? !n.is_complex() && !n.is_bool()
                                                  : true;
    if (!fits)
        v.fail(std::string("expected ") + (base == base_type::bool_  ? "true or false"
                                           : base == base_type::int_ ? "an integer"
                                                                     : "a real number"));
    return base == base_type::float_ ? scalar(n.to<double>()) : n;
}

bool is_number(base_type b) {
    return b == base_type::scalar || b == base_type::int_ || b == base_type::float_ || b == base_type::bool_ ||
           b == base_type::complex;
}

/// Reads the calls of one folder.
class call_reader {
public:
    explicit call_reader(std::string const& folder) : tensors_(folder) {}

    recorded_call read(json_value const& line, std::string place) {
        recorded_call out;
        json_value const schema = line.member("schema");
        out.schema = schema.name();
        out.place = std::move(place);
        aten::schema_head const head = aten::parse_head(out.schema);
        std::string_view const fault = aten::syntax_error(out.schema);
        if (!fault.empty()) schema.fail("is malformed: " + std::string(fault));
        if (head.ns.empty())
            schema.fail("the operator has no namespace; write it as in \"my_ops::foo(Tensor x) -> Tensor\"");
        out.overload = head.qualified;
        read_arguments(line, out);
        read_constants(line, out);
        read_results(line, out);
        if (std::optional<json_value> const compare = line.optional_member("compare"))
            out.values = compare->text() == "values";
        return out;
    }

private:
    void read_arguments(json_value const& line, recorded_call& out) {
        aten::schema_argument formal;
        aten::argument_cursor formals{out.schema};
        auto const add = [&](json_value const& v) {
            for (calls::argument const& a : out.arguments)
                if (a.name == formal.name) v.fail("a second value of the argument " + in_quotes(formal.name));
            out.arguments.push_back(argument(v, formal.type, line).named(std::string(formal.name)));
        };
        if (std::optional<json_value> const args = line.optional_member("args"))
            args->for_each([&](json_value const& each, std::size_t) {
                if (!formals.next(formal) || formal.keyword_only)
                    each.fail("the schema has fewer positional arguments");
                add(each);
            });
        if (std::optional<json_value> const kwargs = line.optional_member("kwargs"))
            kwargs->for_each_member([&](json_value const& each) {
                int position = 0;
                if (aten::find_argument(out.schema, each.key(), formal, position)) return add(each);
                std::string_view const nearest = aten::nearest_argument(out.schema, each.key());
                each.fail("the schema has no such argument" +
                          (nearest.empty() ? std::string() : "; did you mean " + in_quotes(nearest) + "?"));
            });
        for (aten::argument_cursor each{out.schema}; each.next(formal);) {
            bool const given = std::any_of(
                out.arguments.begin(), out.arguments.end(), [&](auto const& a) { return a.name == formal.name; });
            if (!given && !formal.has_default) line.fail("the argument " + in_quotes(formal.name) + " has no value");
        }
    }

    static void read_constants(json_value const& line, recorded_call& out) {
        std::optional<json_value> const constants = line.optional_member("constants");
        if (!constants) return;
        constants->for_each([&](json_value const& each, std::size_t) {
            std::string_view const name = each.name();
            if (std::ranges::find(out.arguments, name, &calls::argument::name) == out.arguments.end())
                each.fail("the call has no argument " + in_quotes(name));
            if (!is_tensor_argument(out, name))
                each.fail("the argument " + in_quotes(name) + " is not a tensor; other arguments are constants anyway");
            out.constants.emplace_back(name);
        });
    }

    void read_results(json_value const& line, recorded_call& out) {
        json_value const outputs = line.member("outputs");
        auto const count = static_cast<std::size_t>(aten::return_count(out.schema));
        bool const returns_none = count == 0 && outputs.size() == 1; // what Python makes of `-> ()`
        if (outputs.size() != count && !returns_none)
            outputs.fail("the number of results is " + std::to_string(count) + " in the schema, but " +
                         std::to_string(outputs.size()) + " here");
        aten::functional_cursor formals{out.schema};
        aten::functional_result formal;
        outputs.for_each([&](json_value const& each, std::size_t) {
            if (!returns_none && formals.next(formal)) out.results.push_back(result(each, formal.type, line));
        });
        while (formals.next(formal)) {
            std::optional<json_value> const written = line.optional_member("mutated");
            std::optional<json_value> const after = member_or_null(written, formal.written);
            if (!is_tensor_argument(out, formal.written)) { // None: the operator writes nothing
                if (after && !after->is_null())
                    after->fail("the argument " + in_quotes(formal.written) + " is None in this call");
                out.results.push_back(calls::argument::none());
                continue;
            }
            if (!after)
                line.fail("the operator writes to " + in_quotes(formal.written) +
                          ", but its value after the call is not in 'mutated'");
            if (after->is_null())
                after->fail("is null, but the argument " + in_quotes(formal.written) + " is not None in this call");
            out.results.push_back(result(*after, formal.type, line));
        }
    }

    /// A member of an object, also if it is null.
    static std::optional<json_value> member_or_null(std::optional<json_value> const& object, std::string_view name) {
        std::optional<json_value> found;
        if (object)
            object->for_each_member([&](json_value const& each) {
                if (!found && each.key() == name) found.emplace(each);
            });
        return found;
    }

    /// Whether the call has a tensor, or a list of tensors, for an argument.
    static bool is_tensor_argument(recorded_call const& call, std::string_view name) {
        auto const given = std::ranges::find(call.arguments, name, &calls::argument::name);
        return given != call.arguments.end() &&
               (given->kind == aten::argument_kind::tensor || given->kind == aten::argument_kind::tensors);
    }

    calls::argument argument(json_value const& v, aten::schema_type const& t, json_value const& line) {
        base_type const base = without_symbol(t.base);
        if (v.is_null()) return calls::argument::none();
        if (t.list) return list(v, t, line);
        if (base == base_type::tensor)
            return stored_tensors::is_tensor(v) ? calls::argument::of_tensor(tensors_.read(v, line))
                                                : calls::argument::of_number(any_number(v));
        if (is_number(base)) return calls::argument::of_number(number_of(v, base));
        switch (base) {
        case base_type::str: return calls::argument::of_text(std::string(v.text()));
        case base_type::device: return calls::argument::of_tag(std::string(word_of(v, "device")));
        case base_type::layout: return calls::argument::of_tag(std::string(word_of(v, "layout")));
        case base_type::memory_format: return calls::argument::of_tag(std::string(word_of(v, "memory_format")));
        case base_type::scalar_type: {
            dtype const type = stored_dtype(word_of(v, "dtype"));
            if (type == dtype::undefined) v.fail("unknown dtype " + in_quotes(word_of(v, "dtype")));
            return calls::argument::of_type(type);
        }
        default: v.fail("an argument of type " + std::string(t.text) + " cannot be recorded, except as null");
        }
    }

    calls::argument list(json_value const& v, aten::schema_type const& t, json_value const& line) {
        base_type const base = without_symbol(t.base);
        if (base == base_type::tensor) {
            std::vector<std::optional<tensor>> all;
            v.for_each([&](json_value const& each, std::size_t) {
                if (each.is_null() && !t.element_optional)
                    each.fail("an element of " + std::string(t.text) + " is null");
                all.push_back(each.is_null() ? std::optional<tensor>() : tensors_.read(each, line));
            });
            return calls::argument::of_tensors(std::move(all));
        }
        if (base == base_type::str) {
            std::vector<std::string> all;
            v.for_each([&](json_value const& each, std::size_t) { all.emplace_back(each.text()); });
            return calls::argument::of_texts(std::move(all));
        }
        if (!is_number(base))
            v.fail("an argument of type " + std::string(t.text) + " cannot be recorded, except as null");
        std::vector<scalar> all;
        if (v.is_array())
            v.for_each([&](json_value const& each, std::size_t) { all.push_back(number_of(each, base)); });
        else all.assign(static_cast<std::size_t>(std::max(1, t.list_size)), number_of(v, base));
        return calls::argument::of_numbers(std::move(all));
    }

    /// Numbers become 0-d tensors.
    calls::argument result(json_value const& v, aten::schema_type const& t, json_value const& line) {
        base_type const base = without_symbol(t.base);
        if (v.is_null()) return calls::argument::none();
        if (t.list && base == base_type::tensor) return list(v, t, line);
        if (!t.list && is_number(base)) {
            scalar const n = number_of(v, base);
            return calls::argument::of_tensor(scalar_tensor(n, dtype_of(n)));
        }
        if (t.list || base != base_type::tensor)
            v.fail("a result of type " + std::string(t.text) + " cannot be compared");
        return calls::argument::of_tensor(tensors_.read(v, line));
    }

    stored_tensors tensors_;
};

/// Calls `visit` with the text and the place, "calls.jsonl:3", of each line of a file that is not blank.
template <class Visit>
void for_each_line(std::string const& path, Visit visit) {
    files::mapped_file const file(path);
    std::size_t number = 0;
    for (std::string_view rest = file.bytes(); !rest.empty();) {
        std::string_view const text = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), text.size() + 1));
        ++number;
        if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
        visit(text, path + ':' + std::to_string(number));
    }
}

} // namespace

std::vector<recorded_call> read_calls(std::string const& folder) {
    std::vector<fs::path> files;
    std::error_code fault;
    for (fs::directory_iterator each(system::path_of(folder), fault), end; !fault && each != end; each.increment(fault))
        if (each->path().extension() == ".jsonl") files.push_back(each->path());
    if (fault) throw error(folder + ": " + fault.message());
    if (files.empty()) throw error(folder + ": has no .jsonl file with recorded calls");
    std::sort(files.begin(), files.end());
    std::vector<recorded_call> out;
    call_reader reader(folder);
    for (fs::path const& path : files)
        for_each_line(system::text_of(path), [&](std::string_view text, std::string const& place) {
            pt2::json_document const line(text, place, advice);
            json_value const root = line.root();
            out.push_back(reader.read(root, place));
        });
    return out;
}

void visit_calls(std::string const& file, std::function<void(recorded_call)> const& visit,
                 std::function<void(error const&)> const& refuse) {
    fs::path const folder = system::path_of(file).parent_path();
    call_reader reader(folder.empty() ? "." : system::text_of(folder));
    for_each_line(file, [&](std::string_view text, std::string const& place) {
        std::optional<recorded_call> made;
        try {
            pt2::json_document const line(text, place, advice);
            json_value const root = line.root();
            made = reader.read(root, place);
        } catch (error const& fault) {
            return refuse(fault);
        }
        visit(std::move(*made));
    });
}

} // namespace ATON_NAMESPACE::calls
