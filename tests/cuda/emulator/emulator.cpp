// SPDX-License-Identifier: MIT
// Emulated GPU memory, and blocks of threads as fibers.
#undef _FORTIFY_SOURCE // its longjmp refuses to switch to another stack
#include "cuda_runtime.h"

#include <algorithm>
#include <array>
#include <csetjmp>
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

/// A first-fit allocator whose pages are inaccessible until memory is opened.
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
        for (auto [at, available] : free_) {
            if (available < wanted) continue;
            free_.erase(at);
            if (available != wanted) free_[at + wanted] = available - wanted;
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
    std::size_t high_ = 0; ///< end of the memory that was ever allocated
    std::map<std::size_t, std::size_t> free_;
    std::map<std::size_t, std::size_t> given_;
};

emulated_memory& memory() {
    static auto* const only = new emulated_memory;
    return *only;
}

/// The threads of a block. One fiber runs them in order; a thread that reaches a barrier keeps its fiber, and another
/// fiber continues with the threads that have not started. So kernels without barriers cost no more than function
/// calls.
class emulated_block_of_threads {
public:
    static emulated_block_of_threads& only() {
        static auto* const block = new emulated_block_of_threads;
        return *block;
    }

    void run(unsigned count, std::function<void()> const& thread) {
        thread_ = &thread;
        count_ = count;
        begun_ = 0;
        while (begun_ != count) {
            if (idle_.empty()) idle_.push_back(all_.emplace_back(std::make_unique<fiber>()).get());
            fiber* const next = idle_.back();
            idle_.pop_back();
            resume(*next);
        }
        std::vector<fiber*> round;
        while (!waiting_.empty()) {
            round.swap(waiting_);
            for (fiber* f : round) {
                emulated_thread = f->thread;
                resume(*f);
            }
            round.clear();
        }
    }

    /// Switches to the next thread; returns when all others have reached the barrier or finished.
    void wait() {
        waiting_.push_back(current_);
        leave(*current_);
    }

private:
    struct fiber {
        static constexpr std::size_t stack_bytes = std::size_t{256} << 10U;
        std::unique_ptr<char[]> stack{new char[stack_bytes]};
        std::jmp_buf at{};
        bool is_new = true;
        unsigned thread = 0;
    };

    static void start() {
        emulated_block_of_threads& b = only();
        fiber& own = *b.current_;
        for (;;) {
            while (b.begun_ != b.count_) {
                own.thread = emulated_thread = b.begun_++;
                (*b.thread_)();
            }
            b.idle_.push_back(&own);
            b.leave(own);
        }
    }

    // setjmp and longjmp, because swapcontext makes a system call for the signal mask each time. A fiber never ends.
    void resume(fiber& f) {
        current_ = &f;
        if (_setjmp(main_) != 0) return;
        if (!f.is_new) std::longjmp(f.at, 1);
        f.is_new = false;
        ucontext_t context{};
        ::getcontext(&context);
        context.uc_stack.ss_sp = f.stack.get();
        context.uc_stack.ss_size = fiber::stack_bytes;
        ::makecontext(&context, start, 0);
        ::setcontext(&context);
    }
    void leave(fiber& f) {
        if (_setjmp(f.at) == 0) std::longjmp(main_, 1);
    }

    std::jmp_buf main_{};
    fiber* current_ = nullptr;
    std::vector<std::unique_ptr<fiber>> all_;
    std::vector<fiber*> idle_;
    std::vector<fiber*> waiting_;
    std::function<void()> const* thread_ = nullptr;
    unsigned count_ = 0;
    unsigned begun_ = 0;
};

} // namespace

void __syncthreads() { emulated_block_of_threads::only().wait(); }

namespace {

/// The word that another thread of the block gives.
unsigned word_of(unsigned thread, unsigned own) {
    static std::array<unsigned, 1024> words;
    words[emulated_thread] = own;
    __syncthreads();
    unsigned const other = words[thread];
    __syncthreads(); // all have read before the next exchange
    return other;
}

} // namespace

unsigned __shfl_xor_sync(unsigned /*threads*/, unsigned word, int mask) {
    return word_of(emulated_thread ^ static_cast<unsigned>(mask), word);
}
unsigned __shfl_sync(unsigned /*threads*/, unsigned word, int lane) {
    constexpr unsigned warp = 32;
    return word_of(emulated_thread / warp * warp + static_cast<unsigned>(lane) % warp, word);
}

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
