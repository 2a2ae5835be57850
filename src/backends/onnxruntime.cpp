// SPDX-License-Identifier: MIT
#include <aton/backends/onnxruntime.hpp>

#include <algorithm>
#include <deque>
#include <exception>
#include <utility>

#include "onnxruntime_api.hpp"
#include "system/child_process.hpp"
#include "system/library.hpp"

namespace ATON_NAMESPACE::backends {

/// Stays loaded: its threads may outlive a session.
class onnxruntime_library {
public:
    explicit onnxruntime_library(std::string const& path) {
        std::string why;
        void* const library = system::load_library(path, why);
        if (library == nullptr) throw error(path + ": cannot be loaded: " + why);
        system::symbol const found = system::find_symbol(library, "OrtGetApiBase");
        if (found.address == nullptr)
            throw error(path + ": not ONNX Runtime's library: it has no function OrtGetApiBase");
        using get_base = ort::api_base const*(ATON_ORT_CALL*)();
        ort::api_base const* const base = reinterpret_cast<get_base>(const_cast<void*>(found.address))(); // NOLINT
        char const* const named = base == nullptr ? nullptr : base->version();
        if (named == nullptr) throw error(path + ": ONNX Runtime does not say its version");
        version_ = named;
        void const* const table = version_.starts_with("1.") ? base->table(ort::api_version) : nullptr;
        if (table == nullptr)
            throw error(path + ": ONNX Runtime " + version_ + " is not 1." + std::to_string(ort::api_version) +
                        " or a later 1.x, whose interface is known");
        table_ = table;
    }

    [[nodiscard]] std::string const& version() const { return version_; }
    [[nodiscard]] ort::api functions() const { return ort::api(table_); }

private:
    std::string version_;
    void const* table_ = nullptr;
};

namespace {

using runtime::value;

/// An object of the library that a function releases.
template <class Object, class Release>
class owned {
public:
    explicit owned(ort::api const& api) : api_(api) {}
    owned(owned&& other) noexcept : api_(other.api_), object_(std::exchange(other.object_, nullptr)) {}
    owned(owned const&) = delete;
    owned& operator=(owned const&) = delete;
    owned& operator=(owned&&) = delete;
    ~owned() {
        if (object_ != nullptr) api_.call<Release>(object_);
    }

    [[nodiscard]] Object* get() const { return object_; }
    [[nodiscard]] Object** out() { return &object_; }

private:
    ort::api api_;
    Object* object_ = nullptr;
};

using owned_value = owned<ort::ort_value, ort::release_value>;

/// One load and run of a model.
class ort_run {
public:
    explicit ort_run(ort::api const& api) : api_(api), memory_(api) {
        constexpr int arena = 1;
        constexpr int default_memory = 0;
        call<ort::create_cpu_memory_info>(arena, default_memory, memory_.out());
        call<ort::default_allocator>(&allocator_);
    }

    std::vector<value> run(std::string const& model, int level, std::span<named_value const> inputs,
                           std::span<std::string const> outputs) {
        owned<ort::environment, ort::release_environment> environment(api_);
        call<ort::create_environment>(ort::log_fatal, "aton", environment.out());
        owned<ort::session_options, ort::release_session_options> options(api_);
        call<ort::create_session_options>(options.out());
        call<ort::set_log_severity>(options.get(), ort::log_fatal);
        call<ort::set_optimization_level>(options.get(), level);
        call<ort::set_threads_in_operators>(options.get(), 1);
        call<ort::set_threads_between_operators>(options.get(), 1);
        owned<ort::session, ort::release_session> session(api_);
        call<ort::create_session>(
            environment.get(), static_cast<void const*>(model.data()), model.size(), options.get(), session.out());
        std::vector<owned_value> given;
        std::vector<char const*> names;
        std::vector<ort::ort_value const*> pointers;
        for (auto const& [name, v] : inputs) {
            names.push_back(name.c_str());
            given.push_back(to_ort(name, v));
            pointers.push_back(given.back().get());
        }
        std::vector<char const*> wanted;
        for (std::string const& name : outputs) wanted.push_back(name.c_str());
        std::vector<ort::ort_value*> got(outputs.size());
        call<ort::run>(session.get(),
                       static_cast<void const*>(nullptr),
                       names.data(),
                       pointers.data(),
                       names.size(),
                       wanted.data(),
                       wanted.size(),
                       got.data());
        std::vector<owned_value> results;
        for (ort::ort_value* each : got) *results.emplace_back(api_).out() = each;
        std::vector<value> out;
        for (owned_value const& each : results) out.push_back(from_ort(each.get()));
        return out;
    }

private:
    template <class Entry, class... Arguments>
    void call(Arguments... arguments) const {
        ort::status* const failed = api_.call<Entry>(arguments...);
        if (failed == nullptr) return;
        std::string text = api_.call<ort::error_message>(failed);
        api_.call<ort::release_status>(failed);
        std::ranges::replace(text, '\n', ' ');
        throw run_error(text);
    }

    owned_value to_ort(std::string const& name, value const& v) {
        if (!v.is_tensor()) throw run_error("input '" + name + "' is not a tensor, which is not supported");
        aton::tensor& t = kept_.emplace_back(runtime::to_device(v, {}).one().to_constant());
        owned_value out(api_);
        int const type = ort::number_of(t.type);
        if (type == 0)
            throw run_error("input '" + name + "' is " + std::string(aton::name(t.type)) +
                            ", which ONNX Runtime does not have");
        if (t.type != dtype::string) {
            call<ort::create_tensor_with_data>(memory_.get(),
                                               static_cast<void*>(t.bytes.data()),
                                               t.bytes.size(),
                                               t.sizes.data(),
                                               t.sizes.size(),
                                               type,
                                               out.out());
            return out;
        }
        call<ort::create_tensor>(allocator_, t.sizes.data(), t.sizes.size(), type, out.out());
        std::vector<char const*> texts;
        for (std::string const& each : t.strings) texts.push_back(each.c_str());
        call<ort::fill_strings>(out.get(), texts.data(), texts.size());
        return out;
    }

    [[nodiscard]] value from_ort(ort::ort_value* from) const {
        if (from == nullptr) return {};
        int kind = 0;
        call<ort::kind_of_value>(from, &kind);
        if (kind == static_cast<int>(ort::value_kind::tensor)) return tensor_from(from);
        if (kind != static_cast<int>(ort::value_kind::sequence)) return {};
        std::size_t count = 0;
        call<ort::count_of_value>(from, &count);
        std::vector<runtime::tensor> many;
        for (std::size_t i = 0; i != count; ++i) {
            owned_value each(api_);
            call<ort::element_of_value>(from, static_cast<int>(i), allocator_, each.out());
            many.push_back(tensor_from(each.get()));
        }
        return many;
    }

    [[nodiscard]] runtime::tensor tensor_from(ort::ort_value* from) const {
        owned<ort::type_and_shape, ort::release_type_and_shape> type(api_);
        call<ort::type_of_tensor>(from, type.out());
        int element = 0;
        std::size_t rank = 0;
        call<ort::element_type>(type.get(), &element);
        call<ort::rank>(type.get(), &rank);
        aton::tensor out;
        out.type = ort::type_of(element);
        if (out.type == dtype::undefined) throw run_error("a result has the unknown dtype " + std::to_string(element));
        out.sizes.resize(rank);
        call<ort::dimensions>(type.get(), out.sizes.data(), rank);
        if (out.type == dtype::string) {
            out.strings = strings_from(from, static_cast<std::size_t>(out.element_count()));
        } else {
            void* data = nullptr;
            call<ort::tensor_data>(from, &data);
            std::size_t const size = (static_cast<std::size_t>(out.element_count()) * bits(out.type) + 7) / 8;
            if (size != 0) out.bytes.assign(static_cast<char const*>(data), size);
        }
        return runtime::tensor::from_constant(out);
    }

    [[nodiscard]] std::vector<std::string> strings_from(ort::ort_value const* from, std::size_t count) const {
        std::size_t length = 0;
        call<ort::length_of_strings>(from, &length);
        std::string all(length, '\0');
        std::vector<std::size_t> starts(count);
        call<ort::strings>(from, static_cast<void*>(all.data()), length, starts.data(), count);
        starts.push_back(length);
        std::vector<std::string> out;
        for (std::size_t i = 0; i != count; ++i) out.push_back(all.substr(starts[i], starts[i + 1] - starts[i]));
        return out;
    }

    ort::api api_;
    owned<ort::memory_info, ort::release_memory_info> memory_;
    ort::allocator* allocator_ = nullptr;
    std::deque<aton::tensor> kept_; ///< the elements of inputs
};

/// The answer of a process: its first byte says whether the rest are results, or why there are none.
constexpr char is_result = 'r';
constexpr char is_fault = 'f';

class onnxruntime final : public backend {
public:
    onnxruntime(std::shared_ptr<onnxruntime_library> library, optimization_level level, int seconds)
        : library_(std::move(library)),
          level_(level),
          seconds_(seconds) {}

    [[nodiscard]] std::string title() const override {
        return "ONNX Runtime " + library_->version() + ", " + std::string(level_.name);
    }

    [[nodiscard]] std::vector<value> run(std::string const& model, std::span<named_value const> inputs,
                                         std::span<std::string const> outputs) const override {
        if (!system::can_copy_process())
            return ort_run(library_->functions()).run(model, level_.number, inputs, outputs);
        std::vector<named_value> on_host; // before the copy: its devices are not the child's
        for (auto const& [name, v] : inputs) on_host.emplace_back(name, runtime::to_device(v, {}));
        system::child_process child([&](int to) {
            system::limit_time(seconds_);
            std::string answer;
            try {
                answer = is_result + pack(ort_run(library_->functions()).run(model, level_.number, on_host, outputs));
            } catch (std::exception const& e) {
                answer = is_fault + std::string(e.what());
            }
            system::send_or_end(to, answer);
        });
        return answer_of(child);
    }

private:
    [[nodiscard]] std::vector<value> answer_of(system::child_process& child) const {
        std::string all;
        char buffer[1 << 16];
        for (std::ptrdiff_t n = 1; n > 0;) {
            n = child.read(buffer, sizeof buffer);
            if (n > 0) all.append(buffer, static_cast<std::size_t>(n));
        }
        system::process_end const end = child.wait();
        if (end.signal != 0)
            throw run_error(system::reason_of(end.signal) == system::end_reason::out_of_time
                                ? "it takes more than " + std::to_string(seconds_) + " seconds"
                                : "it ends the process with signal " + std::to_string(end.signal));
        if (all.starts_with(is_fault)) throw run_error(all.substr(1));
        if (!all.starts_with(is_result)) throw run_error("it ends the process");
        return unpack(std::string_view(all).substr(1));
    }

    std::shared_ptr<onnxruntime_library> library_;
    optimization_level level_;
    int seconds_;
};

} // namespace

std::shared_ptr<onnxruntime_library> load_onnxruntime(std::string const& path) {
    return std::make_shared<onnxruntime_library>(path);
}

std::string version_of(onnxruntime_library const& library) { return library.version(); }

std::unique_ptr<backend> make_onnxruntime(std::shared_ptr<onnxruntime_library> library, optimization_level level,
                                          int seconds) {
    return std::make_unique<onnxruntime>(std::move(library), level, seconds);
}

} // namespace ATON_NAMESPACE::backends
