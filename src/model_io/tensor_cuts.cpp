// SPDX-License-Identifier: MIT
// A walk over protobuf's wire format. Field numbers are those of onnx/onnx.proto, ONNX 1.23.
#include "tensor_cuts.hpp"

#include <cstdint>

#include "wire_format.hpp"

namespace ATON_NAMESPACE::detail {

namespace {

// A location that no file has: a path ends at its first zero.
constexpr std::string_view cut_location("\0cut ", 5);

enum class wire_message : std::uint8_t { model, graph, node, attribute, tensor, other };

wire_message message_in(wire_message outer, std::uint64_t field) {
    if (outer == wire_message::model && field == 7) return wire_message::graph;
    if (outer == wire_message::graph && field == 1) return wire_message::node;
    if (outer == wire_message::graph && field == 5) return wire_message::tensor;
    if (outer == wire_message::node && field == 5) return wire_message::attribute;
    if (outer == wire_message::attribute && field == 5) return wire_message::tensor;
    return wire_message::other;
}

/// A field: its number, its wire type, and its bytes with and without tag and length.
struct wire_field {
    std::uint64_t number = 0;
    unsigned type = 0;
    std::uint64_t varint = 0;
    std::string_view whole;
    std::string_view payload;
};

class wire_cursor {
public:
    explicit wire_cursor(std::string_view bytes) : left_(bytes) {}

    /// The next field; nothing at the end, and before what is not well-formed.
    std::optional<wire_field> next() {
        std::string_view const start = left_;
        wire_field f;
        std::uint64_t tag = 0;
        if (left_.empty() || !varint(tag)) return stop(start);
        f.number = tag >> 3;
        f.type = static_cast<unsigned>(tag & 7);
        std::uint64_t size = 0;
        if (f.type == 0) {
            if (!varint(f.varint)) return stop(start);
        } else if (f.type == 1 || f.type == 5) {
            size = f.type == 1 ? 8 : 4;
        } else if (f.type != 2 || !varint(size)) {
            return stop(start);
        }
        if (size > left_.size()) return stop(start);
        f.payload = left_.substr(0, static_cast<std::size_t>(size));
        left_.remove_prefix(static_cast<std::size_t>(size));
        f.whole = start.substr(0, start.size() - left_.size());
        return f;
    }
    /// What has not been read.
    [[nodiscard]] std::string_view left() const { return left_; }

private:
    std::optional<wire_field> stop(std::string_view at) {
        left_ = at;
        return {};
    }
    bool varint(std::uint64_t& to) {
        to = 0;
        for (unsigned shift = 0; shift < 64 && !left_.empty(); shift += 7) {
            auto const byte = static_cast<std::uint8_t>(left_.front());
            left_.remove_prefix(1);
            to |= std::uint64_t{byte & 0x7fU} << shift;
            if (byte < 0x80) return true;
        }
        return false;
    }

    std::string_view left_;
};

class cutter {
public:
    cutter(std::size_t min_bytes, cut_model& out) : min_bytes_(min_bytes), out_(out) {}

    void copy(wire_message what, std::string_view from, std::string& to) {
        if (what == wire_message::tensor) return copy_tensor(from, to);
        wire_cursor cursor(from);
        while (std::optional<wire_field> const f = cursor.next()) {
            wire_message const inner = f->type == 2 ? message_in(what, f->number) : wire_message::other;
            if (inner == wire_message::other || f->payload.size() < min_bytes_) {
                to += f->whole;
                continue;
            }
            std::string copied;
            copy(inner, f->payload, copied);
            append_bytes_field(to, f->number, copied);
        }
        to += cursor.left();
    }

private:
    /// Whether a field has the elements of a tensor as they are in memory: raw_data, or packed floats.
    static bool has_elements(wire_field const& f, std::uint64_t dtype) {
        bool const floats = f.number == 4 && (dtype == 1 || dtype == 14);    // float32, complex64
        bool const doubles = f.number == 10 && (dtype == 11 || dtype == 15); // float64, complex128
        return f.type == 2 && (f.number == 9 || floats || doubles);
    }

    void copy_tensor(std::string_view from, std::string& to) {
        std::uint64_t dtype = 0;
        std::size_t data_fields = 0; // also those of other types, and a reference to a file
        wire_cursor facts(from);
        while (std::optional<wire_field> const f = facts.next()) {
            if (f->number == 2 && f->type == 0) dtype = f->varint;
            bool const is_data = (f->number >= 4 && f->number <= 7) || (f->number >= 9 && f->number <= 11);
            data_fields += is_data || f->number == 13 || f->number == 14 ? 1U : 0U;
        }
        std::string_view elements;
        wire_cursor cursor(from);
        while (std::optional<wire_field> const f = cursor.next()) {
            if (facts.left().empty() && data_fields == 1 && has_elements(*f, dtype) && f->payload.size() >= min_bytes_)
                elements = f->payload;
            else to += f->whole;
        }
        to += cursor.left();
        if (elements.empty()) return;
        append_entry(to, 13, "location", std::string(cut_location) + std::to_string(out_.bytes.size()));
        append_number(to, 14, 1); // data_location: EXTERNAL
        out_.bytes.push_back(elements);
    }

    std::size_t min_bytes_;
    cut_model& out_;
};

} // namespace

cut_model cut_tensors(std::string_view bytes, std::size_t min_bytes) {
    cut_model out;
    cutter(min_bytes, out).copy(wire_message::model, bytes, out.rest);
    return out;
}

std::optional<std::size_t> cut_number(::onnx::TensorProto const& t) {
    if (t.external_data_size() != 1 || t.external_data(0).key() != "location") return {};
    std::string_view const location = t.external_data(0).value();
    if (!location.starts_with(cut_location)) return {};
    std::string_view const digits = location.substr(cut_location.size());
    if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string_view::npos)
        return {};
    std::size_t number = 0;
    for (char c : digits) number = number * 10 + static_cast<std::size_t>(c - '0');
    return number;
}

} // namespace ATON_NAMESPACE::detail
