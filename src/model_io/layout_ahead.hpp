// SPDX-License-Identifier: MIT
// Lays out parts of stored tensors, and computes others, in a separate thread while others are written.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <aton/core/stored_tensor.hpp>

#include "stored_reader.hpp"

namespace ATON_NAMESPACE::detail {

/// Uses no thread for small jobs, or if none can be created; next() then does the work itself.
class layout_ahead {
public:
    struct job {
        stored_tensor const* tensor = nullptr;
        stored_part const* part = nullptr; ///< null: the elements of the tensor are computed
        [[nodiscard]] std::uint64_t bytes() const {
            return part == nullptr ? stored_bytes(*tensor) : stored_bytes(*part, tensor->type);
        }
    };

    /// The jobs are done in this order. Their tensors must outlive the object.
    explicit layout_ahead(std::vector<job> jobs);
    ~layout_ahead();
    layout_ahead(layout_ahead const&) = delete;
    layout_ahead& operator=(layout_ahead const&) = delete;

    /// Passes the bytes of the next part to `sink`. Rethrows exceptions of the thread.
    void next(byte_sink const& sink);

private:
    class producer;

    static constexpr std::size_t buffer_count = 3;
    struct piece {
        std::unique_ptr<std::byte[]> bytes;
        std::size_t size = 0;
    };

    void produce() noexcept;
    static void compute(stored_tensor const& tensor, piece_sink& sink);

    std::vector<job> jobs_;
    std::size_t next_ = 0;
    stored_reader reader_;
    std::array<piece, buffer_count> pieces_;
    std::mutex mutex_; ///< guards all members below
    std::condition_variable changed_;
    std::uint64_t produced_ = 0;
    std::uint64_t consumed_ = 0;
    bool stop_ = false;
    std::exception_ptr failure_;
    std::thread thread_;
};

} // namespace ATON_NAMESPACE::detail
