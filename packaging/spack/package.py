# Spack: the library. Put this folder's parent into a repository as packages/weft, and set `git` to where Weft lies.
from spack.package import *


class Weft(CMakePackage):
    """Task-parallel runtime for C++20: one scheduler on real and modelled machines."""

    license("Apache-2.0")
    version("main", branch="main")
    variant("shared", default=True, description="Build shared libraries")
    variant("openmp", default=True, description="libweft-omp, which runs programs built by g++ -fopenmp")

    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("boost@1.74: +context")
    depends_on("hwloc@2.9:")
    depends_on("sqlite@3.34:")
    depends_on("tomlplusplus", type="build")

    def cmake_args(self):
        return [
            self.define("WEFT_DEV", False),
            self.define_from_variant("WEFT_OMP", "openmp"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
        ]
