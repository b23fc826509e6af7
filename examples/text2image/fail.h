/* fail.h - writes the sentence that the person reads. */
#ifndef TEXT2IMAGE_FAIL_H
#define TEXT2IMAGE_FAIL_H

#include <hologram.h>

/* Fills error (which may be NULL) as printf would and returns status. */
holo_status fail(holo_error *error, holo_status status, const char *format, ...);

/* Puts "what: " before a sentence that somebody else wrote, and returns its status. */
holo_status fail_in(holo_error *error, holo_status status, const char *what);

#endif
