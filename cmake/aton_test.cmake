# SPDX-License-Identifier: MIT
# Functions that add a test in one line. Labels: `quick` (seconds, for every build), `full` (everything else), and `zoo` (half an hour, by hand).
include_guard(GLOBAL)

find_package(doctest REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# Recorded results that are not part of the repository. Tests that need them check `if(ATON_SHARED_DIR)`.
set(aton_shared "$ENV{ATON_SHARED_DIR}")
if(NOT aton_shared)
    set(aton_shared "${PROJECT_SOURCE_DIR}/../shared")
endif()
get_filename_component(aton_shared "${aton_shared}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
if(EXISTS "${aton_shared}")
    set(ATON_SHARED_DIR "${aton_shared}")
else()
    set(ATON_SHARED_DIR "")
endif()

# How tests are compiled in a release build: they are compiled more often than they run. A folder whose tests compute much sets -O1.
set(ATON_TEST_OPTIMIZATION -O0)

# Builds what the quick tests run, and nothing else: aton_finish_tests() adds the targets.
add_custom_target(aton_quick_tests)

# aton_test(name quick|full SOURCES a_test.cpp ... [LIBRARIES targets...] [DEFINITIONS ...] [ALONE]): a doctest executable; its main() is supplied.
# Tests of a folder that sets ATON_TEST_PROGRAM share the program of that name, unless they are ALONE: it is compiled 8 sources at a time and linked
# once, and each test runs the cases of its own sources. ${name}_command runs the test, also in the environment that cmake -E env sets.
function(aton_test name label)
    cmake_parse_arguments(PARSE_ARGV 2 arg "ALONE" "" "SOURCES;LIBRARIES;DEFINITIONS")
    aton_check_label(${label})
    if(NOT TARGET aton_doctest_main)
        add_library(aton_doctest_main STATIC "${PROJECT_SOURCE_DIR}/tests/doctest_main.cpp")
        target_link_libraries(aton_doctest_main PUBLIC doctest::doctest PRIVATE aton_options)
    endif()
    set(program ${name})
    set(cases "") # all
    if(ATON_TEST_PROGRAM AND NOT arg_ALONE)
        set(program ${ATON_TEST_PROGRAM})
        list(TRANSFORM arg_SOURCES PREPEND "*/" OUTPUT_VARIABLE files)
        list(JOIN files "," files)
        set(cases "--source-file=${files}")
    endif()
    if(TARGET ${program})
        target_sources(${program} PRIVATE ${arg_SOURCES})
        target_link_libraries(${program} PRIVATE ${arg_LIBRARIES})
    else()
        aton_test_program(${program} SOURCES ${arg_SOURCES} LIBRARIES aton_doctest_main ${arg_LIBRARIES})
        if(NOT program STREQUAL name)
            aton_unity(${program})
        endif()
    endif()
    target_compile_definitions(${program} PRIVATE ${arg_DEFINITIONS})
    aton_command_test(${name} ${label} COMMAND ${program} ${cases})
    set(${name}_command "$<TARGET_FILE:${program}>" ${cases} PARENT_SCOPE)
endfunction()

# aton_test_program(name SOURCES a.cpp ... [LIBRARIES targets...]): a program that a test runs with arguments, compiled as tests are.
function(aton_test_program name)
    aton_executable(${name} ${ARGN})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    target_compile_options(${name} PRIVATE "$<$<CONFIG:Release>:${ATON_TEST_OPTIMIZATION}>")
endfunction()

# aton_command_test(name quick|full COMMAND ...): a command that exits with 0 on success; runs in the source folder.
function(aton_command_test name label)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "COMMAND")
    aton_check_label(${label})
    add_test(NAME ${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 1200)
    if(label STREQUAL quick)
        string(REGEX MATCHALL "TARGET_(FILE|OBJECTS|FILE_DIR):[a-z0-9_]+" files "${arg_COMMAND}")
        list(TRANSFORM files REPLACE "^[A-Z_]+:" "")
        set_property(GLOBAL APPEND PROPERTY aton_quick_commands ${arg_COMMAND} ${files})
    endif()
endfunction()

# aton_finish_tests(): after the last test. What quick tests run, by target names and $<TARGET_FILE:...>, becomes part of aton_quick_tests.
function(aton_finish_tests)
    get_property(words GLOBAL PROPERTY aton_quick_commands)
    list(REMOVE_DUPLICATES words)
    foreach(word IN LISTS words)
        if(TARGET "${word}" AND NOT word MATCHES "::")
            add_dependencies(aton_quick_tests ${word})
        endif()
    endforeach()
endfunction()

# aton_under_sanitizers(names...): tests with the label full that tools/test.sh also runs with sanitizers.
function(aton_under_sanitizers)
    set_property(TEST ${ARGN} APPEND PROPERTY LABELS sanitizers)
endfunction()

# aton_python_test(name quick|full SCRIPT script.py [ARGS ...]): a Python script as a test.
function(aton_python_test name label)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "SCRIPT" "ARGS")
    aton_command_test(${name} ${label} COMMAND Python3::Interpreter "${arg_SCRIPT}" ${arg_ARGS})
endfunction()

# aton_clang_test(name 19 c++20 script.py [arguments...]): a full test of a script that takes --compiler, if that Clang is installed. The name of the
# test is "<name>_clang_19_std_c_20".
function(aton_clang_test name version standard script)
    find_program(ATON_clang_${version}_FOUND clang++-${version})
    if(ATON_clang_${version}_FOUND)
        string(REPLACE "++" "_" suffix "clang_${version}_std_${standard}")
        aton_python_test(${name}_${suffix} full SCRIPT "${script}" ARGS --compiler "clang++-${version} -std=${standard}" ${ARGN})
    endif()
endfunction()

function(aton_check_label label)
    if(NOT label MATCHES "^(quick|full|zoo)$")
        message(FATAL_ERROR "the label of a test must be quick, full or zoo, not '${label}'")
    endif()
endfunction()
