/* A full screen in a program that is not ours: what a signal that ends the program must put back. */
#ifndef TDBG_TERMINAL_GUARD_H
#define TDBG_TERMINAL_GUARD_H

#include <stddef.h>

/* From here on a signal that ends the program (one that nobody handles) first gives the terminal its attributes back,
   writes `leave` to it and then all of the file `caught`. False when `leave` is too long. */
int tdbg_guard_terminal(int terminal, int caught, const char *leave, size_t length);
void tdbg_release_terminal(void);

#endif
