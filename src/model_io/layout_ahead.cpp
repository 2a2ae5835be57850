// SPDX-License-Identifier: MIT
#include "layout_ahead.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

namespace ATON_NAMESPACE::detail {

namespace {

constexpr std::uint64_t min_bytes_for_thread = std::uint64_t{1} << 20;

struct stopped {};

} // namespace

/// Fills free buffers; waits if there are none.
class layout_ahead::producer final : public piece_sink {
public:
    explicit producer(layout_ahead& owner) : owner_(owner) {}

    std::byte* buffer() override {
        std::unique_lock lock(owner_.mutex_);
        owner_.changed_.wait(lock, [&] { return owner_.stop_ || owner_.produced_ - owner_.consumed_ < buffer_count; });
        if (owner_.stop_) throw stopped{};
        auto& bytes = owner_.pieces_[owner_.produced_ % buffer_count].bytes;
        if (bytes == nullptr) bytes = std::make_unique_for_overwrite<std::byte[]>(stored_reader::piece_bytes);
        return bytes.get();
    }
    void filled(std::size_t size) override {
        std::lock_guard const lock(owner_.mutex_);
        owner_.pieces_[owner_.produced_ % buffer_count].size = size;
        ++owner_.produced_;
        owner_.changed_.notify_all();
    }

private:
    layout_ahead& owner_;
};

layout_ahead::layout_ahead(std::vector<job> jobs) : jobs_(std::move(jobs)) {
    std::uint64_t total = 0;
    for (job const& each : jobs_) total += each.bytes();
    if (total < min_bytes_for_thread) return;
    try {
        thread_ = std::thread([this] { produce(); });
    } catch (std::system_error const&) { // next() works without a thread
    }
}

layout_ahead::~layout_ahead() {
    if (!thread_.joinable()) return;
    {
        std::lock_guard const lock(mutex_);
        stop_ = true;
        changed_.notify_all();
    }
    thread_.join();
}

void layout_ahead::produce() noexcept {
    try {
        producer sink(*this);
        for (job const& each : jobs_) {
            if (each.part == nullptr) compute(*each.tensor, sink);
            else reader_.lay_out(*each.part, each.tensor->type, sink);
        }
    } catch (stopped const&) { // no consumer is waiting
    } catch (...) {
        std::lock_guard const lock(mutex_);
        failure_ = std::current_exception();
        changed_.notify_all();
    }
}

void layout_ahead::compute(stored_tensor const& tensor, piece_sink& sink) {
    tensor.computed->read([&](std::byte const* bytes, std::size_t size) {
        while (size != 0) {
            std::size_t const n = std::min(size, stored_reader::piece_bytes);
            std::memcpy(sink.buffer(), bytes, n);
            sink.filled(n);
            bytes += n;
            size -= n;
        }
    });
}

void layout_ahead::next(byte_sink const& sink) {
    job const& wanted = jobs_[next_++];
    if (!thread_.joinable()) {
        if (wanted.part == nullptr) return reader_.read(*wanted.tensor, sink);
        return reader_.read(*wanted.part, wanted.tensor->type, sink);
    }
    for (std::uint64_t left = wanted.bytes(); left != 0;) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return produced_ != consumed_ || failure_ != nullptr; });
        if (produced_ == consumed_) std::rethrow_exception(failure_);
        piece const& got = pieces_[consumed_ % buffer_count];
        lock.unlock();
        sink(got.bytes.get(), got.size);
        left -= got.size;
        lock.lock();
        ++consumed_;
        changed_.notify_all();
    }
}

} // namespace ATON_NAMESPACE::detail
