# SPDX-License-Identifier: MIT
"""Conan 2 recipe. By default only the headers, one package for every compiler; -o "aton/*:exporter=True" adds the exporter library and
the aton command, -o "aton/*:verify=True" also the runtime and aton::verify. docs/install.md shows how to use it."""
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import load

required_conan_version = ">=2.0"


class AtonConan(ConanFile):
    name = "aton"
    description = "C++20 DSL that maps PyTorch ATen operators to ONNX operators, and an exporter of .pt2 files without Python"
    license = "MIT"
    topics = ("onnx", "pytorch", "dsl", "exporter", "header-only")
    settings = "os", "compiler", "build_type", "arch"
    options = {"exporter": [True, False], "verify": [True, False]}
    default_options = {"exporter": False, "verify": False}
    exports_sources = ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "tools/CMakeLists.txt", "tools/aton/*")

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "CMakeLists.txt"))
        self.version = re.search(r"^project\(aton VERSION ([0-9.]+)", text, re.MULTILINE)[1]

    @property
    def _builds_exporter(self):
        return bool(self.options.exporter or self.options.verify)  # aton::verify is built on the exporter's libraries

    def configure(self):
        self.package_type = "static-library" if self._builds_exporter else "header-library"

    def requirements(self):
        # For Boost.Hana; Boost's headers suffice.
        self.requires("boost/[>=1.74.0 <2]", transitive_headers=True, options={"header_only": True})
        if self._builds_exporter:
            self.requires("onnx/[>=1.17.0 <2]")
            self.requires("protobuf/[>=3.21.12 <7]")
            self.requires("simdjson/[>=3.0.1 <5]")
            self.requires("cli11/[>=2.1.2 <3]")
        if self.options.verify:
            self.requires("eigen/[>=3.4 <6]")

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        toolchain.cache_variables["ATON_BUILD_TESTS"] = False
        toolchain.cache_variables["ATON_BUILD_TOOLS"] = self._builds_exporter
        toolchain.cache_variables["ATON_BUILD_RUNTIME"] = bool(self.options.verify)
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_id(self):
        if not (self.info.options.exporter or self.info.options.verify):
            self.info.clear()

    def package_info(self):
        # find_package(aton) finds the package that CMake installed, with its components; Conan generates none.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/aton"]
        if self._builds_exporter:
            verify = ["aton_verify", "aton_backends", "aton_runtime"] if self.options.verify else []
            self.cpp_info.libs = [*verify, "aton_exporter", "aton_passes", "aton_frontend", "aton_program", "aton_model_io", "aton_mappings", "aton_fusions", "aton_targets", "aton_language"]
        else:
            self.cpp_info.bindirs = []
            self.cpp_info.libdirs = []
