// SPDX-License-Identifier: MIT
// aton-verify-torch. Torch ends the process for some operands, where it divides integers by zero or
// reads outside of tensors. So each call runs in a process of its own, and its results come back through a pipe.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ATen/Parallel.h>

#include <aton/core/error.hpp>
#include <aton/verify/torch_reference.hpp>

#include "torch_truth.hpp"

namespace aton::tool {

namespace {

using runtime::tensor;
using runtime::value;

/// The bytes of results: "=" and the values, or "!" and the message of an error.
class packer {
public:
    explicit packer(char first) : bytes_(1, first) {}

    void add(std::string_view text) { bytes_ += text; }
    void add(std::int64_t n) { bytes_.append(reinterpret_cast<char const*>(&n), sizeof n); }
    void add(tensor const& t) {
        add(static_cast<std::int64_t>(t ? 1 : 0));
        if (!t) return;
        add(static_cast<std::int64_t>(t.dtype()));
        add(static_cast<std::int64_t>(t.rank()));
        for (std::int64_t const size : t.sizes()) add(size);
        auto const count = static_cast<std::size_t>(t.count()) * runtime::element_bytes(t.dtype());
        bytes_.append(reinterpret_cast<char const*>(t.bytes()), count);
    }
    void add(value const& v) {
        std::vector<tensor> const all =
            v.is_sequence() ? v.many() : std::vector<tensor>{v.is_tensor() ? v.one() : tensor()};
        add(static_cast<std::int64_t>(v.is_sequence() ? all.size() : ~std::size_t{0}));
        for (tensor const& each : all) add(each);
    }
    [[nodiscard]] std::string const& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

class unpacker {
public:
    explicit unpacker(std::string_view bytes) : left_(bytes) {}

    std::string_view take(std::size_t count) {
        if (count > left_.size()) throw error("the results of torch are incomplete");
        std::string_view const out = left_.substr(0, count);
        left_.remove_prefix(count);
        return out;
    }
    std::int64_t number() {
        std::int64_t out = 0;
        std::memcpy(&out, take(sizeof out).data(), sizeof out);
        return out;
    }
    tensor one() {
        if (number() == 0) return {};
        auto const type = static_cast<dtype>(number());
        runtime::sizes sizes(static_cast<std::size_t>(number()));
        for (std::int64_t& each : sizes) each = number();
        tensor out = tensor::empty(type, sizes);
        std::string_view const bytes = take(static_cast<std::size_t>(out.count()) * runtime::element_bytes(type));
        std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(out.bytes()));
        return out;
    }
    value any() {
        std::int64_t const count = number();
        if (count < 0) {
            tensor const t = one();
            return t ? value(t) : value();
        }
        std::vector<tensor> all;
        for (std::int64_t i = 0; i != count; ++i) all.push_back(one());
        return all;
    }

private:
    std::string_view left_;
};

/// Calls torch and writes what it returns.
void answer(verify::sample const& s, int to) {
    std::string bytes;
    try {
        runtime::aten_results const all = verify::call_torch(s);
        packer results('=');
        results.add(static_cast<std::int64_t>(all.results.size()));
        for (value const& each : all.results) results.add(each);
        bytes = results.bytes();
    } catch (std::exception const& e) {
        bytes = std::string("!") + e.what();
    }
    for (std::string_view left = bytes; !left.empty();) {
        ::ssize_t const written = ::write(to, left.data(), left.size());
        if (written <= 0) break;
        left.remove_prefix(static_cast<std::size_t>(written));
    }
}

std::string read_all(int from) {
    std::string out;
    char part[65536];
    for (::ssize_t count = 0; (count = ::read(from, part, sizeof part)) > 0;)
        out.append(part, static_cast<std::size_t>(count));
    return out;
}

runtime::aten_results call_apart(verify::sample const& s) {
    int ends[2] = {};
    if (::pipe2(ends, O_CLOEXEC) != 0) throw error("cannot make a pipe: " + std::string(std::strerror(errno)));
    ::pid_t const child = ::fork();
    if (child == 0) {
        answer(s, ends[1]);
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string const bytes = child < 0 ? std::string() : read_all(ends[0]);
    ::close(ends[0]);
    if (child < 0) throw error("cannot start a process for torch: " + std::string(std::strerror(errno)));
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) throw error(s.overload + ": torch crashes: " + ::strsignal(WTERMSIG(status)));
    if (bytes.starts_with('!')) throw error(bytes.substr(1));
    unpacker results(std::string_view(bytes).substr(std::min<std::size_t>(bytes.size(), 1)));
    runtime::aten_results out;
    for (std::int64_t count = results.number(); count > 0; --count) out.results.push_back(results.any());
    return out;
}

struct silent_handler final : c10::WarningHandler {
    void process(c10::Warning const&) override {}
};

} // namespace

void become_torch(char** argv) { (void)argv; }

void use_torch(verify::check_options& options) {
    static silent_handler silent;
    c10::WarningUtils::set_warning_handler(&silent);
    at::set_num_threads(1); // a pool of threads would be lost in a new process
    options.truth = call_apart;
    options.registered_schema = verify::torch_schema;
}

} // namespace aton::tool
