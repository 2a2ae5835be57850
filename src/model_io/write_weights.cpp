// SPDX-License-Identifier: MIT
// Writes models: chooses a location for every weight, and copies its bytes there.
#include <aton/model_io/weights.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "layout_ahead.hpp"
#include "model_frame.hpp"
#include "output_file.hpp"
#include "proto.hpp"
#include "referenced_files.hpp"
#include "storage_order.hpp"
#include "stored_reader.hpp"
#include "system/paths.hpp"

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE {

namespace {

using detail::open_files;
using detail::weight_place;

/// Smaller weights stay in the model: shapes and scalars, which engines inspect.
constexpr std::uint64_t small_weight = 1024;
constexpr std::uint64_t cache_line = 64;
constexpr std::uint64_t progress_step = std::uint64_t{4} << 20;

/// Writes the bytes of tensors, which must come in the given order, to files, and reports progress.
class weight_writer {
public:
    weight_writer(weight_options const& options, std::vector<stored_tensor const*> const& tensors)
        : progress_(options.progress),
          ahead_(laid_out(tensors)) {
        for (stored_tensor const* t : tensors) total_ += detail::stored_bytes(*t);
    }

    void write(stored_tensor const& from, detail::output_file& to) {
        auto const copy_next = [&] {
            ahead_.next([&](std::byte const* bytes, std::size_t size) { copy({bytes, size, 0, -1}, to); });
        };
        if (from.computed != nullptr && detail::stored_bytes(from) != 0) copy_next();
        for (stored_part const& part : from.parts) {
            detail::layout_ahead::job const all{&from, &part};
            if (all.bytes() == 0) continue;
            if (detail::is_run(part)) copy(run(all), to);
            else copy_next();
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
        for (stored_tensor const* t : tensors) {
            if (t->computed != nullptr && detail::stored_bytes(*t) != 0) jobs.push_back({t});
            for (stored_part const& part : t->parts)
                if (detail::stored_bytes(part, t->type) != 0 && !detail::is_run(part)) jobs.push_back({t, &part});
        }
        return jobs;
    }
    static file_span run(detail::layout_ahead::job const& all) {
        file_span const& bytes = all.part->bytes;
        std::uint64_t const start = static_cast<std::uint64_t>(all.part->offset) * (bits(all.tensor->type) / 8);
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

    /// `known`: one per initializer; those with a place are in another file.
    data_file(graph_data const& graph, std::string const& name, std::vector<weight_place> known)
        : places(std::move(known)) {
        std::map<std::pair<void const*, std::uint64_t>, std::uint64_t>
            offsets; // offset of a range of bytes, or of a tensor
        for (std::size_t i = 0; i != places.size(); ++i) {
            stored_tensor const* const t = graph.initializers[i].stored;
            std::uint64_t const n = t != nullptr ? detail::stored_bytes(*t) : 0;
            if (n < small_weight || places[i].is_external) continue;
            void const* const key = identity(*t);
            auto const [found, is_new] = offsets.try_emplace({key, n}, 0);
            if (is_new) {
                std::uint64_t const unit = n >= system::page_size ? system::page_size : cache_line;
                found->second = (size + unit - 1) / unit * unit;
                size = found->second + n;
                entries.push_back({t, found->second});
            }
            if (!detail::is_plain(*t)) rewritten += n;
            places[i] = {true, name, found->second, n};
        }
    }
    /// The same for tensors with the same bytes.
    static void const* identity(stored_tensor const& t) {
        if (t.computed != nullptr) return t.computed.get();
        return detail::is_plain(t) ? static_cast<void const*>(detail::plain_bytes(t).data) : &t;
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
                             detail::frame_options const& options) {
    detail::model_frame const frame = detail::make_frame(graph, options, {});
    require_fits(frame, path, "use --weights external or --weights reference");
    return write_one_file(frame, path, weights);
}

/// `known`: the places of weights that stay in their files. Of the others, all but the smallest are written to the data file.
std::uint64_t write_two_files(graph_data const& graph, std::string const& path, weight_options const& weights,
                              detail::frame_options const& options, open_files& files,
                              std::vector<weight_place> known) {
    std::string const data_path = path + ".data";
    std::string const name = system::text_of(system::part_of(data_path).filename());
    data_file const layout(graph, name, std::move(known));
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
    detail::require_plain_name(data_path);
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

std::uint64_t write_external(graph_data const& graph, std::string const& path, weight_options const& weights,
                             detail::frame_options const& options, open_files& files) {
    refuse_pipe(path);
    return write_two_files(graph, path, weights, options, files, std::vector<weight_place>(graph.initializers.size()));
}

std::uint64_t write_reference(graph_data const& given, std::string const& path, weight_options const& weights,
                              detail::frame_options const& options, open_files& files,
                              std::vector<copied_weight>& copied) {
    refuse_pipe(path);
    detail::referenced_files const sources(path, weights, files);
    auto const can_stay = [&](stored_tensor const& t) {
        return detail::referenced_files::is_worth_it(t) && sources.why_not(t).empty();
    };
    std::deque<stored_tensor> views;
    std::optional<graph_data> const transposed = detail::with_transposes(given, views, can_stay);
    graph_data const& graph = transposed ? *transposed : given;
    std::vector<weight_place> places(graph.initializers.size());
    for (std::size_t i = 0; i != places.size(); ++i) {
        stored_tensor const* const t = graph.initializers[i].stored;
        if (t == nullptr || !detail::referenced_files::is_worth_it(*t)) continue;
        std::string why = sources.why_not(*t);
        if (why.empty() && detail::is_plain(*t)) {
            file_span const bytes = detail::plain_bytes(*t);
            places[i] = {true, sources.location(*t), bytes.position, bytes.size};
            continue;
        }
        if (why.empty()) why = "is not in the order of its elements in its file";
        copied.push_back({graph.values[graph.initializers[i].value].name, detail::stored_bytes(*t), std::move(why)});
    }
    return write_two_files(graph, path, weights, options, files, std::move(places));
}

} // namespace

weight_report write_model(graph_data const& graph, std::string const& path, weight_options const& weights,
                          model_options const& options) {
    return detail::write_model(graph, path, weights, {options, nullptr});
}

weight_report detail::write_model(graph_data const& graph, std::string const& path, weight_options const& weights,
                                  frame_options const& options) {
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
    case weight_mode::reference:
        report.rewritten = write_reference(graph, path, weights, options, files, report.copied);
        break;
    }
    return report;
}

} // namespace ATON_NAMESPACE
