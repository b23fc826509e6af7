# wasm.cmake - the modules of bindings/js: the runtime in four variants, and the runtime with the compiler.
#
# Everything is compiled once, with atomics, which unshared memory allows too; only the tuned kernels are compiled
# twice, with and without relaxed SIMD. The modules differ in how they are linked.
set(wasm_base -msimd128 -matomics -mbulk-memory -mnontrapping-fptoint -msign-ext)
add_compile_options(${wasm_base}
  -D_Thread_local= # the C library has one errno, which only one thread reads
  -Wno-enum-float-conversion -Wno-error=shorten-64-to-32) # of this compiler and of 32 bits alone

set(HG_WASM_KERNELS "" CACHE FILEPATH "C file with holo_kernels_all for one model (tools/wasm_module)")

set(tuned_sources ${run_sources})
list(FILTER tuned_sources INCLUDE REGEX "/backend/cpu/wasm/")
set(table_source ${PROJECT_SOURCE_DIR}/src/backend/cpu/cpu.c) # which kernels there are
list(REMOVE_ITEM run_sources ${tuned_sources} ${table_source})

function(hg_wasm_objects name)
  hg_objects(${name} ${ARGN})
  set_property(TARGET ${name} PROPERTY POSITION_INDEPENDENT_CODE OFF)
endfunction()

hg_wasm_objects(run_objects ${run_sources})
target_compile_options(run_objects PRIVATE $<$<CONFIG:Release>:-Os>) # a page downloads it; tuned kernels are fast
hg_wasm_objects(table_objects ${table_source})
hg_wasm_objects(compile_objects ${compile_sources})
hg_wasm_objects(js_objects bindings/js/src/module.c bindings/js/src/stdio.c)
hg_wasm_objects(js_compile_objects bindings/js/src/module_compile.c)
hg_wasm_objects(plain_objects ${tuned_sources})
set(variants plain)
if(CMAKE_C_COMPILER_VERSION VERSION_GREATER_EQUAL 16)
  list(APPEND variants relaxed)
  hg_wasm_objects(relaxed_objects ${tuned_sources})
  target_compile_options(relaxed_objects PRIVATE -mrelaxed-simd)
endif()

# hg_module(FILE OPTIONS objects...): stack first, so that a stack that is too deep traps.
set(modules "")
function(hg_module name options)
  add_executable(${name})
  set(modules ${modules} $<TARGET_FILE:${name}> PARENT_SCOPE)
  foreach(objects IN LISTS ARGN)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
  set_target_properties(${name} PROPERTIES OUTPUT_NAME ${name} SUFFIX .wasm LINKER_LANGUAGE C)
  target_link_options(${name} PRIVATE -nostartfiles -Wl,--no-entry,--export-dynamic,--gc-sections,--strip-all
    -Wl,--no-check-features,--stack-first,-z,stack-size=1048576,--initial-memory=4194304,--max-memory=4294967296 ${options})
endfunction()

set(shared_memory -Wl,--shared-memory,--import-memory,--export=__stack_pointer)
foreach(variant IN LISTS variants)
  string(REPLACE ".plain" "" name hologram_rt.${variant})
  hg_module(${name} "" run_objects table_objects js_objects ${variant}_objects)
  hg_module(${name}.threads "${shared_memory}" run_objects table_objects js_objects ${variant}_objects)
endforeach()
hg_module(hologram "" run_objects table_objects compile_objects js_objects js_compile_objects plain_objects)

# What the package ships.
add_custom_target(package ALL
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_SOURCE_DIR}/bindings/js/wasm
  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${modules} ${PROJECT_SOURCE_DIR}/bindings/js/wasm
  COMMAND_EXPAND_LISTS)

# The runtime with the kernels of one model: target `model`, files hologram_model*.wasm.
if(HG_WASM_KERNELS)
  hg_wasm_objects(model_objects ${HG_WASM_KERNELS})
  add_custom_target(model)
  foreach(variant IN LISTS variants)
    string(REPLACE ".plain" "" name hologram_model.${variant})
    hg_module(${name} "" run_objects model_objects js_objects ${variant}_objects)
    hg_module(${name}.threads "${shared_memory}" run_objects model_objects js_objects ${variant}_objects)
    set_property(TARGET ${name} ${name}.threads PROPERTY EXCLUDE_FROM_ALL ON)
    add_dependencies(model ${name} ${name}.threads)
  endforeach()
endif()
