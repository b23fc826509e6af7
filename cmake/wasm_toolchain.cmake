# wasm_toolchain.cmake - plain clang and wasm-ld for WebAssembly, with the headers and the C library of wasi-libc.
# The newest clang is taken: relaxed SIMD needs 16 or later.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
foreach(version RANGE 40 16 -1)
  list(APPEND wasm_clangs clang-${version})
endforeach()
find_program(HG_WASM_CLANG NAMES ${wasm_clangs} clang REQUIRED)
set(CMAKE_C_COMPILER ${HG_WASM_CLANG})
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_SYSROOT /usr)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
