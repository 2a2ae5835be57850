// SPDX-License-Identifier: MIT
#include <aton/frontend/pt2/archive.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "file_kind.hpp"
#include "frontend/files/mapped_file.hpp"
#include "frontend/files/text.hpp"
#include "frontend/files/zip_directory.hpp"
#include "tensor_source.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

// torch 2.4 to 2.7: plain names at the top of the archive, one model.
constexpr std::string_view old_program = "serialized_exported_program.json";
constexpr std::string_view old_weights = "serialized_state_dict.pt";
constexpr std::string_view old_constants = "serialized_constants.pt";
constexpr std::string_view only_model = "model";

/// Text without trailing blanks and line ends.
std::string_view without_line_end(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
    return text;
}

} // namespace

struct archive::state {
    struct model {
        std::string name;
        files::zip_member const* program = nullptr;
    };
    /// Read when the first tensor is requested.
    struct sources {
        std::unique_ptr<tensor_source> weights;
        std::unique_ptr<tensor_source> constants;
    };

    state(std::string_view bytes, int descriptor, std::string name)
        : path(std::move(name)),
          from{bytes, descriptor},
          directory(read_directory(bytes, path)),
          is_old(directory.find(old_program) != nullptr) {
        if (is_old) open_old();
        else open_new();
        std::sort(models.begin(), models.end(), [](model const& a, model const& b) { return a.name < b.name; });
        for (model const& m : models) names.push_back(m.name);
    }
    explicit state(std::shared_ptr<files::mapped_file> mapped, std::string const& name)
        : state(mapped->bytes(), mapped->descriptor(), name) {
        file = std::move(mapped);
    }

    void open_new() {
        root = directory.root();
        std::string const folder = root + "models/";
        for (files::zip_member const& m : directory.members()) {
            if (!m.name.starts_with(folder) || !m.name.ends_with(".json")) continue;
            (void)directory.stored(m);
            std::string_view const name = m.name.substr(folder.size(), m.name.size() - folder.size() - 5);
            models.push_back({std::string(name), &m});
        }
        std::optional<std::string_view> const format = text("archive_format");
        if (models.empty() || !format) files::fail(path, describe_other_archive(directory, root));
        if (*format != "pt2") files::fail(path, "has archive_format " + files::in_quotes(*format) + ", not 'pt2'");
        std::optional<std::string_view> const version = text("archive_version");
        if (version != "0")
            files::fail(path,
                        "has " + (version ? "archive_version " + files::in_quotes(*version) : "no archive_version") +
                            "; only '0' is supported");
        if (text("byteorder").value_or("little") != "little")
            files::fail(path, "is big-endian; export the model again on a little-endian machine");
    }

    void open_old() {
        std::optional<std::string_view> const version = text("version");
        bool const is_known =
            version && version->size() > 2 && (*version)[0] >= '5' && (*version)[0] <= '8' && (*version)[1] == '.';
        if (!is_known)
            files::fail(path,
                        "has " + (version ? "schema version " + files::in_quotes(*version) : "no schema version") +
                            ", but only 5 to 8 are supported; export the model again with torch 2.9 or newer");
        models.push_back({std::string(only_model), directory.find(old_program)});
        (void)directory.stored(*models[0].program);
    }

    [[nodiscard]] std::optional<std::string_view> text(std::string_view name) const {
        files::zip_member const* const m = directory.find(root + std::string(name));
        return m == nullptr ? std::nullopt : std::optional(without_line_end(directory.stored(*m)));
    }

    [[nodiscard]] std::string list_of_names() const {
        constexpr std::size_t max_shown = 8;
        std::string out;
        for (std::size_t i = 0; i != std::min(max_shown, names.size()); ++i)
            out += (i == 0 ? "" : ", ") + files::in_quotes(names[i]);
        return out + (names.size() > max_shown ? ", ..." : "");
    }

    [[nodiscard]] model const& find_model(std::string_view name) const {
        if (name.empty() && models.size() == 1) return models[0];
        std::string_view const wanted = name.empty() ? only_model : name;
        auto const found = std::lower_bound(
            models.begin(), models.end(), wanted, [](model const& m, std::string_view n) { return m.name < n; });
        if (found != models.end() && found->name == wanted) return *found;
        if (name.empty()) files::fail(path, "has several models; name one of them: " + list_of_names());
        files::fail(path, "has no model " + files::in_quotes(name) + "; it has " + list_of_names());
    }

    [[nodiscard]] std::unique_ptr<tensor_source> read(tensor_role role, std::string const& name) const {
        bool const is_weight = role == tensor_role::weight;
        std::string const folder = root + (is_weight ? "data/weights/" : "data/constants/");
        std::string const saved = is_old ? std::string(is_weight ? old_weights : old_constants) : folder + name + ".pt";
        if (files::zip_member const* const m = directory.find(saved))
            return read_saved_dict(directory.stored(*m), path + ": member " + files::in_quotes(saved), from);
        std::string const config = folder + name + (is_weight ? "_weights_config.json" : "_constants_config.json");
        if (files::zip_member const* const m = directory.find(config))
            return read_payload_config(directory, *m, folder, from);
        return read_saved_dict({}, path, from);
    }

    [[nodiscard]] tensor_source const& source(std::string const& name, tensor_role role) {
        std::lock_guard const guard(lock);
        sources& s = opened[name];
        auto& wanted = role == tensor_role::weight ? s.weights : s.constants;
        if (wanted == nullptr) wanted = read(role, name);
        return *wanted;
    }

    std::string path;
    std::shared_ptr<files::mapped_file> file; ///< null: memory that the caller owns
    file_bytes from;
    files::zip_directory directory;
    bool is_old;
    std::string root;
    std::vector<model> models; ///< sorted by name
    std::vector<std::string> names;
    std::mutex lock; ///< guards `opened`
    std::map<std::string, sources> opened;
};

archive::archive(std::string const& path)
    : state_(std::make_shared<state>(std::make_shared<files::mapped_file>(path), path)) {}
archive::archive(std::shared_ptr<state> s) : state_(std::move(s)) {}
archive::archive(archive&&) noexcept = default;
archive& archive::operator=(archive&&) noexcept = default;
archive::~archive() = default;

archive archive::from_memory(std::string_view bytes, std::string_view name) {
    if (bytes.empty()) files::fail(name, "is empty");
    return archive(std::make_shared<state>(bytes, -1, std::string(name)));
}

std::string const& archive::path() const { return state_->path; }
std::vector<std::string> const& archive::models() const { return state_->names; }
std::string archive::resolve_model(std::string_view model) const { return state_->find_model(model).name; }
std::shared_ptr<void const> archive::storage() const { return state_; }

std::string_view archive::program_json(std::string_view model) const {
    return state_->directory.stored(*state_->find_model(model).program);
}

std::vector<std::string> archive::tensor_names(std::string_view model, tensor_role role) const {
    std::vector<std::string> out;
    for (std::string_view const name : state_->source(state_->find_model(model).name, role).names())
        out.emplace_back(name);
    return out;
}

stored_tensor archive::tensor(std::string_view model, tensor_role role, std::string_view name) const {
    std::string const& owner = state_->find_model(model).name;
    tensor_role const other = role == tensor_role::weight ? tensor_role::constant : tensor_role::weight;
    for (tensor_role const r : {role, other})
        if (std::optional<stored_tensor> found = state_->source(owner, r).find(name)) return *std::move(found);
    files::fail(state_->path,
                "model " + files::in_quotes(owner) + " has no weight or constant " + files::in_quotes(name));
}

std::shared_ptr<tensor_subclass const> archive::subclass(std::string_view model, tensor_role role,
                                                         std::string_view name) const {
    std::string const& owner = state_->find_model(model).name;
    tensor_role const other = role == tensor_role::weight ? tensor_role::constant : tensor_role::weight;
    for (tensor_role const r : {role, other})
        if (std::shared_ptr<tensor_subclass const> found = state_->source(owner, r).subclass(name)) return found;
    return nullptr;
}

} // namespace ATON_NAMESPACE::pt2
