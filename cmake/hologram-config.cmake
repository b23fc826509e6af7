# find_package(hologram [COMPONENTS ext]): hologram::hologram (compiler and runtime), hologram::hologram_rt (runtime
# alone) and hologram::hologram_ext (kernels that need other libraries, beside either of them);
# hologram::hologram_static, hologram::hologram_rt_static and hologram::hologram_ext_static are the static libraries.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/hologram-targets.cmake)
set(hologram_ext_FOUND TRUE)
foreach(component IN LISTS hologram_FIND_COMPONENTS)
  if(hologram_FIND_REQUIRED_${component} AND NOT hologram_${component}_FOUND)
    set(hologram_FOUND FALSE)
    set(hologram_NOT_FOUND_MESSAGE "hologram has no component ${component}; it has ext")
  endif()
endforeach()
