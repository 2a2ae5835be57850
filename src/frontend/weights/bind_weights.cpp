// SPDX-License-Identifier: MIT
#include <aton/frontend/weights/bind_weights.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <aton/core/counted.hpp>

#include "frontend/files/text.hpp"
#include "frontend/pt2/json_reader.hpp"
#include "system/paths.hpp"
#include "weight_files.hpp"
#include "weight_names.hpp"

namespace ATON_NAMESPACE::weights {

namespace {

using program::input;
using program::input_kind;

/// Of names in a message.
constexpr std::size_t max_listed = 5;
constexpr std::size_t max_config_bytes = std::size_t{1} << 20U;

std::string list_of(std::vector<std::string> const& names) {
    std::string out;
    for (std::size_t i = 0; i != std::min(max_listed, names.size()); ++i)
        out += (i == 0 ? "" : ", ") + files::in_quotes(names[i]);
    return out + (names.size() > max_listed ? ", ..." : "");
}

bool is_weight(input const& in) {
    return in.value != program::no_value && !in.data.parts.empty() &&
           (in.kind == input_kind::parameter || in.kind == input_kind::buffer || in.kind == input_kind::constant);
}

/// Whether the state dict of a module has it.
bool is_saved(input const& in) {
    return in.kind == input_kind::parameter || (in.kind == input_kind::buffer && in.persistent);
}

bool can_convert(dtype t) {
    return t == dtype::float16 || t == dtype::bfloat16 || t == dtype::float32 || t == dtype::float64;
}

/// Whether two weights of the program are the same bytes.
bool is_same(stored_tensor const& a, stored_tensor const& b) {
    if (a.is_absent() || b.is_absent() || a.type != b.type || a.sizes != b.sizes) return false;
    stored_part const& x = a.parts.front();
    stored_part const& y = b.parts.front();
    return a.element_count() != 0 && x.bytes.data == y.bytes.data && x.offset == y.offset && x.strides == y.strides;
}

/// What the config.json of the folder says about tied embeddings; nothing without one.
std::optional<bool> ties_embeddings(std::string const& folder) {
    std::string const path = system::text_of(system::path_of(folder) / "config.json");
    std::error_code failure;
    auto const size = std::filesystem::file_size(system::path_of(path), failure);
    if (failure || size == 0 || size > max_config_bytes) return {};
    files::mapped_file const config(path);
    pt2::json_document const document(config.bytes(), path, "; remove it, or correct it");
    pt2::json_value const root = document.root();
    for (std::string_view const inner : {"", "text_config"}) {
        if (!root.is_object()) return {};
        auto const held = inner.empty() ? std::optional(root) : root.optional_member(inner);
        if (!held || !held->is_object()) continue;
        auto const ties = held->optional_member("tie_word_embeddings");
        if (ties && ties->is_boolean()) return ties->boolean();
    }
    return {};
}

class binder {
public:
    binder(program::program& p, binding_options const& options)
        : program_(p),
          options_(options),
          files_(std::make_shared<weight_files>(options.from)),
          names_(wanted(p), files_->names(), options.rules),
          ties_(ties_embeddings(files_->folder())) {}

    void run() {
        program::given_weights& given = program_.given.emplace();
        given.source = options_.from;
        given.files = files_->paths();
        std::vector<std::optional<stored_tensor>> found;
        std::vector<std::string> missing;
        bool has_unsaved = false;
        for (input const& in : program_.inputs) {
            found.emplace_back();
            if (!is_weight(in) || !(is_saved(in) || in.data.is_absent())) continue;
            found.back() = find(in);
            if (found.back()) continue;
            if (in.data.is_absent()) {
                missing.push_back(in.target);
                has_unsaved = has_unsaved || !is_saved(in);
            } else {
                given.kept.push_back(in.target);
            }
        }
        if (!missing.empty()) refuse(missing, has_unsaved);
        for (std::size_t i = 0; i != found.size(); ++i)
            if (found[i]) program_.inputs[i].data = *std::move(found[i]);
        for (std::string_view const name : files_->names())
            if (!used_.contains(name)) given.unused.emplace_back(name);
        program_.storage = std::make_shared<std::pair<std::shared_ptr<void const>, std::shared_ptr<void const>>>(
            std::move(program_.storage), files_);
    }

private:
    static std::vector<std::string_view> wanted(program::program const& p) {
        std::vector<std::string_view> out;
        for (input const& in : p.inputs)
            if (is_weight(in) && is_saved(in)) out.emplace_back(in.target);
        return out;
    }

    std::optional<stored_tensor> find(input const& in) {
        std::vector<std::string> names = names_.find(in.target);
        if (names.empty()) names = tied_in_program(in);
        if (names.empty()) names = tied_by_custom(in);
        if (names.empty()) return {};
        for (std::string const& name : names) used_.insert(name);
        return names.size() == 1 ? single(in, names[0]) : joined(in, names);
    }

    /// Another name of a weight that the program has twice.
    std::vector<std::string> tied_in_program(input const& in) const {
        for (input const& other : program_.inputs)
            if (&other != &in && is_weight(other) && is_same(in.data, other.data))
                if (std::vector<std::string> names = names_.find(other.target); !names.empty()) return names;
        return {};
    }

    /// The only tensor with the same sizes to which models tie weights of this name, unless config.json says that they do not.
    std::vector<std::string> tied_by_custom(input const& in) {
        if (ties_ == false || !is_saved(in)) return {};
        std::vector<std::string> fitting;
        for (std::string& name : names_.ties(in.target)) {
            std::optional<stored_tensor> const t = files_->find(name);
            if (t && t->sizes == in.data.sizes && std::find(fitting.begin(), fitting.end(), name) == fitting.end())
                fitting.push_back(std::move(name));
        }
        if (fitting.size() != 1) return {};
        if (!ties_) program_.given->assumed.emplace_back(in.target, fitting[0]);
        return fitting;
    }

    [[nodiscard]] stored_tensor get(input const& in, std::string const& name) const {
        stored_tensor out = *files_->find(name);
        dtype const type = in.data.type;
        if (out.type == type) return out;
        std::string const both = files::in_quotes(in.target) + " is " + std::string(aton::name(type)) +
                                 " in the program, but " + std::string(aton::name(out.type));
        if (!can_convert(type) || !can_convert(out.type)) fail(both + " there, which cannot be converted");
        if (!options_.converts)
            fail(both + " there; --weights-cast converts it, or export a program of that dtype (model.to(torch." +
                 std::string(aton::name(out.type)) + "))");
        for (stored_part& part : out.parts) part.stored_as = out.type;
        out.type = type;
        return out;
    }

    [[nodiscard]] stored_tensor single(input const& in, std::string const& name) const {
        stored_tensor out = get(in, name);
        if (out.sizes == in.data.sizes) return out;
        fail(files::in_quotes(in.target) + " is " + files::type_text(in.data.type, in.data.sizes) +
             " in the program, but " + files::type_text(out.type, out.sizes) +
             (name == in.target ? "" : " (" + files::in_quotes(name) + ")") + " there");
    }

    /// Pieces of the same type, one after the other: along the first axis, or along the second one of a stack.
    [[nodiscard]] stored_tensor joined(input const& in, std::vector<std::string> const& names) const {
        std::vector<std::int64_t> const& sizes = in.data.sizes;
        stored_tensor out{in.data.type, sizes, {}};
        std::uint64_t count = 0;
        for (std::string const& name : names) {
            stored_tensor piece = get(in, name);
            std::size_t const rank = piece.sizes.size();
            bool const fits = rank != 0 && (rank == sizes.size() || rank + 1 == sizes.size()) &&
                              std::equal(piece.sizes.begin() + 1,
                                         piece.sizes.end(),
                                         sizes.end() - static_cast<std::ptrdiff_t>(rank - 1),
                                         sizes.end());
            if (!fits)
                fail(files::in_quotes(in.target) + " is " + files::type_text(in.data.type, sizes) +
                     " in the program, and cannot have the piece " + files::in_quotes(name) + ", which is " +
                     files::type_text(piece.type, piece.sizes));
            count += static_cast<std::uint64_t>(piece.element_count());
            out.parts.insert(out.parts.end(), piece.parts.begin(), piece.parts.end());
        }
        if (count != static_cast<std::uint64_t>(in.data.element_count()))
            fail(files::in_quotes(in.target) + " is " + files::type_text(in.data.type, sizes) +
                 " in the program, but its " + std::to_string(names.size()) + " pieces have " + std::to_string(count) +
                 " elements there");
        return out;
    }

    [[noreturn]] void fail(std::string const& what) const { files::fail(program_.file, options_.from + ": " + what); }

    [[noreturn]] void refuse(std::vector<std::string> const& missing, bool has_unsaved) const {
        std::vector<std::string> unused;
        for (std::string_view const name : files_->names())
            if (!used_.contains(name)) unused.emplace_back(name);
        std::string text =
            counted(missing.size(), "weight") + " of the program has no numbers there: " + list_of(missing);
        if (missing.size() > 1) text.replace(text.find(" has no"), 7, " have no");
        std::string const expected = names_.expected(missing[0]);
        if (expected != missing[0]) text += " (the first would be " + files::in_quotes(expected) + ")";
        if (has_unsaved)
            text += "; buffers and constants that checkpoints do not have need their numbers before torch.export.save";
        else if (!unused.empty())
            text += "; unused there: " + list_of(unused) + "; --weights-map OLD=NEW says what a weight is called there";
        fail(text);
    }

    program::program& program_;
    binding_options const& options_;
    std::shared_ptr<weight_files> files_;
    weight_names names_;
    std::optional<bool> ties_;
    std::set<std::string, std::less<>> used_;
};

} // namespace

void bind(program::program& p, binding_options const& options) {
    for (name_rule const& rule : options.rules) require_valid(rule);
    binder(p, options).run();
}

void require_numbers(program::program const& p) {
    std::vector<std::string> absent;
    for (input const& in : p.inputs)
        if (in.data.is_absent()) absent.push_back(in.target);
    if (absent.empty()) return;
    files::fail(p.file,
                "has no numbers for " + counted(absent.size(), "weight") + " (" + list_of(absent) +
                    "): it was saved with fake or meta tensors; --weights-from FILE gives them");
}

} // namespace ATON_NAMESPACE::weights
