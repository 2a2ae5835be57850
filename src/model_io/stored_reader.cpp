// SPDX-License-Identifier: MIT
// Reads stored tensors in row-major order: bounds, layout in pieces, factors.
#include "stored_reader.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/core/tensor.hpp>
#include <aton/model_io/weights.hpp>

#include "system/files.hpp"

namespace ATON_NAMESPACE {

namespace detail {

namespace {

constexpr std::size_t cache_line = 64;
/// Small enough to stay in the processor's cache until it is written.
constexpr std::uint64_t cached_bytes = std::uint64_t{1} << 20;

/// The number of elements, or -1 if a size is negative or the number of bytes overflows.
std::int64_t checked_count(std::vector<std::int64_t> const& sizes) {
    bool const empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
    std::int64_t n = empty ? 0 : 1;
    for (std::int64_t s : sizes)
        if (s < 0 || (!empty && __builtin_mul_overflow(n, s, &n))) return -1;
    return n > std::numeric_limits<std::int64_t>::max() / 16 ? -1 : n;
}

/// Whether all elements of a non-empty part are inside its bytes.
bool is_inside(stored_part const& part, std::size_t item) {
    std::int64_t first = part.offset;
    std::int64_t last = part.offset;
    for (std::size_t i = 0; i != part.sizes.size(); ++i) {
        std::int64_t reach = 0;
        if (__builtin_mul_overflow(part.sizes[i] - 1, part.strides[i], &reach)) return false;
        std::int64_t& end = reach < 0 ? first : last;
        if (__builtin_add_overflow(end, reach, &end)) return false;
    }
    return first >= 0 && static_cast<std::uint64_t>(last) < part.bytes.size / item;
}

/// Rounds to odd, so that a second rounding to fewer bits gives the same result as a single rounding.
float to_odd_float(double d) {
    auto const f = static_cast<float>(d);
    if (static_cast<double>(f) == d || std::isnan(d)) return f;
    auto bits = std::bit_cast<std::uint32_t>(f);
    if (std::fabs(static_cast<double>(f)) > std::fabs(d)) --bits; // towards zero
    return std::bit_cast<float>(bits | 1U);
}

template <class T, class Multiply>
void multiply_each(std::byte* bytes, std::size_t count, Multiply multiply) {
    for (std::size_t i = 0; i != count; ++i) {
        T v{};
        std::memcpy(&v, bytes + i * sizeof v, sizeof v);
        v = multiply(v);
        std::memcpy(bytes + i * sizeof v, &v, sizeof v);
    }
}

/// Of factors and conversions.
bool has_arithmetic(dtype t) {
    return t == dtype::float32 || t == dtype::float64 || t == dtype::float16 || t == dtype::bfloat16;
}

template <class T>
T element(std::byte const* bytes, std::size_t i) {
    T v{};
    std::memcpy(&v, bytes + i * sizeof v, sizeof v);
    return v;
}

double read_float(std::byte const* bytes, std::size_t i, dtype type) {
    switch (type) {
    case dtype::float32: return static_cast<double>(element<float>(bytes, i));
    case dtype::float64: return element<double>(bytes, i);
    case dtype::float16: return static_cast<double>(half_to_float(element<std::uint16_t>(bytes, i)));
    default: return static_cast<double>(bfloat16_to_float(element<std::uint16_t>(bytes, i)));
    }
}

void write_float(std::byte* bytes, std::size_t i, dtype type, double v) {
    auto const put = [&](auto number) { std::memcpy(bytes + i * sizeof number, &number, sizeof number); };
    switch (type) {
    case dtype::float32: return put(static_cast<float>(v));
    case dtype::float64: return put(v);
    case dtype::float16: return put(float_to_half(to_odd_float(v)));
    default: return put(float_to_bfloat16(to_odd_float(v)));
    }
}

/// Rounds to nearest, ties to even.
void convert(std::byte* to, dtype to_type, std::byte const* from, dtype from_type, std::size_t count) {
    for (std::size_t i = 0; i != count; ++i) write_float(to, i, to_type, read_float(from, i, from_type));
}

void multiply(std::byte* bytes, std::size_t count, dtype type, double factor) {
    switch (type) {
    case dtype::float32:
        return multiply_each<float>(
            bytes, count, [=](float v) { return static_cast<float>(static_cast<double>(v) * factor); });
    case dtype::float64: return multiply_each<double>(bytes, count, [=](double v) { return v * factor; });
    case dtype::float16:
        return multiply_each<std::uint16_t>(bytes, count, [=](std::uint16_t v) {
            return float_to_half(to_odd_float(static_cast<double>(half_to_float(v)) * factor));
        });
    default:
        return multiply_each<std::uint16_t>(bytes, count, [=](std::uint16_t v) {
            return float_to_bfloat16(to_odd_float(static_cast<double>(bfloat16_to_float(v)) * factor));
        });
    }
}

} // namespace

void require_readable(stored_tensor const& t, std::string_view what) {
    auto const refuse = [&](std::string_view why) {
        throw error(std::string(what) + ": a stored tensor of dtype " + std::string(name(t.type)) + ' ' +
                    std::string(why));
    };
    if (bits(t.type) == 0 || (t.computed == nullptr && bits(t.type) % 8 != 0))
        refuse("cannot be read: its elements are not whole bytes");
    std::int64_t missing = checked_count(t.sizes);
    if (missing < 0) refuse("has invalid sizes");
    if (t.computed != nullptr) {
        if (!t.parts.empty()) refuse("has both parts and computed elements");
        return require_readable(t.computed->source(), what);
    }
    for (stored_part const& part : t.parts) {
        std::int64_t const n = checked_count(part.sizes);
        if (n < 0 || part.strides.size() != part.sizes.size()) refuse("has a part with invalid sizes or strides");
        if (n != 0 && part.bytes.data == nullptr) refuse("has no numbers: it was saved from a fake or meta tensor");
        bool const converts = part.stored_as != dtype::undefined;
        if (converts && !(has_arithmetic(t.type) && has_arithmetic(part.stored_as)))
            refuse("cannot be made from " + std::string(name(part.stored_as)));
        if (n != 0 && !is_inside(part, bits(part.type_in_file(t.type)) / 8)) refuse("reaches beyond its bytes");
        if (!part.factors.empty() &&
            (part.sizes.empty() || part.factors.size() != static_cast<std::size_t>(part.sizes[0])))
            refuse("does not have one factor per index of its first dimension");
        if (!part.factors.empty() && !has_arithmetic(t.type)) refuse("cannot be multiplied by factors");
        if (n > missing) refuse("has more elements in its parts than its sizes specify");
        missing -= n;
    }
    if (missing != 0) refuse("has fewer elements in its parts than its sizes specify");
}

std::uint64_t stored_bytes(stored_tensor const& t) {
    return (static_cast<std::uint64_t>(checked_count(t.sizes)) * bits(t.type) + 7) / 8;
}

std::uint64_t stored_bytes(stored_part const& part, dtype type) {
    return static_cast<std::uint64_t>(checked_count(part.sizes)) * (bits(type) / 8);
}

bool is_plain(stored_tensor const& t) { return stored_bytes(t) != 0 && t.is_plain(); }

file_span plain_bytes(stored_tensor const& t) {
    file_span const& all = t.parts[0].bytes;
    auto const start = static_cast<std::uint64_t>(t.parts[0].offset) * (bits(t.type) / 8);
    return {all.data + start, stored_bytes(t), all.position + start, all.file};
}

namespace {

/// A single buffer, which is passed on when it is full.
class one_buffer final : public piece_sink {
public:
    one_buffer(std::unique_ptr<std::byte[]>& bytes, byte_sink const& sink) : bytes_(bytes), sink_(sink) {}

    std::byte* buffer() override {
        if (bytes_ == nullptr) bytes_ = std::make_unique_for_overwrite<std::byte[]>(stored_reader::piece_bytes);
        return bytes_.get();
    }
    void filled(std::size_t size) override { sink_(bytes_.get(), size); }

private:
    std::unique_ptr<std::byte[]>& bytes_;
    byte_sink const& sink_;
};

} // namespace

void stored_reader::read(stored_tensor const& from, byte_sink const& sink) {
    if (from.computed != nullptr) return from.computed->read(sink);
    for (stored_part const& part : from.parts)
        if (checked_count(part.sizes) > 0) read(part, from.type, sink);
}

void stored_reader::read(stored_part const& part, dtype type, byte_sink const& sink) {
    if (!is_run(part)) {
        one_buffer pieces(own_buffer_, sink);
        return lay_out(part, type, pieces);
    }
    std::size_t const item = bits(type) / 8;
    std::byte const* from = part.bytes.data + part.offset * static_cast<std::int64_t>(item);
    for (std::uint64_t left = static_cast<std::uint64_t>(part.element_count()) * item; left != 0;) {
        auto const n = static_cast<std::size_t>(std::min<std::uint64_t>(left, piece_bytes));
        sink(from, n);
        from += n;
        left -= n;
    }
}

void stored_reader::lay_out(stored_part const& part, dtype type, piece_sink& sink) {
    part_ = &part;
    type_ = type;
    item_ = bits(part.type_in_file(type)) / 8;
    sink_ = &sink;
    buffer_ = nullptr;
    filled_ = 0;
    done_ = 0;
    std::vector<strided_dim> const dims = merge_dims(part.sizes, part.strides);
    // A transpose needs as many lines as a cache line has elements; otherwise each line is read several times.
    std::uint64_t line = item_;
    for (std::size_t i = 1; i < dims.size(); ++i) line *= static_cast<std::uint64_t>(dims[i].size);
    limit_ =
        static_cast<std::size_t>(std::clamp<std::uint64_t>(line * (cache_line / item_), cached_bytes, piece_bytes));
    if (part.stored_as != dtype::undefined) limit_ = std::min(limit_, piece_bytes / (bits(type) / 8) * item_);
    require_whole_file();
    lay_out(part.bytes.data + part.offset * static_cast<std::int64_t>(item_), dims.data(), dims.size());
    flush();
}

void stored_reader::require_whole_file() const {
    file_span const& bytes = part_->bytes;
    system::file_facts facts;
    if (bytes.file < 0 || !system::examine(bytes.file, facts)) return;
    if (facts.size < bytes.position + bytes.size)
        throw error("the file with the weights was truncated while it was read");
}

void stored_reader::lay_out(std::byte const* from, strided_dim const* dims, std::size_t rank) {
    std::uint64_t below = item_; // bytes of all dimensions except the first
    for (std::size_t i = 1; i < rank; ++i) below *= static_cast<std::uint64_t>(dims[i].size);
    std::int64_t const size = rank == 0 ? 1 : dims[0].size;
    std::int64_t const step = rank == 0 ? 0 : dims[0].stride * static_cast<std::int64_t>(item_);
    std::vector<strided_dim> block(dims, dims + rank);
    for (std::int64_t i = 0; i != size;) {
        if (limit_ - filled_ < below) flush();
        if (limit_ < below) { // one index does not fit into the buffer
            lay_out(from + i * step, dims + 1, rank - 1);
            ++i;
            continue;
        }
        std::int64_t const n = std::min(size - i, static_cast<std::int64_t>((limit_ - filled_) / below));
        if (rank != 0) block[0].size = n;
        if (buffer_ == nullptr) buffer_ = next_buffer();
        strided_copy(buffer_ + filled_, from + i * step, block.data(), rank, item_);
        filled_ += static_cast<std::size_t>(static_cast<std::uint64_t>(n) * below);
        i += n;
    }
}

std::byte* stored_reader::next_buffer() {
    if (part_->stored_as == dtype::undefined) return sink_->buffer();
    if (unconverted_ == nullptr) unconverted_ = std::make_unique_for_overwrite<std::byte[]>(piece_bytes);
    return unconverted_.get();
}

void stored_reader::flush() {
    if (filled_ == 0) return;
    require_whole_file();
    auto const count = static_cast<std::int64_t>(filled_ / item_);
    std::size_t const item = bits(type_) / 8;
    if (part_->stored_as != dtype::undefined) {
        std::byte const* const from = std::exchange(buffer_, sink_->buffer());
        convert(buffer_, type_, from, part_->stored_as, static_cast<std::size_t>(count));
    }
    if (!part_->factors.empty()) {
        std::int64_t const row = part_->element_count() / part_->sizes[0]; // elements that share a factor
        for (std::int64_t i = 0; i != count;) {
            std::int64_t const n = std::min(count - i, row - (done_ + i) % row);
            multiply(buffer_ + i * static_cast<std::int64_t>(item),
                     static_cast<std::size_t>(n),
                     type_,
                     part_->factors[static_cast<std::size_t>((done_ + i) / row)]);
            i += n;
        }
    }
    sink_->filled(static_cast<std::size_t>(count) * item);
    buffer_ = nullptr;
    done_ += count;
    filled_ = 0;
}

} // namespace detail

void read_stored(stored_tensor const& from, std::function<void(std::byte const*, std::size_t)> const& sink) {
    detail::require_readable(from, "read_stored");
    detail::stored_reader().read(from, sink);
}

tensor load(stored_tensor const& from) {
    tensor out{from.type, from.sizes, {}};
    detail::require_readable(from, "load");
    out.bytes.reserve(static_cast<std::size_t>(detail::stored_bytes(from)));
    detail::stored_reader().read(from, [&](std::byte const* bytes, std::size_t n) {
        out.bytes.append(reinterpret_cast<char const*>(bytes), n); // NOLINT(*-reinterpret-cast)
    });
    return out;
}

} // namespace ATON_NAMESPACE
