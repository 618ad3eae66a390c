/* Reads whole records and columns of TensorFlow's DebugEvents files. formats/debug_events/python_columns.py has the same. */
#ifndef TDBG_DEBUG_EVENTS_H
#define TDBG_DEBUG_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TDBG_SUMMARY_COLUMNS = 11 };

typedef struct {
  uint8_t *data;
  size_t size, room;
} tdbg_growing;

/* One TFRecord: where its data lies. */
typedef struct {
  int64_t offset, length;
} tdbg_span;

typedef struct {
  tdbg_growing spans;
  int64_t next;          /* where to go on */
  int64_t lost_records;  /* whole by their length, but with a wrong checksum */
  int64_t lost_bytes;    /* of those and of what had to be passed over to find the next whole record */
  int64_t tail;          /* bytes at the end that are no whole record */
} tdbg_records;

/* One Execution (kind 9) or GraphExecutionTrace (kind 10). Strings are numbers of the list that comes along. */
typedef struct {
  double time;
  int64_t offset;                    /* of the record's data */
  int64_t first_id, first_tensor;    /* in the lists of ids and of tensors */
  int32_t kind, op, graph, where;    /* where: an execution's CodeLocation as it is, a trace's device */
  int32_t slot, mode, outputs_said;
  int32_t inputs, outputs, devices;  /* ids: so many of each, in this order */
  int32_t tensors, unused;
} tdbg_debug_event;

typedef struct {
  int64_t proto_offset, proto_length, content_offset, content_length; /* content: -1 when there is none */
  int32_t dtype, shape, columns, unused; /* shape: the TensorShapeProto as it is, a string */
  double column[TDBG_SUMMARY_COLUMNS];
} tdbg_debug_tensor;

typedef struct {
  tdbg_growing events, tensors, ids, strings; /* strings: spans of the buffer */
  int64_t unreadable;
} tdbg_debug_columns;

/* Both return -1 when there is no memory. What they filled is to be freed by tdbg_release. */
int tdbg_read_records(const uint8_t *data, int64_t size, int64_t begin, int64_t most, tdbg_records *found);
int tdbg_read_debug_events(const uint8_t *data, int64_t size, const tdbg_span *spans, int64_t count,
                           tdbg_debug_columns *found);
void tdbg_release(tdbg_growing *bytes);
uint32_t tdbg_masked_crc32c(const uint8_t *data, size_t size);

#endif
