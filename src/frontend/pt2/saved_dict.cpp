// SPDX-License-Identifier: MIT
// Reads a file of torch.save({name: tensor}) inside another archive: the weights of torch 2.4 to 2.8.
#include <utility>

#include "frontend/files/text.hpp"
#include "pickle_reader.hpp"
#include "tensor_source.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

class saved_dict final : public tensor_source {
public:
    saved_dict(std::string_view bytes, std::string const& where, file_bytes from)
        : directory_(bytes, where),
          from_(from),
          tensors_(read_pickle(directory_), where) {}

    [[nodiscard]] std::vector<std::string_view> names() const override { return tensors_.names(); }

    [[nodiscard]] std::optional<stored_tensor> find(std::string_view name) const override {
        std::optional<pickled_tensor> found = tensors_.find(name);
        if (!found) return std::nullopt;
        std::string const where = directory_.where() + ": tensor " + files::in_quotes(name);
        std::string member_name(directory_.root());
        member_name += "data/";
        member_name += found->storage;
        files::zip_member const* const member = directory_.find(member_name);
        if (member == nullptr)
            files::fail(where,
                        "its record " + files::in_quotes(member_name) +
                            " is missing: saved without data (a fake or meta tensor); load the weights before "
                            "torch.export.save");
        std::string_view record = directory_.stored(*member);
        if (record.size() < found->storage_bytes && !record.empty())
            files::fail(where,
                        "its storage has " + std::to_string(found->storage_bytes) + " bytes, but its record " +
                            files::in_quotes(member_name) + " has only " + std::to_string(record.size()));
        record = record.substr(0, static_cast<std::size_t>(found->storage_bytes));
        return checked_tensor(found->type,
                              std::move(found->sizes),
                              std::move(found->strides),
                              found->offset,
                              from_.span(record),
                              member_name,
                              where);
    }

private:
    static std::string_view read_pickle(files::zip_directory const& directory) {
        std::string const root(directory.root());
        if (files::zip_member const* order = directory.find(root + "byteorder");
            order != nullptr && directory.stored(*order) != "little")
            files::fail(directory.where(), "is big-endian; export the model again on a little-endian machine");
        files::zip_member const* const pickle = directory.find(root + "data.pkl");
        if (pickle == nullptr) files::fail(directory.where(), "has no data.pkl, so it is not a file of torch.save");
        return directory.stored(*pickle);
    }

    files::zip_directory directory_;
    file_bytes from_;
    pickled_tensors tensors_;
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

} // namespace ATON_NAMESPACE::pt2
