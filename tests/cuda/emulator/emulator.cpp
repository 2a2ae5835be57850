// SPDX-License-Identifier: MIT
#include "cuda_runtime.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <sys/mman.h>
#include <ucontext.h>

// NOLINTBEGIN(readability-identifier-naming): CUDA's names
unsigned emulated_thread = 0;
unsigned emulated_block = 0;
unsigned emulated_blocks = 0;

namespace {

/// Memory that is given out in order, first fit; no page of it can be touched unless it is opened.
class emulated_memory {
public:
    static constexpr std::size_t size = std::size_t{4} << 30U;
    static constexpr std::size_t page = 4096;

    emulated_memory()
        : start_(static_cast<char*>(
              ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
        if (start_ == MAP_FAILED) std::abort();
        free_[0] = size;
    }

    void* allocate(std::size_t bytes) {
        std::size_t const wanted = (bytes + 255) / 256 * 256;
        for (auto [at, room] : free_) {
            if (room < wanted) continue;
            free_.erase(at);
            if (room != wanted) free_[at + wanted] = room - wanted;
            given_[at] = wanted;
            high_ = std::max(high_, at + wanted);
            return start_ + at;
        }
        return nullptr;
    }
    bool release(void* memory) {
        auto const found = given_.find(static_cast<std::size_t>(static_cast<char*>(memory) - start_));
        if (found == given_.end()) return false;
        auto at = free_.insert(*found).first;
        given_.erase(found);
        if (auto next = std::next(at); next != free_.end() && at->first + at->second == next->first) {
            at->second += next->second;
            free_.erase(next);
        }
        if (at != free_.begin())
            if (auto before = std::prev(at); before->first + before->second == at->first) {
                before->second += at->second;
                free_.erase(at);
            }
        return true;
    }
    void open() { protect(PROT_READ | PROT_WRITE); }
    void close() { protect(PROT_NONE); }

    std::recursive_mutex changing;

private:
    void protect(int how) {
        if (::mprotect(start_, (high_ + page - 1) / page * page, how) != 0) std::abort();
    }

    char* start_;
    std::size_t high_ = 0; ///< no memory behind it was given out
    std::map<std::size_t, std::size_t> free_;
    std::map<std::size_t, std::size_t> given_;
};

emulated_memory& memory() {
    static auto* const only = new emulated_memory;
    return *only;
}

/// The threads of a block, each on a stack of its own.
class emulated_block_of_threads {
public:
    static emulated_block_of_threads& only() {
        static auto* const block = new emulated_block_of_threads;
        return *block;
    }

    void run(unsigned count, std::function<void()> const& thread) {
        thread_ = &thread;
        while (threads_.size() < count) threads_.push_back(std::make_unique<fiber>());
        for (unsigned i = 0; i != count; ++i) threads_[i]->state = fiber_state::fresh;
        for (unsigned left = count; left != 0;)
            for (unsigned i = 0; i != count; ++i) {
                if (threads_[i]->state == fiber_state::done) continue;
                emulated_thread = i;
                resume(*threads_[i]);
                if (threads_[i]->state == fiber_state::done) --left;
            }
    }

    /// To the next thread; back here when all others came to the barrier, or to their end.
    void wait() {
        fiber& own = *threads_[emulated_thread];
        unsigned const number = emulated_thread;
        ::swapcontext(&own.context, &main_);
        emulated_thread = number;
    }

private:
    enum class fiber_state { fresh, running, done };
    struct fiber {
        static constexpr std::size_t stack_bytes = std::size_t{256} << 10U;
        ucontext_t context{};
        std::unique_ptr<char[]> stack{new char[stack_bytes]};
        fiber_state state = fiber_state::fresh;
    };

    static void start() {
        emulated_block_of_threads& b = only();
        unsigned const number = emulated_thread;
        (*b.thread_)();
        b.threads_[number]->state = fiber_state::done;
    }

    void resume(fiber& f) {
        if (f.state == fiber_state::fresh) {
            f.state = fiber_state::running;
            ::getcontext(&f.context);
            f.context.uc_stack.ss_sp = f.stack.get();
            f.context.uc_stack.ss_size = fiber::stack_bytes;
            f.context.uc_link = &main_;
            ::makecontext(&f.context, start, 0);
        }
        ::swapcontext(&main_, &f.context);
    }

    ucontext_t main_{};
    std::vector<std::unique_ptr<fiber>> threads_;
    std::function<void()> const* thread_ = nullptr;
};

} // namespace

void __syncthreads() { emulated_block_of_threads::only().wait(); }

void with_emulated_memory(std::function<void()> const& f) {
    std::scoped_lock const lock(memory().changing);
    memory().open();
    f();
    memory().close();
}

cudaError_t run_emulated(cudaLaunchConfig_t const& how, std::function<void()> const& thread) {
    if (how.gridDim.x == 0 || how.gridDim.x > INT32_MAX || how.blockDim.x == 0 || how.blockDim.x > 1024)
        return cudaErrorInvalidValue;
    with_emulated_memory([&] {
        emulated_blocks = how.gridDim.x;
        for (emulated_block = 0; emulated_block != emulated_blocks; ++emulated_block)
            emulated_block_of_threads::only().run(how.blockDim.x, thread);
    });
    return cudaSuccess;
}

char const* cudaGetErrorString(cudaError_t status) {
    return status == cudaErrorMemoryAllocation ? "out of memory" : "invalid argument";
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaGetDeviceCount(int* count) {
    *count = 1;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int /*number*/) {
    *p = {"emulated", 0, 0, emulated_memory::size};
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
    *version = 0;
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned /*flags*/) {
    *s = nullptr;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t /*s*/) { return cudaSuccess; }
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int /*number*/) {
    *pool = nullptr;
    return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t /*pool*/, cudaMemPoolAttr /*what*/, void* /*value*/) {
    return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t /*pool*/, std::size_t /*bytes*/) { return cudaSuccess; }
cudaError_t cudaMallocAsync(void** at, std::size_t bytes, cudaStream_t /*s*/) {
    std::scoped_lock const lock(memory().changing);
    *at = memory().allocate(bytes);
    return *at == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
cudaError_t cudaFreeAsync(void* at, cudaStream_t /*s*/) {
    std::scoped_lock const lock(memory().changing);
    return memory().release(at) ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind /*way*/, cudaStream_t /*s*/) {
    with_emulated_memory([&] { std::memcpy(to, from, bytes); });
    return cudaSuccess;
}
// NOLINTEND(readability-identifier-naming)
