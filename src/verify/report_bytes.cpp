// SPDX-License-Identifier: MIT
// One function per struct lists its members, for both directions: a member that is missing there does not compile.
#include "report_bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

using runtime::tensor;

class writer {
public:
    template <class T>
        requires std::is_trivially_copyable_v<T>
    void operator()(T& v) {
        append(&v, sizeof v);
    }
    void operator()(std::string& s) {
        std::size_t size = s.size();
        (*this)(size);
        append(s.data(), size);
    }
    template <class T>
    void operator()(std::vector<T>& all) {
        std::size_t size = all.size();
        (*this)(size);
        for (T& each : all) (*this)(each);
    }
    void operator()(tensor& x) {
        bool has = static_cast<bool>(x);
        (*this)(has);
        if (!has) return;
        tensor const all = runtime::to_host(x).contiguous();
        dtype type = all.dtype();
        runtime::sizes sizes = all.sizes();
        (*this)(type);
        (*this)(sizes);
        if (all.is_strings())
            for (std::string& each : all.strings()) (*this)(each);
        else append(all.bytes(), static_cast<std::size_t>(all.count()) * runtime::element_bytes(type));
    }
    template <class T>
        requires(!std::is_trivially_copyable_v<T>)
    void operator()(T& v) {
        members_of(*this, v);
    }

    std::string bytes;

private:
    void append(void const* from, std::size_t size) {
        if (size != 0) bytes.append(static_cast<char const*>(from), size);
    }
};

class reader {
public:
    explicit reader(std::string_view bytes) : rest_(bytes) {}

    template <class T>
        requires std::is_trivially_copyable_v<T>
    void operator()(T& v) {
        take(&v, sizeof v);
    }
    void operator()(std::string& s) {
        s.resize(size());
        take(s.data(), s.size());
    }
    template <class T>
    void operator()(std::vector<T>& all) {
        all.resize(size());
        for (T& each : all) (*this)(each);
    }
    void operator()(tensor& x) {
        bool has = false;
        (*this)(has);
        if (!has) return;
        dtype type = dtype::undefined;
        runtime::sizes sizes;
        (*this)(type);
        (*this)(sizes);
        auto const count = static_cast<std::size_t>(runtime::count_of(sizes));
        if (type == dtype::string) {
            std::vector<std::string> all(count);
            for (std::string& each : all) (*this)(each);
            x = tensor::of_strings(std::move(all), std::move(sizes));
            return;
        }
        x = tensor::empty(type, std::move(sizes));
        take(x.bytes(), count * runtime::element_bytes(type));
    }
    template <class T>
        requires(!std::is_trivially_copyable_v<T>)
    void operator()(T& v) {
        members_of(*this, v);
    }

private:
    /// Of a list; each element has at least one byte.
    std::size_t size() {
        std::size_t n = 0;
        (*this)(n);
        if (n > rest_.size()) throw error("a report ends too early");
        return n;
    }
    void take(void* to, std::size_t size) {
        if (size > rest_.size()) throw error("a report ends too early");
        if (size != 0) std::memcpy(to, rest_.data(), size);
        rest_.remove_prefix(size);
    }

    std::string_view rest_;
};

template <class Bytes, class... Members>
void each_of(Bytes& bytes, Members&... members) {
    (bytes(members), ...);
}

template <class Bytes>
void members_of(Bytes& bytes, runtime::aten_argument& a) {
    auto& [name, kind, one, tensors, number, numbers, lengths, text, texts, type, index] = a;
    each_of(bytes, name, kind, one, tensors, number, numbers, lengths, text, texts, type, index);
}
template <class Bytes>
void members_of(Bytes& bytes, sample& s) {
    auto& [overload, arguments, constants, symbols] = s;
    each_of(bytes, overload, arguments, constants, symbols);
}
template <class Bytes>
void members_of(Bytes& bytes, failure& f) {
    auto& [call, opset, why, place] = f;
    each_of(bytes, call, opset, why, place);
}
template <class Bytes>
void members_of(Bytes& bytes, argument_report& a) {
    auto& [name, is_read, reason, drawn, missing, mutants, detected, equivalent] = a;
    each_of(bytes, name, is_read, reason, drawn, missing, mutants, detected, equivalent);
}
template <class Bytes>
void members_of(Bytes& bytes, recorded_report& r) {
    auto& [same, different, refused, refusal] = r;
    each_of(bytes, same, different, refused, refusal);
}
template <class Bytes>
void members_of(Bytes& bytes, mutant_report& m) {
    auto& [made, detected, equivalent, survivors, few] = m;
    each_of(bytes, made, detected, equivalent, survivors, few);
}
template <class Bytes>
void members_of(Bytes& bytes, row_report& r) {
    auto& [overload,
           since,
           until,
           opsets,
           types,
           worst_error,
           errors,
           arguments,
           failures,
           recorded,
           schema_difference,
           not_checked,
           mutants] = r;
    each_of(bytes, overload, since, until, opsets, types, worst_error, errors, arguments, failures, recorded);
    each_of(bytes, schema_difference, not_checked, mutants);
}

template <class T>
std::string bytes_of(T& v) {
    writer out;
    out(v);
    return std::move(out.bytes);
}

template <class T>
T value_of(std::string_view bytes) {
    T out;
    reader from(bytes);
    from(out);
    return out;
}

} // namespace

std::string to_bytes(sample s) { return bytes_of(s); }
std::string to_bytes(row_report r) { return bytes_of(r); }
sample sample_of(std::string_view bytes) { return value_of<sample>(bytes); }
row_report report_of(std::string_view bytes) { return value_of<row_report>(bytes); }

} // namespace ATON_NAMESPACE::verify
