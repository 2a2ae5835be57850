// SPDX-License-Identifier: MIT
// The config next to the raw weights of torch 2.9 and newer: PayloadConfig and TensorMeta of torch/_export/serde/schema.py.
#include <algorithm>
#include <array>
#include <utility>

#include <simdjson.h>

#include <aton/core/budget.hpp>
#include <aton/frontend/pt2/archive.hpp>

#include "frontend/files/text.hpp"
#include "tensor_source.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// About 40,000 weights; simdjson needs up to 14 bytes for each byte.
constexpr std::size_t max_config_bytes = std::size_t{1} << 24U;
constexpr std::int64_t strided_layout = 7;

constexpr std::array<std::string_view, 8> layout_names = {
    "Unknown", "SparseCoo", "SparseCsr", "SparseCsc", "SparseBsr", "SparseBsc", "_mkldnn", "Strided"};

class payload_config final : public tensor_source {
public:
    payload_config(files::zip_directory const& directory, files::zip_member const& config, std::string folder,
                   file_bytes from)
        : directory_(directory),
          where_(directory.where() + ": member " + files::in_quotes(config.name)),
          folder_(std::move(folder)),
          from_(from) {
        std::string_view const json = directory.stored(config);
        if (json.size() > max_config_bytes)
            files::fail(where_, "is longer than 16 MiB: too many tensors for one model");
        element root;
        if (auto const e = parser_.parse(json.data(), json.size()).get(root)) files::fail(where_, message(e));
        object entries;
        if (root["config"].get(entries) != simdjson::SUCCESS) files::fail(where_, "has no object \"config\"");
        entries_.reserve(entries.size());
        for (auto const& [name, payload] : entries) entries_.emplace_back(name, payload);
        std::sort(entries_.begin(), entries_.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
        auto const duplicate = std::adjacent_find(
            entries_.begin(), entries_.end(), [](auto const& a, auto const& b) { return a.first == b.first; });
        if (duplicate != entries_.end())
            files::fail(where_, "has a duplicate tensor " + files::in_quotes(duplicate->first));
        for (auto const& [name, payload] : entries_) check(payload, place_of(name));
    }

    [[nodiscard]] std::vector<std::string_view> names() const override {
        std::vector<std::string_view> out;
        out.reserve(entries_.size());
        for (auto const& e : entries_) out.push_back(e.first);
        return out;
    }

    [[nodiscard]] std::optional<stored_tensor> find(std::string_view name) const override {
        if (entry const* const found = entry_of(name)) return decode(found->second, place_of(name), found->first);
        // A tensor in a tensor of a class.
        for (std::size_t dot = name.rfind('.'); dot != 0 && dot != std::string_view::npos;
             dot = name.rfind('.', dot - 1)) {
            std::shared_ptr<tensor_subclass const> const owner = subclass(name.substr(0, dot));
            if (owner == nullptr) continue;
            subclass_attribute inner = owner->find(name.substr(dot + 1));
            if (inner.is == subclass_attribute::kind::tensor) return std::move(inner.tensor);
            files::fail(place_of(name.substr(0, dot)),
                        "is a tensor of class " + files::in_quotes(owner->type()) + " without a tensor " +
                            files::in_quotes(name.substr(dot + 1)));
        }
        return std::nullopt;
    }

    [[nodiscard]] std::shared_ptr<tensor_subclass const> subclass(std::string_view name) const override {
        entry const* const found = entry_of(name);
        if (found == nullptr) return nullptr;
        std::string const where = place_of(name);
        description const d = describe(found->second, where);
        if (!d.is_pickled || !d.is_tensor) return nullptr;
        return read_saved_subclass(directory_.stored(record_of(found->second, where)), where, from_);
    }

private:
    using entry = std::pair<std::string_view, element>;

    [[nodiscard]] entry const* entry_of(std::string_view name) const {
        auto const found = std::lower_bound(
            entries_.begin(), entries_.end(), name, [](auto const& e, std::string_view n) { return e.first < n; });
        return found == entries_.end() || found->first != name ? nullptr : &*found;
    }

    static std::string message(simdjson::error_code e) {
        return std::string("is not valid JSON: ") + simdjson::error_message(e);
    }

    /// What an entry says.
    struct description {
        bool is_pickled = false;
        bool is_tensor = false; ///< and what follows is known
        files::zip_member const* record = nullptr;
        std::int64_t layout = 0;
        std::int64_t code = 0; ///< of the dtype
        std::vector<std::int64_t> sizes = {};
        std::vector<std::int64_t> strides = {};
        std::int64_t offset = 0;
    };

    [[nodiscard]] std::string place_of(std::string_view name) const {
        return where_ + ": tensor " + files::in_quotes(name);
    }

    [[nodiscard]] description describe(element payload, std::string const& where) const {
        description out;
        element meta;
        if (payload["use_pickle"].get(out.is_pickled) != simdjson::SUCCESS) files::fail(where, "has no \"use_pickle\"");
        if (std::string_view path; payload["path_name"].get(path) != simdjson::SUCCESS)
            files::fail(where, "has no \"path_name\"");
        bool const has_meta = payload["tensor_meta"].get(meta) == simdjson::SUCCESS && !meta.is_null();
        if (has_meta && !meta.is_object()) files::fail(where, "its \"tensor_meta\" is not an object");
        out.is_tensor = has_meta;
        if (out.is_pickled || !out.is_tensor) return out;
        out.layout = number(meta["layout"], "layout", where);
        out.code = number(meta["dtype"], "dtype", where);
        out.sizes = numbers(meta["sizes"], "sizes", where);
        out.strides = numbers(meta["strides"], "strides", where);
        out.offset = constant(meta["storage_offset"], "storage_offset", where);
        out.record = &record_of(payload, where);
        return out;
    }

    [[nodiscard]] files::zip_member const& record_of(element payload, std::string const& where) const {
        std::string_view path;
        if (payload["path_name"].get(path) != simdjson::SUCCESS) files::fail(where, "has no \"path_name\"");
        std::string const member_name = folder_ + std::string(path);
        files::zip_member const* const record = directory_.find(member_name);
        if (record == nullptr)
            files::fail(where, "is in record " + files::in_quotes(member_name) + ", which is not in the archive");
        return *record;
    }

    /// Refuses a damaged entry, whether the program uses the tensor or not. The bytes of its record are not read.
    void check(element payload, std::string const& where) const {
        description const d = describe(payload, where);
        dtype const type = dtype_of_scalar_type(d.code);
        if (d.record == nullptr || d.layout != strided_layout || type == dtype::undefined) return;
        (void)count_inside(
            type, d.sizes, d.strides, d.offset, directory_.stored(*d.record).size(), d.record->name, where);
    }

    [[nodiscard]] stored_tensor decode(element payload, std::string const& where, std::string_view key) const {
        description d = describe(payload, where);
        if (d.is_pickled)
            files::fail(
                where,
                "is pickled (a tensor subclass or an object): turn it into plain tensors before torch.export.export");
        if (!d.is_tensor) files::fail(where, "has no \"tensor_meta\": it is an object, not a tensor");
        if (d.layout != strided_layout) {
            std::string const name = d.layout >= 0 && d.layout < static_cast<std::int64_t>(layout_names.size())
                                         ? std::string(layout_names[static_cast<std::size_t>(d.layout)])
                                         : std::to_string(d.layout);
            files::fail(where, "has layout " + name + ": make it dense with .to_dense() before torch.export.export");
        }
        dtype const type = dtype_of_scalar_type(d.code);
        if (type == dtype::undefined)
            files::fail(where, "has dtype number " + std::to_string(d.code) + ", which ONNX does not have");
        return checked_tensor(type,
                              std::move(d.sizes),
                              std::move(d.strides),
                              d.offset,
                              from_.span(directory_.stored(*d.record)),
                              d.record->name,
                              where,
                              key);
    }

    template <class Result>
    static std::int64_t number(Result from, std::string_view key, std::string const& where) {
        std::int64_t out = 0;
        if (from.get(out) != simdjson::SUCCESS) files::fail(where, "has no integer \"" + std::string(key) + '"');
        return out;
    }

    /// A constant SymInt: {"as_int": 3}.
    template <class Result>
    static std::int64_t constant(Result from, std::string_view key, std::string const& where) {
        return number(from["as_int"], std::string(key) + "\" as \"as_int", where);
    }

    template <class Result>
    static std::vector<std::int64_t> numbers(Result from, std::string_view key, std::string const& where) {
        array items;
        if (from.get(items) != simdjson::SUCCESS) files::fail(where, "has no list \"" + std::string(key) + '"');
        if (std::cmp_greater(items.size(), budget::max_rank)) files::fail(where, "has more than 64 dimensions");
        std::vector<std::int64_t> out;
        out.reserve(items.size());
        for (element const item : items) out.push_back(constant(item, key, where));
        return out;
    }

    files::zip_directory const& directory_;
    std::string where_;
    std::string folder_;
    file_bytes from_;
    simdjson::dom::parser parser_;
    std::vector<entry> entries_; ///< sorted by name: immune to hash collisions
};

} // namespace

std::unique_ptr<tensor_source> read_payload_config(files::zip_directory const& directory,
                                                   files::zip_member const& config, std::string folder,
                                                   file_bytes from) {
    return std::make_unique<payload_config>(directory, config, std::move(folder), from);
}

dtype dtype_of_scalar_type(std::int64_t code) {
    switch (code) {
    case 1: return dtype::uint8;
    case 2: return dtype::int8;
    case 3: return dtype::int16;
    case 4: return dtype::int32;
    case 5: return dtype::int64;
    case 6: return dtype::float16;
    case 7: return dtype::float32;
    case 8: return dtype::float64;
    case 9: return dtype::complex32;
    case 10: return dtype::complex64;
    case 11: return dtype::complex128;
    case 12: return dtype::bool_;
    case 13: return dtype::bfloat16;
    case 28: return dtype::uint16;
    case 29: return dtype::float8_e4m3fn;
    case 30: return dtype::float8_e5m2;
    case 31: return dtype::float8_e4m3fnuz;
    case 32: return dtype::float8_e5m2fnuz;
    case 33: return dtype::float8_e8m0;
    case 34: return dtype::uint32;
    case 35: return dtype::uint64;
    default: return dtype::undefined;
    }
}

} // namespace ATON_NAMESPACE::pt2
