// SPDX-License-Identifier: MIT
// Writes models: chooses a location for every weight, and copies its bytes there.
#include <aton/model_io/weights.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "layout_ahead.hpp"
#include "model_frame.hpp"
#include "output_file.hpp"
#include "proto.hpp"
#include "storage_order.hpp"
#include "stored_reader.hpp"

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE {

namespace {

using detail::weight_place;

/// Smaller weights stay in the model: shapes and scalars, which engines inspect.
constexpr std::uint64_t small_weight = 1024;
constexpr std::uint64_t cache_line = 64;
constexpr std::uint64_t progress_step = std::uint64_t{4} << 20;

/// Identifies a file independently of its name.
using file_identity = std::pair<::dev_t, ::ino_t>;

std::optional<file_identity> identity(std::string const& path) {
    struct ::stat s{};
    if (::stat(path.c_str(), &s) != 0) return {};
    return file_identity(s.st_dev, s.st_ino);
}

/// Identities of open files, queried once.
class open_files {
public:
    std::optional<file_identity> const& identity(int file) {
        auto const [found, is_new] = known_.try_emplace(file);
        struct ::stat s{};
        if (is_new && file >= 0 && ::fstat(file, &s) == 0) found->second.emplace(s.st_dev, s.st_ino);
        return found->second;
    }

    /// Throws aton::error if a weight of the graph is in the file at this path.
    void require_other(graph_data const& graph, std::string const& path) {
        auto const target = aton::identity(path);
        if (!target) return;
        for (graph_initializer const& i : graph.initializers)
            if (i.stored != nullptr)
                for (stored_part const& part : i.stored->parts)
                    if (identity(part.bytes.file) == target)
                        throw error(path + ": is the file with the weights; write to another file");
    }

private:
    std::map<int, std::optional<file_identity>> known_;
};

/// Writes the bytes of tensors, which must come in the given order, to files, and reports progress.
class weight_writer {
public:
    weight_writer(weight_options const& options, std::vector<stored_tensor const*> const& tensors)
        : progress_(options.progress),
          ahead_(laid_out(tensors)) {
        for (stored_tensor const* t : tensors) total_ += detail::stored_bytes(*t);
    }

    void write(stored_tensor const& from, detail::output_file& to) {
        for (stored_part const& part : from.parts) {
            detail::layout_ahead::job const all{&part, from.type};
            if (all.bytes() == 0) continue;
            if (detail::is_run(part)) copy(run(all), to);
            else ahead_.next([&](std::byte const* bytes, std::size_t size) { copy({bytes, size, 0, -1}, to); });
        }
    }

    void write(detail::model_frame const& frame, detail::output_file& to) {
        to.reserve(frame.size);
        to.write(frame.before);
        for (detail::initializer_field const& field : frame.initializers) {
            to.write(field.head);
            to.write(field.data);
            if (field.stored != nullptr) write(*field.stored, to);
        }
        to.write(frame.after);
        to.close();
    }

private:
    static std::vector<detail::layout_ahead::job> laid_out(std::vector<stored_tensor const*> const& tensors) {
        std::vector<detail::layout_ahead::job> jobs;
        for (stored_tensor const* t : tensors)
            for (stored_part const& part : t->parts)
                if (detail::stored_bytes(part, t->type) != 0 && !detail::is_run(part)) jobs.push_back({&part, t->type});
        return jobs;
    }
    static file_span run(detail::layout_ahead::job const& all) {
        file_span const& bytes = all.part->bytes;
        std::uint64_t const start = static_cast<std::uint64_t>(all.part->offset) * (bits(all.type) / 8);
        return {bytes.data + start, all.bytes(), bytes.position + start, bytes.file};
    }

    void copy(file_span const& from, detail::output_file& to) {
        for (std::uint64_t done = 0; done != from.size;) {
            std::uint64_t const left = from.size - done;
            std::uint64_t const n = progress_ ? std::min(left, progress_step) : left;
            to.copy({from.data + done, n, from.position + done, from.file});
            done += n;
            report(n);
        }
    }
    void report(std::uint64_t n) {
        done_ += n;
        if (!progress_ || (done_ - reported_ < progress_step && done_ != total_)) return;
        reported_ = done_;
        progress_(done_, total_);
    }

    std::function<void(std::uint64_t, std::uint64_t)> const& progress_;
    std::uint64_t total_ = 0;
    std::uint64_t done_ = 0;
    std::uint64_t reported_ = 0;
    detail::layout_ahead ahead_;
};

/// `before`, followed by the embedded stored tensors of a model.
std::vector<stored_tensor const*> with_embedded(std::vector<stored_tensor const*> before,
                                                detail::model_frame const& frame) {
    for (detail::initializer_field const& field : frame.initializers)
        if (field.stored != nullptr) before.push_back(field.stored);
    return before;
}

/// The bytes of embedded tensors that are not a contiguous range of a file.
std::uint64_t rewritten_embedded(detail::model_frame const& frame) {
    std::uint64_t n = 0;
    for (detail::initializer_field const& field : frame.initializers)
        if (field.stored != nullptr && !detail::is_plain(*field.stored)) n += field.payload;
    return n;
}

/// The layout of the data file of a model. Weights that share their bytes are written once.
struct data_file {
    struct entry {
        stored_tensor const* tensor;
        std::uint64_t offset;
    };
    std::vector<entry> entries;
    std::vector<weight_place> places;
    std::uint64_t size = 0;
    std::uint64_t rewritten = 0; ///< bytes of all weights in the file that are not copied unchanged

    data_file(graph_data const& graph, std::string const& name) : places(graph.initializers.size()) {
        std::map<std::pair<void const*, std::uint64_t>, std::uint64_t>
            known; // offset of a range of bytes, or of a tensor
        for (std::size_t i = 0; i != places.size(); ++i) {
            stored_tensor const* const t = graph.initializers[i].stored;
            std::uint64_t const n = t != nullptr ? detail::stored_bytes(*t) : 0;
            if (n < small_weight) continue;
            void const* const key = detail::is_plain(*t) ? static_cast<void const*>(detail::plain_bytes(*t).data) : t;
            auto const [found, is_new] = known.try_emplace({key, n}, 0);
            if (is_new) {
                std::uint64_t const unit = n >= detail::page_size ? detail::page_size : cache_line;
                found->second = (size + unit - 1) / unit * unit;
                size = found->second + n;
                entries.push_back({t, found->second});
            }
            if (!detail::is_plain(*t)) rewritten += n;
            places[i] = {true, name, found->second, n};
        }
    }
    [[nodiscard]] std::vector<stored_tensor const*> tensors() const {
        std::vector<stored_tensor const*> all;
        for (entry const& e : entries) all.push_back(e.tensor);
        return all;
    }
};

void refuse_pipe(std::string const& path) {
    if (detail::output_file::is_pipe_or_device(path))
        throw error(path + ": is a pipe or device, which cannot have a second file; use --weights embed");
}

/// Throws aton::error for a name that ONNX's checker would treat as a path out of the folder.
void require_plain_name(std::string const& path) {
    if (std::filesystem::path(path).filename().string().find("..") != std::string::npos)
        throw error(path + ": ONNX's checker refuses weights in a file with '..' in its name; choose another name");
}

void require_fits(detail::model_frame const& frame, std::string const& path, char const* advice) {
    if (frame.size > detail::max_model_bytes)
        throw error(path + ": the model would have " + std::to_string(frame.size) +
                    " bytes, but the maximum of an ONNX file is " + std::to_string(detail::max_model_bytes) + "; " +
                    advice);
}

// The functions below return the number of bytes that are not copied unchanged.

/// Writes a model without a data file.
std::uint64_t write_one_file(detail::model_frame const& frame, std::string const& path, weight_options const& weights) {
    detail::output_file model(path);
    weight_writer(weights, with_embedded({}, frame)).write(frame, model);
    model.publish();
    return rewritten_embedded(frame);
}

std::uint64_t write_embedded(graph_data const& graph, std::string const& path, weight_options const& weights,
                             model_options const& options) {
    detail::model_frame const frame = detail::make_frame(graph, options, {});
    require_fits(frame, path, "use --weights external or --weights reference");
    return write_one_file(frame, path, weights);
}

std::uint64_t write_external(graph_data const& graph, std::string const& path, weight_options const& weights,
                             model_options const& options, open_files& files) {
    refuse_pipe(path);
    std::string const data_path = path + ".data";
    std::string const name = std::filesystem::path(data_path).filename().string();
    data_file const layout(graph, name);
    detail::model_frame const frame = detail::make_frame(graph, options, layout.places);
    require_fits(frame, path, "its constants in memory are too large");
    detail::output_file model(path);
    weight_writer writer(weights, with_embedded(layout.tensors(), frame));
    if (layout.entries.empty()) {
        writer.write(frame, model);
        model.publish();
        return rewritten_embedded(frame);
    }
    refuse_pipe(data_path);
    require_plain_name(data_path);
    files.require_other(graph, data_path);
    detail::output_file data(data_path);
    data.reserve(layout.size);
    for (data_file::entry const& e : layout.entries) {
        data.pad_to(e.offset);
        writer.write(*e.tensor, data);
    }
    data.close();
    writer.write(frame, model);
    detail::output_file::publish({&data, &model});
    return layout.rewritten + rewritten_embedded(frame);
}

std::filesystem::path folder_of(std::string const& path) {
    std::filesystem::path const parent = std::filesystem::path(path).parent_path();
    std::error_code failure;
    auto out = std::filesystem::canonical(parent.empty() ? "." : parent, failure);
    if (failure) throw error(path + ": cannot be written: " + failure.message());
    return out;
}

/// Throws aton::error unless a model at `path` can refer to `source`.
void require_same_folder(std::string const& path, std::string const& source) {
    if (source.empty()) throw error(path + ": weight_options::source must name the file with the weights");
    refuse_pipe(path);
    std::error_code failure;
    auto const status = std::filesystem::symlink_status(source, failure);
    if (!std::filesystem::exists(status)) throw error(source + ": no such file");
    auto const refuse = [&](char const* why) {
        throw error(source + why + ", and ONNX's checker refuses weights in such a file; use --weights external");
    };
    if (std::filesystem::is_symlink(status)) refuse(": is a symbolic link");
    if (!std::filesystem::is_regular_file(status)) refuse(": is not a regular file");
    if (std::filesystem::hard_link_count(source, failure) > 1 && !failure) refuse(": has several hard links");
    require_plain_name(source);
    if (folder_of(path) != folder_of(source))
        throw error(path + ": must be in the folder of " + source +
                    ", to which it refers; write it there, or use --weights embed or external");
}

std::uint64_t write_reference(graph_data const& given, std::string const& path, weight_options const& weights,
                              model_options const& options, open_files& files) {
    require_same_folder(path, weights.source);
    auto const source = identity(weights.source);
    std::string const name = std::filesystem::path(weights.source).filename().string();
    auto const is_referenced = [&](stored_tensor const& t) {
        // Small tensors may be shapes, which inference inspects; small float tensors are not worth a page.
        std::uint64_t const min_bytes = is_floating(t.type) ? cache_line : small_weight;
        return detail::stored_bytes(t) >= min_bytes && t.parts.size() == 1 && source &&
               files.identity(t.parts[0].bytes.file) == source;
    };
    std::deque<stored_tensor> views;
    std::optional<graph_data> const transposed = detail::with_transposes(given, views, is_referenced);
    graph_data const& graph = transposed ? *transposed : given;
    std::vector<weight_place> places(graph.initializers.size());
    for (std::size_t i = 0; i != places.size(); ++i) {
        stored_tensor const* const t = graph.initializers[i].stored;
        if (t == nullptr || !detail::is_plain(*t) || !is_referenced(*t)) continue;
        file_span const bytes = detail::plain_bytes(*t);
        places[i] = {true, name, bytes.position, bytes.size};
    }
    detail::model_frame const frame = detail::make_frame(graph, options, places);
    require_fits(frame, path, "use --weights external for weights that have to be rewritten");
    return write_one_file(frame, path, weights);
}

} // namespace

weight_report write_model(graph_data const& graph, std::string const& path, weight_options const& weights,
                          model_options const& options) {
    weight_report report;
    for (graph_initializer const& i : graph.initializers) {
        if (i.stored == nullptr) continue;
        std::string_view const name = i.value < graph.values.size() ? std::string_view(graph.values[i.value].name) : "";
        detail::require_readable(*i.stored, detail::one_line(name));
        report.count += 1;
        report.bytes += detail::stored_bytes(*i.stored);
    }
    open_files files;
    files.require_other(graph, path);
    switch (weights.mode) {
    case weight_mode::embed: report.rewritten = write_embedded(graph, path, weights, options); break;
    case weight_mode::external: report.rewritten = write_external(graph, path, weights, options, files); break;
    case weight_mode::reference: report.rewritten = write_reference(graph, path, weights, options, files); break;
    }
    return report;
}

} // namespace ATON_NAMESPACE
