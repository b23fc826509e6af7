# ext_libraries.cmake - libraries that libhologram_ext uses where they are there. Without one, its file in src/ext
# is left out (ext_missing) and models that need it get a sentence that names it.
set(ext_libraries "")
set(ext_include_dirs "")
set(ext_missing "")

# hg_ext_library(FILE HEADER LIBRARY CODE [path suffix...]): FILE of src/ext needs the library, in a version that
# can compile CODE.
function(hg_ext_library file header library code)
  option(HG_EXT_${file} "use ${library} in libhologram_ext when it is there" ON)
  find_path(HG_EXT_${file}_INCLUDE ${header} PATH_SUFFIXES ${ARGN})
  find_library(HG_EXT_${file}_LIBRARY ${library})
  mark_as_advanced(HG_EXT_${file}_INCLUDE HG_EXT_${file}_LIBRARY)
  set(fits OFF)
  if(HG_EXT_${file} AND HG_EXT_${file}_INCLUDE AND HG_EXT_${file}_LIBRARY)
    set(CMAKE_REQUIRED_INCLUDES ${HG_EXT_${file}_INCLUDE})
    set(CMAKE_REQUIRED_LIBRARIES ${HG_EXT_${file}_LIBRARY})
    check_c_source_compiles("${code}" HG_EXT_${file}_FITS)
    set(fits ${HG_EXT_${file}_FITS})
  endif()
  if(fits)
    # By name, not by path: the installed package is for other machines too.
    get_filename_component(folder ${HG_EXT_${file}_LIBRARY} DIRECTORY)
    set(ext_libraries ${ext_libraries} ${library} PARENT_SCOPE)
    set(ext_library_dirs ${ext_library_dirs} ${folder} PARENT_SCOPE)
    set(ext_include_dirs ${ext_include_dirs} ${HG_EXT_${file}_INCLUDE} PARENT_SCOPE)
  else()
    message(STATUS "libhologram_ext without ${library}")
    set(ext_missing ${ext_missing} ${file} PARENT_SCOPE)
  endif()
endfunction()

include(CheckCSourceCompiles)
hg_ext_library(image_jpeg jpeglib.h jpeg
  "#include <stdio.h>\n#include <jpeglib.h>\nint main(void) { jpeg_mem_src(0, 0, 0); return JCS_EXT_RGB; }")
hg_ext_library(image_png png.h png
  "#include <png.h>\nint main(void) { png_set_scale_16(0); return 0; }")
hg_ext_library(image_webp webp/decode.h webp
  "#include <webp/decode.h>\nint main(void) { return WebPGetInfo(0, 0, 0, 0); }")
hg_ext_library(image_tiff tiffio.h tiff
  "#include <tiffio.h>\nint main(void) { return TIFFOpenOptionsAlloc() != 0; }")
hg_ext_library(image_jp2 openjpeg.h openjp2
  "#include <openjpeg.h>\nint main(void) { return opj_decoder_set_strict_mode(0, OPJ_TRUE); }"
  openjpeg-2.5 openjpeg-2.6)
hg_ext_library(regex pcre2.h pcre2-8
  "#define PCRE2_CODE_UNIT_WIDTH 8\n#include <pcre2.h>\nint main(void) { return pcre2_set_heap_limit(0, 0); }")
list(REMOVE_DUPLICATES ext_include_dirs)
list(REMOVE_DUPLICATES ext_library_dirs)
