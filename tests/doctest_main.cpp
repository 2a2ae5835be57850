// SPDX-License-Identifier: MIT
// The main() of every doctest executable. A run whose filters match no test case fails.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

namespace {

unsigned cases_that_ran = 0;

/// Counts the cases that the filters let through.
struct case_counter : doctest::IReporter {
    explicit case_counter(doctest::ContextOptions const&) {}
    void report_query(doctest::QueryData const&) override {}
    void test_run_start() override {}
    void test_run_end(doctest::TestRunStats const& run) override { cases_that_ran += run.numTestCasesPassingFilters; }
    void test_case_start(doctest::TestCaseData const&) override {}
    void test_case_reenter(doctest::TestCaseData const&) override {}
    void test_case_end(doctest::CurrentTestCaseStats const&) override {}
    void test_case_exception(doctest::TestCaseException const&) override {}
    void subcase_start(doctest::SubcaseSignature const&) override {}
    void subcase_end() override {}
    void log_assert(doctest::AssertData const&) override {}
    void log_message(doctest::MessageData const&) override {}
    void test_case_skipped(doctest::TestCaseData const&) override {}
};

DOCTEST_REGISTER_LISTENER("case_counter", 1, case_counter);

} // namespace

int main(int argc, char** argv) {
    doctest::Context context(argc, argv);
    int const status = context.run();
    if (status == 0 && cases_that_ran == 0 && !context.shouldExit()) {
        std::fputs("no test case has this name or file\n", stderr);
        return 1;
    }
    return status;
}
