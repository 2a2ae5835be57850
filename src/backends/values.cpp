// SPDX-License-Identifier: MIT
// Values as bytes: for each, how many tensors it has, or what it is; then those of TensorProto, each after its length.
#include <aton/backends/backend.hpp>

#include <cstdint>
#include <cstring>
#include <string_view>

#include <aton/model_io/values.hpp>

namespace ATON_NAMESPACE::backends {

namespace {

constexpr std::uint64_t nothing = ~std::uint64_t{0};
constexpr std::uint64_t one_tensor = nothing - 1;

void append(std::string& to, std::uint64_t number) {
    char raw[sizeof number];
    std::memcpy(raw, &number, sizeof number);
    to.append(raw, sizeof raw);
}

void append(std::string& to, runtime::tensor const& t) {
    std::string const bytes = to_value_proto({{runtime::to_device(t, {}).one().to_constant()}, false}, "value");
    append(to, bytes.size());
    to += bytes;
}

class byte_reader {
public:
    explicit byte_reader(std::string_view bytes) : left_(bytes) {}

    [[nodiscard]] bool at_end() const { return left_.empty(); }
    std::uint64_t number() {
        std::uint64_t out = 0;
        std::string_view const raw = take(sizeof out);
        std::memcpy(&out, raw.data(), sizeof out);
        return out;
    }
    runtime::tensor tensor() {
        std::uint64_t const size = number();
        if (size > left_.size()) damaged();
        file_value const v = parse_value(take(static_cast<std::size_t>(size)), value_kind::tensor);
        return runtime::tensor::from_constant(v.tensors.at(0));
    }

    [[noreturn]] static void damaged() { throw error("the results of another process are damaged"); }

private:
    std::string_view take(std::size_t size) {
        if (size > left_.size()) damaged();
        std::string_view const out = left_.substr(0, size);
        left_.remove_prefix(size);
        return out;
    }

    std::string_view left_;
};

} // namespace

std::string pack(std::span<runtime::value const> values) {
    std::string out;
    for (runtime::value const& v : values) {
        append(out, v.is_sequence() ? v.many().size() : v ? one_tensor : nothing);
        for (runtime::tensor const& t : v.many()) append(out, t);
        if (v.is_tensor()) append(out, v.one());
    }
    return out;
}

std::vector<runtime::value> unpack(std::string_view bytes) {
    std::vector<runtime::value> out;
    for (byte_reader from(bytes); !from.at_end();) {
        std::uint64_t const count = from.number();
        if (count == nothing) {
            out.emplace_back();
        } else if (count == one_tensor) {
            out.emplace_back(from.tensor());
        } else {
            std::vector<runtime::tensor> many;
            for (std::uint64_t i = 0; i != count; ++i) many.push_back(from.tensor());
            out.emplace_back(std::move(many));
        }
    }
    return out;
}

} // namespace ATON_NAMESPACE::backends
