/* locate.h - finds files that came with the program. */
#ifndef TEXT2IMAGE_LOCATE_H
#define TEXT2IMAGE_LOCATE_H

/* Path of `folder` in the nearest folder above the program where folder/file exists, else
 * `otherwise`. New memory, or NULL when there is none. argv0 is used where the system does not
 * tell. */
char *locate_folder(const char *argv0, const char *folder, const char *file, const char *otherwise);

#endif
