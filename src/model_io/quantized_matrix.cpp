// SPDX-License-Identifier: MIT
#include <aton/model_io/quantized_matrix.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/core/tensor.hpp>
#include <aton/model_io/bit_packer.hpp>
#include <aton/model_io/weights.hpp>

#include "proto.hpp"

namespace ATON_NAMESPACE {

namespace {

using byte_sink = std::function<void(std::byte const*, std::size_t)>;

template <class T>
T element(std::byte const* bytes, std::size_t i) {
    T v{};
    std::memcpy(&v, bytes + i * sizeof v, sizeof v);
    return v;
}

void append_floats(std::vector<float>& to, std::byte const* bytes, std::size_t count, dtype type) {
    std::size_t const before = to.size();
    to.resize(before + count);
    float* const out = to.data() + before;
    if (type == dtype::float32) std::memcpy(out, bytes, count * sizeof(float));
    else if (type == dtype::float16)
        for (std::size_t i = 0; i != count; ++i) out[i] = detail::half_to_float(element<std::uint16_t>(bytes, i));
    else
        for (std::size_t i = 0; i != count; ++i) out[i] = detail::bfloat16_to_float(element<std::uint16_t>(bytes, i));
}

float rounded_to(float v, dtype type) {
    if (type == dtype::float16) return detail::half_to_float(detail::float_to_half(v));
    if (type == dtype::bfloat16) return detail::bfloat16_to_float(detail::float_to_bfloat16(v));
    return v;
}

void append_float(std::vector<std::byte>& to, float v, dtype type) {
    auto const append = [&](auto number) {
        std::size_t const at = to.size();
        to.resize(at + sizeof number);
        std::memcpy(to.data() + at, &number, sizeof number);
    };
    if (type == dtype::float16) append(detail::float_to_half(v));
    else if (type == dtype::bfloat16) append(detail::float_to_bfloat16(v));
    else append(v);
}

dtype integer_type(quantization const& how) {
    switch (how.bits) {
    case 2: return how.symmetric ? dtype::int2 : dtype::uint2;
    case 4: return how.symmetric ? dtype::int4 : dtype::uint4;
    default: return how.symmetric ? dtype::int8 : dtype::uint8;
    }
}

} // namespace

/// The matrix, and the errors of its elements.
struct quantized_matrix::state {
    /// The tensors that are made of it.
    enum class part : std::uint8_t { blocks, rows, integers, scales, packed_zero_points, zero_points };
    static constexpr std::size_t part_count = 6;

    /// The scale of a block, as it is stored, and its zero point.
    struct grid {
        float scale = 0;
        float inverse = 0; ///< of the scale; 0 if that is 0
        int zero_point = 0;
    };

    stored_tensor rows;
    quantization how;
    std::string name;
    double largest = 0;
    double squares = 0;
    double all_squares = 0;
    std::array<std::weak_ptr<computed_elements const>, part_count> parts; ///< that somebody uses

    [[nodiscard]] std::int64_t blocks() const { return (rows.sizes[1] + how.block - 1) / how.block; }
    [[nodiscard]] std::int64_t row_bytes(std::int64_t count) const { return (count * how.bits + 7) / 8; }
    [[nodiscard]] bool has_whole_blocks() const { return rows.sizes[1] % how.block == 0; }

    [[nodiscard]] grid grid_of(std::vector<float> const& block) const;
    [[nodiscard]] unsigned rounded(float v, grid const& g) const;
    void add_error(float v, unsigned integer, grid const& g);
    void read(part what, byte_sink const& sink);

    static stored_tensor tensor(std::shared_ptr<state> const& own, part what, dtype type,
                                std::vector<std::int64_t> sizes);
};

/// The range of the elements and 0 is divided into 2^bits - 1 steps. Symmetric: the element of the largest magnitude becomes the smallest
/// integer.
quantized_matrix::state::grid quantized_matrix::state::grid_of(std::vector<float> const& block) const {
    float low = block[0];
    float high = block[0];
    for (float const v : block) {
        if (!std::isfinite(v))
            throw error("weight '" + detail::one_line(name) + "' has the element " +
                        (std::isnan(v) ? "NaN" : "infinity") +
                        ", which cannot be rounded; leave it as it is with --quantize-exclude");
        low = std::min(low, v);
        high = std::max(high, v);
    }
    float const steps = static_cast<float>((1 << how.bits) - 1);
    grid out;
    float exact = 0;
    if (how.symmetric) {
        float const largest = std::fabs(high) > std::fabs(low) ? high : low;
        exact = largest == 0.0F ? 0.0F : largest / static_cast<float>(-(1 << (how.bits - 1)));
        out.zero_point = 1 << (how.bits - 1);
    } else {
        low = std::min(low, 0.0F);
        high = std::max(high, 0.0F);
        float const range = high - low;
        exact = std::isfinite(range) ? range / steps : high / steps - low / steps;
        float const zero = exact == 0.0F ? low : -low / exact;
        out.zero_point = static_cast<int>(std::round(std::clamp(zero, 0.0F, steps)));
    }
    out.scale = rounded_to(exact, rows.type);
    out.inverse = out.scale == 0.0F ? 0.0F : 1.0F / out.scale;
    for (float const end : {low, high}) {
        auto const steps_of_end = static_cast<float>(static_cast<int>(rounded(end, out)) - out.zero_point);
        if (!std::isfinite(rounded_to(steps_of_end * out.scale, rows.type)))
            throw error("weight '" + detail::one_line(name) +
                        "' has an element that is too large to be rounded; leave it as it is with --quantize-exclude");
    }
    return out;
}

/// Ties are rounded up. Every step is rounded to float32, on all machines: the product of two floats is exact in double.
unsigned quantized_matrix::state::rounded(float v, grid const& g) const {
    float const scaled = std::isfinite(g.inverse)
                             ? static_cast<float>(static_cast<double>(v) * static_cast<double>(g.inverse))
                             : v / g.scale;
    float const shifted =
        std::clamp(scaled + static_cast<float>(g.zero_point), 0.0F, static_cast<float>((1 << how.bits) - 1));
    auto const whole = static_cast<unsigned>(shifted);
    return shifted - static_cast<float>(whole) < 0.5F ? whole : whole + 1;
}

void quantized_matrix::state::add_error(float v, unsigned integer, grid const& g) {
    double const exact = static_cast<double>(v);
    double const difference = exact - (static_cast<int>(integer) - g.zero_point) * static_cast<double>(g.scale);
    largest = std::max(largest, std::fabs(difference));
    squares += difference * difference;
    all_squares += exact * exact;
}

void quantized_matrix::state::read(part what, byte_sink const& sink) {
    constexpr std::size_t piece = std::size_t{1} << 18U;
    std::size_t const width = bits(rows.type) / 8;
    auto const row = static_cast<std::size_t>(rows.sizes[1]);
    auto const full = static_cast<std::size_t>(how.block);
    bool const has_elements = what == part::blocks || what == part::rows || what == part::integers;
    // signed integers have the bits of unsigned ones, but for the first
    unsigned const flipped = how.symmetric && (what == part::integers || what == part::zero_points)
                                 ? 1U << static_cast<unsigned>(how.bits - 1)
                                 : 0U;
    if (has_elements) largest = squares = all_squares = 0;
    bit_packer packer(how.bits);
    std::vector<std::byte> out;
    std::vector<float> block;
    auto const end_block = [&](bool ends_row) {
        grid const g = grid_of(block);
        if (what == part::scales) append_float(out, g.scale, rows.type);
        else if (!has_elements) packer.put(static_cast<unsigned>(g.zero_point) ^ flipped, out);
        else
            for (float const v : block) {
                unsigned const integer = rounded(v, g);
                packer.put(integer ^ flipped, out);
                add_error(v, integer, g);
            }
        if (what == part::blocks)
            for (std::size_t i = block.size(); i != full; ++i) packer.put(0, out);
        if (ends_row && what != part::integers && what != part::zero_points) packer.end_byte(out);
        block.clear();
        if (out.size() < piece) return;
        sink(out.data(), out.size());
        out.clear();
    };
    std::size_t column = 0;
    read_stored(rows, [&](std::byte const* bytes, std::size_t size) {
        for (std::size_t left = size / width; left != 0;) {
            std::size_t const n = std::min({left, full - block.size(), row - column});
            append_floats(block, bytes, n, rows.type);
            bytes += n * width;
            left -= n;
            column += n;
            bool const ends_row = column == row;
            if (ends_row) column = 0;
            if (ends_row || block.size() == full) end_block(ends_row);
        }
    });
    packer.end_byte(out);
    if (!out.empty()) sink(out.data(), out.size());
}

stored_tensor quantized_matrix::state::tensor(std::shared_ptr<state> const& own, part what, dtype type,
                                              std::vector<std::int64_t> sizes) {
    class elements final : public computed_elements {
    public:
        elements(std::shared_ptr<state> of, part which) : of_(std::move(of)), which_(which) {}
        [[nodiscard]] stored_tensor const& source() const override { return of_->rows; }
        void read(byte_sink const& sink) const override { of_->read(which_, sink); }

    private:
        std::shared_ptr<state> of_;
        part which_;
    };
    std::weak_ptr<computed_elements const>& known = own->parts[static_cast<std::size_t>(what)];
    std::shared_ptr<computed_elements const> made = known.lock();
    if (made == nullptr) known = made = std::make_shared<elements>(own, what);
    return {type, std::move(sizes), {}, std::move(made)};
}

quantized_matrix::quantized_matrix(stored_tensor rows, quantization how, std::string name)
    : state_(std::make_shared<state>()) {
    if (rows.sizes.size() != 2 ||
        (rows.type != dtype::float32 && rows.type != dtype::float16 && rows.type != dtype::bfloat16))
        throw error("weight '" + detail::one_line(name) + "' is not a matrix of float32, float16 or bfloat16");
    if ((how.bits != 2 && how.bits != 4 && how.bits != 8) || how.block < 1 || how.block * how.bits % 8 != 0)
        throw error("a weight is rounded to 2, 4 or 8 bits, in blocks of whole bytes");
    state_->rows = std::move(rows);
    state_->how = how;
    state_->name = std::move(name);
}

stored_tensor quantized_matrix::packed_blocks() const {
    state const& s = *state_;
    return state::tensor(
        state_, state::part::blocks, dtype::uint8, {s.rows.sizes[0], s.blocks(), s.row_bytes(s.how.block)});
}

stored_tensor quantized_matrix::packed_rows() const {
    state const& s = *state_;
    return state::tensor(state_,
                         s.has_whole_blocks() ? state::part::blocks : state::part::rows,
                         dtype::uint8,
                         {s.rows.sizes[0], s.row_bytes(s.rows.sizes[1])});
}

stored_tensor quantized_matrix::integers() const {
    return state::tensor(state_, state::part::integers, integer_type(state_->how), state_->rows.sizes);
}

stored_tensor quantized_matrix::scales() const {
    return state::tensor(state_, state::part::scales, state_->rows.type, {state_->rows.sizes[0], state_->blocks()});
}

stored_tensor quantized_matrix::packed_zero_points() const {
    state const& s = *state_;
    return state::tensor(
        state_, state::part::packed_zero_points, dtype::uint8, {s.rows.sizes[0], s.row_bytes(s.blocks())});
}

stored_tensor quantized_matrix::zero_points() const {
    return state::tensor(
        state_, state::part::zero_points, integer_type(state_->how), {state_->rows.sizes[0], state_->blocks()});
}

stored_tensor const& quantized_matrix::rows() const { return state_->rows; }

quantization const& quantized_matrix::how() const { return state_->how; }

std::uint64_t quantized_matrix::byte_count() const {
    return packed_blocks().byte_count() + scales().byte_count() +
           (state_->how.symmetric ? 0 : packed_zero_points().byte_count());
}

rounding_error quantized_matrix::rounding() const {
    state const& s = *state_;
    return {s.largest, s.all_squares == 0 ? 0 : std::sqrt(s.squares / s.all_squares)};
}

} // namespace ATON_NAMESPACE
