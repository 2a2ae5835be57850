// SPDX-License-Identifier: MIT
// Checks all built-in rows: verify_rows [--only TEXT] [--samples N] [--mutants] [--seed N] [--threads N] [--html FILE] [--json FILE]
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <aton/mappings.hpp>
#include <aton/verify/check.hpp>

int main(int argc, char** argv) {
    aton::verify::check_options options;
    std::string html;
    std::string json;
    options.threads = 0;
    for (int i = 1; i != argc; ++i) {
        std::string_view const word = argv[i];
        bool const more = i + 1 != argc;
        if (word == "--mutants") options.mutants = true;
        else if (word == "--only" && more) options.only = argv[++i];
        else if (word == "--samples" && more) options.samples = std::atoi(argv[++i]);
        else if (word == "--seed" && more) options.seed = std::strtoull(argv[++i], nullptr, 10);
        else if (word == "--threads" && more) options.threads = std::atoi(argv[++i]);
        else if (word == "--html" && more) html = argv[++i];
        else if (word == "--json" && more) json = argv[++i];
    }
    try {
        std::vector<aton::dsl::entry> rows;
        for (aton::dsl::table_view const& table : aton::mappings::library())
            rows.insert(rows.end(), table.begin(), table.end());
        aton::verify::report const all = aton::verify::check(rows, options);
        std::cout << all.to_text();
        if (!html.empty()) std::ofstream(html) << all.to_html();
        if (!json.empty()) std::ofstream(json) << all.to_json();
        return all.passed() ? 0 : 1;
    } catch (std::exception const& e) {
        std::cerr << e.what() << '\n';
        return 2;
    }
}
