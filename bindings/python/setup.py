"""setup.py - builds libhologram with CMake and puts it into the wheel.

HOLOGRAM_BUILD names a CMake build folder to use instead of a new one, for instance build/release."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
CARRIED = HERE / "native"  # a source distribution brings the C sources along
ROOT = CARRIED if CARRIED.exists() else HERE.parent.parent
SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
LIBRARIES = {"hologram_shared": "libhologram", "hologram_ext_shared": "libhologram_ext"}


def version() -> str:
    """The version lives in the public header and nowhere else."""
    header = (ROOT / "include" / "hologram.h").read_text()
    return re.search(r'define HOLO_VERSION_TEXT "([0-9.]+)"', header)[1]


class BuildWithLibrary(build_py):
    def run(self) -> None:
        super().run()
        temporary = self.get_finalized_command("build").build_temp
        folder = Path(os.environ.get("HOLOGRAM_BUILD") or Path(temporary) / "cmake").resolve()
        if not (folder / "CMakeCache.txt").exists():
            configure = ["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DHG_TESTS=OFF"]
            subprocess.check_call(configure + (["-G", "Ninja"] if shutil.which("ninja") else []))
        jobs = str(os.cpu_count() or 1)
        subprocess.check_call(["cmake", "--build", folder, "--parallel", jobs, "--target", *LIBRARIES])
        for name in LIBRARIES.values():
            shutil.copyfile(folder / (name + SUFFIX), Path(self.build_lib) / "hologram" / (name + SUFFIX))


class PlatformWheel(bdist_wheel):
    """One wheel serves every Python 3: the library is loaded, not linked to the interpreter."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class NativeDistribution(Distribution):
    def has_ext_modules(self) -> bool:
        return True


class SourcesWithLibrary(sdist):
    def make_release_tree(self, base_dir, files) -> None:
        super().make_release_tree(base_dir, files)
        native = Path(base_dir) / "native"
        for name in ("src", "include", "cmake"):
            shutil.copytree(ROOT / name, native / name)
        for name in ("CMakeLists.txt", "LICENSE", "LICENSE-MIT", "LICENSE-APACHE"):
            if (ROOT / name).exists():
                shutil.copyfile(ROOT / name, native / name)


setup(
    version=version(),
    distclass=NativeDistribution,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel, "sdist": SourcesWithLibrary},
)
