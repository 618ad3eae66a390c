/* Decides whether an op made its bad output, by its inputs, and has the message that stops the program. */
#ifndef TDBG_CHECK_H
#define TDBG_CHECK_H

#include "ring/observations.h"

enum { TDBG_MOST_FACTS = 16 }; /* inputs that a message can tell of */

typedef struct {
  int dtype;
  const tdbg_shape *shape;
  tdbg_summary numbers;
  double magnitude; /* all is finite and none is greater; then `numbers` has the count only. NaN: see `numbers` */
} tdbg_fact;

typedef struct {
  int32_t check, op, iteration; /* check: which of the process's checks gave the op its number */
  uint16_t slot;
  int inputs; /* how many of `input` are filled */
  tdbg_fact output, input[TDBG_MOST_FACTS];
  bool nan_went_in, bad_went_in;
} tdbg_finding;

extern _Atomic int tdbg_check; /* 0 while off */

void tdbg_finding_output(tdbg_finding *finding, const tdbg_observation *seen);
void tdbg_finding_fact(tdbg_finding *finding, const tdbg_fact *fact);
void tdbg_finding_input(tdbg_finding *finding, const void *data, const tdbg_shape *shape, int dtype);
/* A bad value out of good ones: NaN where none went in, or infinity where only finite numbers did. */
bool tdbg_finding_is_made(const tdbg_finding *finding);
/* What to tell the user, from Python; the caller frees it. NULL: let it pass. May be called without the GIL. */
char *tdbg_finding_message(const tdbg_finding *finding);

#endif
