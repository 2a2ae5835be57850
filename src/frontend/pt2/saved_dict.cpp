// SPDX-License-Identifier: MIT
// Reads files of torch.save inside another archive: of {name: tensor}, the weights of torch 2.4 to 2.8, and of one tensor of a class.
#include <utility>

#include "frontend/files/text.hpp"
#include "pickle_reader.hpp"
#include "tensor_source.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

/// A file of torch.save, whose pickle and storages are members of it.
class saved_file {
public:
    saved_file(std::string_view bytes, std::string const& where, file_bytes from)
        : directory_(bytes, where),
          from_(from) {}

    [[nodiscard]] std::string_view pickle() const {
        std::string const root(directory_.root());
        if (files::zip_member const* order = directory_.find(root + "byteorder");
            order != nullptr && directory_.stored(*order) != "little")
            files::fail(directory_.where(), "is big-endian; export the model again on a little-endian machine");
        files::zip_member const* const pickle = directory_.find(root + "data.pkl");
        if (pickle == nullptr) files::fail(directory_.where(), "has no data.pkl, so it is not a file of torch.save");
        return directory_.stored(*pickle);
    }

    [[nodiscard]] stored_tensor tensor(pickled_tensor found, std::string_view name) const {
        std::string const where = directory_.where() + ": tensor " + files::in_quotes(name);
        std::string member_name(directory_.root());
        member_name += "data/";
        member_name += found.storage;
        files::zip_member const* const member = directory_.find(member_name);
        if (member == nullptr)
            files::fail(where,
                        "its record " + files::in_quotes(member_name) +
                            " is missing: saved without data (a fake or meta tensor); load the weights before "
                            "torch.export.save");
        std::string_view record = directory_.stored(*member);
        if (record.size() < found.storage_bytes && !record.empty())
            files::fail(where,
                        "its storage has " + std::to_string(found.storage_bytes) + " bytes, but its record " +
                            files::in_quotes(member_name) + " has only " + std::to_string(record.size()));
        record = record.substr(0, static_cast<std::size_t>(found.storage_bytes));
        return checked_tensor(found.type,
                              std::move(found.sizes),
                              std::move(found.strides),
                              found.offset,
                              from_.span(record),
                              member_name,
                              where);
    }

private:
    files::zip_directory directory_;
    file_bytes from_;
};

class saved_dict final : public tensor_source {
public:
    saved_dict(std::string_view bytes, std::string const& where, file_bytes from)
        : file_(bytes, where, from),
          tensors_(file_.pickle(), where) {}

    [[nodiscard]] std::vector<std::string_view> names() const override { return tensors_.names(); }

    [[nodiscard]] std::optional<stored_tensor> find(std::string_view name) const override {
        std::optional<pickled_tensor> found = tensors_.find(name);
        if (!found) return std::nullopt;
        return file_.tensor(*std::move(found), name);
    }

private:
    saved_file file_;
    pickled_tensors tensors_;
};

class saved_subclass final : public tensor_subclass {
public:
    saved_subclass(std::string_view bytes, std::string const& where, file_bytes from)
        : file_(bytes, where, from),
          pickled_(file_.pickle(), where),
          type_(pickled_.type()),
          sizes_(pickled_.sizes()) {}

    [[nodiscard]] std::string const& type() const noexcept override { return type_; }
    [[nodiscard]] dtype element_type() const noexcept override { return pickled_.element_type(); }
    [[nodiscard]] std::vector<std::int64_t> const& sizes() const noexcept override { return sizes_; }
    [[nodiscard]] subclass_attribute find(std::string_view path) const override {
        using kind = subclass_attribute::kind;
        subclass_attribute out;
        std::optional<pickled_attribute> found = pickled_.find(path);
        if (!found) return out;
        static constexpr kind kinds[] = {
            kind::none, kind::boolean, kind::number, kind::real, kind::text, kind::numbers, kind::tensor, kind::object};
        out.is = kinds[static_cast<std::size_t>(found->is)];
        out.number = found->number;
        out.real = found->real;
        out.text = std::move(found->text);
        out.numbers = std::move(found->numbers);
        if (found->tensor) out.tensor = file_.tensor(*std::move(found->tensor), path);
        return out;
    }

private:
    saved_file file_;
    pickled_subclass pickled_;
    std::string type_;
    std::vector<std::int64_t> sizes_;
};

class no_tensors final : public tensor_source {
public:
    [[nodiscard]] std::vector<std::string_view> names() const override { return {}; }
    [[nodiscard]] std::optional<stored_tensor> find(std::string_view /*name*/) const override { return std::nullopt; }
};

} // namespace

std::unique_ptr<tensor_source> read_saved_dict(std::string_view bytes, std::string const& where, file_bytes from) {
    if (bytes.empty()) return std::make_unique<no_tensors>();
    if (!files::looks_like_zip(bytes))
        files::fail(where, "is not a ZIP file of torch.save; export the model again with torch.export.save");
    return std::make_unique<saved_dict>(bytes, where, from);
}

std::shared_ptr<tensor_subclass const> read_saved_subclass(std::string_view bytes, std::string const& where,
                                                           file_bytes from) {
    if (!files::looks_like_zip(bytes)) files::fail(where, "is pickled, but not a ZIP file of torch.save");
    return std::make_shared<saved_subclass>(bytes, where, from);
}

} // namespace ATON_NAMESPACE::pt2
