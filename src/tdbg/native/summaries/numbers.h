/* The numbers of a summary, in the order of tdbg.model.Numbers: what holds one for each is made of this list. */
#ifndef TDBG_SUMMARY_NUMBERS_H
#define TDBG_SUMMARY_NUMBERS_H

/* COUNT(name) are whole numbers, STATISTIC(name) doubles. New ones go to the end: ring files written before have fewer. */
#define TDBG_EACH_NUMBER(COUNT, STATISTIC)                                                                           \
  COUNT(elements)                                                                                                    \
  COUNT(negative)                                                                                                    \
  COUNT(zero)                                                                                                        \
  COUNT(positive)                                                                                                    \
  COUNT(neg_inf)                                                                                                     \
  COUNT(pos_inf)                                                                                                     \
  COUNT(nan)                                                                                                         \
  STATISTIC(min)                                                                                                     \
  STATISTIC(max)                                                                                                     \
  STATISTIC(mean)                                                                                                    \
  STATISTIC(std)

#define TDBG_ADD_ONE(name) +1
enum { TDBG_NUMBER_COUNT = 0 TDBG_EACH_NUMBER(TDBG_ADD_ONE, TDBG_ADD_ONE) };
#undef TDBG_ADD_ONE

#endif
