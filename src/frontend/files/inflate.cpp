// SPDX-License-Identifier: MIT
#include "inflate.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace ATON_NAMESPACE::files {

namespace {

constexpr unsigned max_code_length = 15;

/// Bits of the compressed data, from the least significant one of each byte.
class bit_reader {
public:
    explicit bit_reader(std::string_view bytes) : bytes_(bytes) {}

    /// The next `count` bits, at most 16; 0 after the end, which sets is_at_end.
    unsigned take(unsigned count) {
        while (held_ < count) {
            if (at_ == bytes_.size()) {
                past_end_ = true;
                return 0;
            }
            bits_ |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes_[at_++])) << held_;
            held_ += 8;
        }
        unsigned const out = bits_ & ((1U << count) - 1U);
        bits_ >>= count;
        held_ -= count;
        return out;
    }
    [[nodiscard]] bool is_past_end() const { return past_end_; }
    void skip_to_byte() {
        bits_ = 0;
        held_ = 0;
    }

private:
    std::string_view bytes_;
    std::size_t at_ = 0;
    std::uint32_t bits_ = 0;
    unsigned held_ = 0;
    bool past_end_ = false;
};

/// A canonical Huffman code, decoded bit by bit.
class huffman_code {
public:
    /// False if there are more codes than their lengths allow.
    bool set_lengths(std::span<std::uint8_t const> lengths) {
        counts_.fill(0);
        for (std::uint8_t const length : lengths) ++counts_[length];
        counts_[0] = 0;
        int left = 1;
        for (unsigned length = 1; length <= max_code_length; ++length) {
            left = left * 2 - counts_[length];
            if (left < 0) return false;
        }
        std::array<std::uint16_t, max_code_length + 2> first{};
        for (unsigned length = 1; length <= max_code_length; ++length)
            first[length + 1] = static_cast<std::uint16_t>(first[length] + counts_[length]);
        for (std::size_t symbol = 0; symbol != lengths.size(); ++symbol)
            if (lengths[symbol] != 0) symbols_[first[lengths[symbol]]++] = static_cast<std::uint16_t>(symbol);
        return true;
    }

    /// The next symbol; -1 if there is no such code.
    [[nodiscard]] int take(bit_reader& from) const {
        int code = 0;
        int first = 0;
        int index = 0;
        for (unsigned length = 1; length <= max_code_length; ++length) {
            code |= static_cast<int>(from.take(1));
            if (from.is_past_end()) return -1;
            int const count = counts_[length];
            if (code - count < first) return symbols_[static_cast<std::size_t>(index + code - first)];
            index += count;
            first = (first + count) * 2;
            code *= 2;
        }
        return -1;
    }

private:
    std::array<std::uint16_t, max_code_length + 1> counts_{};
    std::array<std::uint16_t, 288> symbols_{};
};

struct base_and_bits {
    std::uint16_t base;
    std::uint8_t bits;
};
constexpr base_and_bits lengths[] = {{3, 0},   {4, 0},   {5, 0},   {6, 0},   {7, 0},  {8, 0},  {9, 0},  {10, 0},
                                     {11, 1},  {13, 1},  {15, 1},  {17, 1},  {19, 2}, {23, 2}, {27, 2}, {31, 2},
                                     {35, 3},  {43, 3},  {51, 3},  {59, 3},  {67, 4}, {83, 4}, {99, 4}, {115, 4},
                                     {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}};
constexpr base_and_bits distances[] = {{1, 0},     {2, 0},     {3, 0},     {4, 0},      {5, 1},      {7, 1},
                                       {9, 2},     {13, 2},    {17, 3},    {25, 3},     {33, 4},     {49, 4},
                                       {65, 5},    {97, 5},    {129, 6},   {193, 6},    {257, 7},    {385, 7},
                                       {513, 8},   {769, 8},   {1025, 9},  {1537, 9},   {2049, 10},  {3073, 10},
                                       {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13}};

class decoder {
public:
    decoder(std::string_view compressed, std::size_t limit) : from_(compressed), limit_(limit) {}

    bool run() {
        for (bool is_last = false; !is_last;) {
            is_last = from_.take(1) == 1;
            unsigned const kind = from_.take(2);
            bool const good = kind == 0   ? copy_stored()
                              : kind == 1 ? use_fixed_codes() && copy()
                                          : kind == 2 && read_codes() && copy();
            if (!good || from_.is_past_end()) return false;
        }
        return true;
    }
    [[nodiscard]] std::string& result() { return out_; }

private:
    bool copy_stored() {
        from_.skip_to_byte();
        unsigned const size = from_.take(16);
        unsigned const complement = from_.take(16);
        if (from_.is_past_end() || size != (complement ^ 0xffffU) || size > limit_ - out_.size()) return false;
        for (unsigned i = 0; i != size && !from_.is_past_end(); ++i) out_ += static_cast<char>(from_.take(8));
        return true;
    }

    bool use_fixed_codes() {
        std::array<std::uint8_t, 288> code{};
        for (std::size_t i = 0; i != code.size(); ++i)
            code[i] = static_cast<std::uint8_t>(i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
        std::array<std::uint8_t, 30> distance{};
        distance.fill(5);
        return literals_.set_lengths(code) && distances_.set_lengths(distance);
    }

    bool read_codes() {
        constexpr std::uint8_t order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
        std::size_t const literal_count = from_.take(5) + 257U;
        std::size_t const distance_count = from_.take(5) + 1U;
        std::size_t const code_count = from_.take(4) + 4U;
        if (literal_count > 286 || distance_count > 30) return false;
        std::array<std::uint8_t, 19> code_lengths{};
        for (std::size_t i = 0; i != code_count; ++i) code_lengths[order[i]] = static_cast<std::uint8_t>(from_.take(3));
        huffman_code code;
        if (!code.set_lengths(code_lengths)) return false;
        std::array<std::uint8_t, 286 + 30> all{};
        for (std::size_t at = 0; at != literal_count + distance_count;) {
            int const symbol = code.take(from_);
            if (symbol < 0) return false;
            if (symbol < 16) {
                all[at++] = static_cast<std::uint8_t>(symbol);
                continue;
            }
            if (symbol == 16 && at == 0) return false;
            std::uint8_t const repeated = symbol == 16 ? all[at - 1] : std::uint8_t{0};
            unsigned const times = symbol == 16   ? 3 + from_.take(2)
                                   : symbol == 17 ? 3 + from_.take(3)
                                                  : 11 + from_.take(7);
            if (times > literal_count + distance_count - at) return false;
            for (unsigned i = 0; i != times; ++i) all[at++] = repeated;
        }
        std::span<std::uint8_t const> const lengths_of = all;
        return all[256] != 0 && literals_.set_lengths(lengths_of.first(literal_count)) &&
               distances_.set_lengths(lengths_of.subspan(literal_count, distance_count));
    }

    bool copy() {
        for (;;) {
            int const symbol = literals_.take(from_);
            if (symbol < 0) return false;
            if (symbol == 256) return true;
            if (symbol < 256) {
                if (out_.size() == limit_) return false;
                out_ += static_cast<char>(symbol);
                continue;
            }
            auto const l = static_cast<std::size_t>(symbol - 257);
            if (l >= std::size(lengths)) return false;
            std::size_t const length = lengths[l].base + from_.take(lengths[l].bits);
            int const d = distances_.take(from_);
            if (d < 0 || static_cast<std::size_t>(d) >= std::size(distances)) return false;
            base_and_bits const row = distances[static_cast<std::size_t>(d)];
            std::size_t const distance = row.base + from_.take(row.bits);
            if (distance > out_.size() || length > limit_ - out_.size()) return false;
            for (std::size_t i = 0; i != length; ++i) out_ += out_[out_.size() - distance];
        }
    }

    bit_reader from_;
    std::size_t limit_;
    std::string out_;
    huffman_code literals_;
    huffman_code distances_;
};

} // namespace

std::optional<std::string> inflate(std::string_view compressed, std::size_t limit) {
    decoder work(compressed, limit);
    if (!work.run()) return std::nullopt;
    return std::move(work.result());
}

} // namespace ATON_NAMESPACE::files
