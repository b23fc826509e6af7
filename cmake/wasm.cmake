# wasm.cmake - the modules of bindings/js: the runtime in four variants, and the runtime with the compiler.
#
# Everything is compiled once, with atomics, which unshared memory allows too; only the tuned kernels are compiled
# twice, with and without relaxed SIMD. The modules differ in how they are linked. For a module with what some models
# need, the sources that depend on types and lane operations are compiled once more.
set(wasm_base -msimd128 -matomics -mbulk-memory -mnontrapping-fptoint -msign-ext)
add_compile_options(${wasm_base}
  -D_Thread_local= # the C library has one errno, which only one thread reads
  -Wno-enum-float-conversion -Wno-error=shorten-64-to-32 -Wno-deprecated) # of this compiler and of 32 bits alone

set(HG_WASM_MODEL "" CACHE PATH "folder with kernels.c and linked.h for some models (tools/wasm_module)")

set(tuned_sources ${run_sources})
list(FILTER tuned_sources INCLUDE REGEX "/backend/cpu/wasm/")
set(table_source ${PROJECT_SOURCE_DIR}/src/backend/cpu/cpu.c) # which kernels there are
set(typed_sources ${run_sources})
list(FILTER typed_sources INCLUDE REGEX "/src/kernel/|/src/isa/(lane|lane_reference|verify)\\.c$")
list(REMOVE_ITEM run_sources ${tuned_sources} ${typed_sources} ${table_source})

function(hg_wasm_objects name)
  hg_objects(${name} ${ARGN})
  set_property(TARGET ${name} PROPERTY POSITION_INDEPENDENT_CODE OFF)
endfunction()

hg_wasm_objects(run_objects ${run_sources})
hg_wasm_objects(typed_objects ${typed_sources})
foreach(file IN LISTS run_sources) # over what the native build says of some
  set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-Oz>)
endforeach()
foreach(stem IN ITEMS conv_dw conv_winograd epilogue layernorm pool recur reduce rnn softmax table)
  set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/backend/cpu/wasm/${stem}.c APPEND PROPERTY
    COMPILE_OPTIONS $<$<CONFIG:Release>:-O2>) # as fast and smaller; the tiles of gemm.c need the unrolling of -O3
endforeach()
foreach(stem IN ITEMS attention conv_nchw conv_nhwc copy_words matmul matmul_p16) # no slower than with -O2
  set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/backend/cpu/wasm/${stem}.c APPEND PROPERTY
    COMPILE_OPTIONS $<$<CONFIG:Release>:-Oz>)
endforeach()
set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/backend/cpu/wasm/groupnorm.c APPEND PROPERTY
  COMPILE_OPTIONS $<$<CONFIG:Release>:-Os>) # -O2: a UNet in 2 % less time, 1.4 kB more gzipped
set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/isa/lane_reference.c APPEND PROPERTY
  COMPILE_OPTIONS $<$<CONFIG:Release>:-O2>) # the interpreter of every kernel: its loops become SIMD
hg_wasm_objects(table_objects ${table_source})
hg_wasm_objects(compile_objects ${compile_sources})
hg_wasm_objects(js_objects bindings/js/src/module.c bindings/js/src/stdio.c)
hg_wasm_objects(js_run_objects bindings/js/src/format.c bindings/js/src/memory.c)
hg_wasm_objects(js_compile_objects bindings/js/src/module_compile.c)
foreach(objects IN ITEMS run_objects typed_objects js_run_objects) # a page downloads them; tuned kernels are fast
  target_compile_options(${objects} PRIVATE $<$<CONFIG:Release>:-Oz>)
endforeach()
hg_wasm_objects(plain_objects ${tuned_sources})
set(variants plain)
if(CMAKE_C_COMPILER_VERSION VERSION_GREATER_EQUAL 16)
  list(APPEND variants relaxed)
  hg_wasm_objects(relaxed_objects ${tuned_sources})
  target_compile_options(relaxed_objects PRIVATE -mrelaxed-simd)
endif()

# What lib/engine.js calls beside the js_ functions; the linker drops what nobody calls.
set(exports "")
foreach(name IN ITEMS version model_free model_graph_count model_graph_name model_input model_input_count
    model_output model_output_count session_free session_get_stats session_output session_run session_set_input)
  list(APPEND exports -Wl,--export=holo_${name})
endforeach()

# hg_module(FILE OPTIONS objects...): stack first, so that a stack that is too deep traps.
set(modules "")
function(hg_module name options)
  add_executable(${name})
  set(modules ${modules} $<TARGET_FILE:${name}> PARENT_SCOPE)
  foreach(objects IN LISTS ARGN)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
  set_target_properties(${name} PROPERTIES OUTPUT_NAME ${name} SUFFIX .wasm LINKER_LANGUAGE C)
  # -O0: clang would run any wasm-opt it finds, and old ones do not know relaxed SIMD
  target_link_options(${name} PRIVATE -O0 -Wl,-O2 -nostartfiles ${exports} -Wl,--no-entry,--gc-sections,--strip-all,--compress-relocations
    -Wl,--no-check-features,--stack-first,-z,stack-size=1048576,--initial-memory=4194304,--max-memory=4294967296 ${options})
endfunction()

set(shared_memory -Wl,--shared-memory,--import-memory,--export=__stack_pointer)
foreach(variant IN LISTS variants)
  string(REPLACE ".plain" "" name hologram_rt.${variant})
  hg_module(${name} "" run_objects typed_objects table_objects js_objects js_run_objects ${variant}_objects)
  hg_module(${name}.threads "${shared_memory}" run_objects typed_objects table_objects js_objects js_run_objects ${variant}_objects)
endforeach()
hg_module(hologram "" run_objects typed_objects table_objects compile_objects js_objects js_compile_objects plain_objects)

# What the package ships.
add_custom_target(package ALL
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_SOURCE_DIR}/bindings/js/wasm
  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${modules} ${PROJECT_SOURCE_DIR}/bindings/js/wasm
  COMMAND_EXPAND_LISTS)

# The runtime with what some models need: target `model`, files hologram_model*.wasm.
if(HG_WASM_MODEL)
  set(linked -include ${HG_WASM_MODEL}/linked.h -Wno-unused-function) # what is left out is there, and called by nobody
  hg_wasm_objects(model_objects ${HG_WASM_MODEL}/kernels.c ${typed_sources})
  target_compile_options(model_objects PRIVATE $<$<CONFIG:Release>:-Oz> ${linked})
  add_custom_target(model)
  foreach(variant IN LISTS variants)
    string(REPLACE ".plain" "" name hologram_model.${variant})
    hg_wasm_objects(model_${variant}_objects ${tuned_sources})
    target_compile_options(model_${variant}_objects PRIVATE ${linked})
    hg_module(${name} "" run_objects model_objects js_objects js_run_objects model_${variant}_objects)
    hg_module(${name}.threads "${shared_memory}" run_objects model_objects js_objects js_run_objects model_${variant}_objects)
    set_property(TARGET ${name} ${name}.threads model_objects model_${variant}_objects PROPERTY EXCLUDE_FROM_ALL ON)
    add_dependencies(model ${name} ${name}.threads)
  endforeach()
  if(TARGET model_relaxed_objects)
    target_compile_options(model_relaxed_objects PRIVATE -mrelaxed-simd)
  endif()
endif()
