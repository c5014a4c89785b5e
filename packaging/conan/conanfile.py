"""Conan 2: the library. `conan create packaging/conan` in a checkout; the version is the header's."""
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

ROOT = os.path.join("..", "..")


class Weft(ConanFile):
    name = "weft"
    license = "Apache-2.0"
    description = "Task-parallel runtime for C++20: one scheduler on real and modelled machines"
    topics = ("task-parallelism", "scheduler", "simulation")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}
    generators = "CMakeDeps"

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, ROOT, "include", "weft", "version.hpp"))
        self.version = ".".join(re.findall(r"#define WEFT_VERSION_[A-Z]+ (\d+)", header))

    def export_sources(self):
        root = os.path.normpath(os.path.join(self.recipe_folder, ROOT))
        for pattern in ("CMakeLists.txt", "cmake/*", "include/*", "src/*", "machines/*", "omp/*", "LICENSE"):
            copy(self, pattern, root, self.export_sources_folder)

    def requirements(self):
        self.requires("boost/[>=1.74]")
        self.requires("hwloc/[>=2.9]")
        self.requires("sqlite3/[>=3.34]")
        self.requires("tomlplusplus/[>=3.0]")

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update({"WEFT_DEV": False, "WEFT_OMP": False})
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "weft")
        core = self.cpp_info.components["weft"]
        core.set_property("cmake_target_name", "weft::weft")
        core.libs = ["weft"]
        core.requires = ["boost::context", "hwloc::hwloc", "sqlite3::sqlite3", "tomlplusplus::tomlplusplus"]
        core.system_libs = ["pthread"]
        lab = self.cpp_info.components["lab"]
        lab.set_property("cmake_target_name", "weft::lab")
        lab.libs = ["weft_lab"]
        lab.requires = ["weft"]
