# find_package(hologram): hologram::hologram (compiler and runtime), hologram::hologram_rt (runtime alone);
# hologram::hologram_static and hologram::hologram_rt_static are the static libraries.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/hologram-targets.cmake)
