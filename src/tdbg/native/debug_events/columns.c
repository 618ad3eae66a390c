/* TFRecord frames and the two hot messages of DebugEvents; knows no Python. Nothing is read outside the buffer. */
#include "debug_events/columns.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

void tdbg_release(tdbg_growing *bytes) {
  free(bytes->data);
  memset(bytes, 0, sizeof *bytes);
}

static void *grow(tdbg_growing *bytes, size_t more) {
  if (bytes->room - bytes->size < more) {
    size_t room = bytes->room ? bytes->room * 2 : 4096;
    while (room - bytes->size < more) room *= 2;
    uint8_t *data = realloc(bytes->data, room);
    if (!data) return NULL;
    bytes->data = data;
    bytes->room = room;
  }
  void *place = bytes->data + bytes->size;
  bytes->size += more;
  return place;
}

static uint64_t load64(const uint8_t *p) {
  uint64_t v;
  memcpy(&v, p, 8);
  return v;
}

static uint32_t load32(const uint8_t *p) {
  uint32_t v;
  memcpy(&v, p, 4);
  return v;
}

/* ---- CRC-32C ---- */

static uint32_t table[8][256];
static bool has_instruction;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_table(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; bit++) c = c & 1 ? c >> 1 ^ 0x82F63B78u : c >> 1;
    table[0][i] = c;
  }
  for (int k = 1; k < 8; k++)
    for (int i = 0; i < 256; i++) table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 0xFF];
#if defined(__x86_64__)
  has_instruction = __builtin_cpu_supports("sse4.2");
#endif
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc_by_instruction(const uint8_t *p, size_t n, uint32_t crc) {
  uint64_t c = crc;
  for (; n >= 8; n -= 8, p += 8) c = __builtin_ia32_crc32di(c, load64(p));
  for (; n; n--, p++) c = __builtin_ia32_crc32qi((uint32_t)c, *p);
  return (uint32_t)c;
}
#endif

static uint32_t crc32c(const uint8_t *p, size_t n) {
  pthread_once(&once, make_table);
  uint32_t crc = 0xFFFFFFFFu;
#if defined(__x86_64__)
  if (has_instruction) return ~crc_by_instruction(p, n, crc);
#endif
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t v = load64(p) ^ crc;
    crc = 0;
    for (int k = 0; k < 8; k++) crc ^= table[7 - k][v >> 8 * k & 0xFF];
  }
  for (; n; n--, p++) crc = crc >> 8 ^ table[0][(crc ^ *p) & 0xFF];
  return ~crc;
}

uint32_t tdbg_masked_crc32c(const uint8_t *data, size_t size) {
  uint32_t crc = crc32c(data, size);
  return (crc >> 15 | crc << 17) + 0xA282EAD8u;
}

/* ---- TFRecord frames: length (8), its checksum (4), data, their checksum (4) ---- */

enum { HEADER = 12, FOOTER = 4 };

static bool header_is_right(const uint8_t *p) { return tdbg_masked_crc32c(p, 8) == load32(p + 8); }

static bool data_is_right(const uint8_t *p, uint64_t length) {
  return tdbg_masked_crc32c(p + HEADER, length) == load32(p + HEADER + length);
}

static bool fits(const uint8_t *data, int64_t size, int64_t at) {
  uint64_t room = (uint64_t)(size - at);
  return room >= HEADER + FOOTER && load64(data + at) <= room - HEADER - FOOTER;
}

int tdbg_read_records(const uint8_t *data, int64_t size, int64_t begin, int64_t most, tdbg_records *found) {
  memset(found, 0, sizeof *found);
  int64_t at = begin;
  for (int64_t count = 0; at < size && count < most;) {
    if (size - at >= HEADER && header_is_right(data + at)) {
      if (!fits(data, size, at)) break;
      uint64_t length = load64(data + at);
      if (data_is_right(data + at, length)) {
        tdbg_span *span = grow(&found->spans, sizeof *span);
        if (!span) return -1;
        *span = (tdbg_span){at + HEADER, (int64_t)length};
        count++;
      } else {
        found->lost_records++;
        found->lost_bytes += HEADER + (int64_t)length + FOOTER;
      }
      at += HEADER + (int64_t)length + FOOTER;
      continue;
    }
    int64_t next = at + 1;
    while (size - next >= HEADER + FOOTER &&
           !(header_is_right(data + next) && fits(data, size, next) && data_is_right(data + next, load64(data + next))))
      next++;
    if (size - next < HEADER + FOOTER) break;
    found->lost_bytes += next - at;
    at = next;
  }
  int64_t count = (int64_t)(found->spans.size / sizeof(tdbg_span));
  if (at < size && count < most) {
    found->tail = size - at;
    at = size;
  }
  found->next = at;
  return 0;
}

/* ---- protocol buffers ---- */

typedef struct {
  const uint8_t *at, *end;
} message;

typedef struct {
  uint32_t number, kind;
  uint64_t value; /* of a varint */
  message body;   /* of everything else */
} field;

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

static bool read_varint(message *m, uint64_t *value) {
  *value = 0;
  for (int shift = 0; shift <= 63 && m->at < m->end; shift += 7) {
    uint8_t byte = *m->at++;
    *value |= (uint64_t)(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

/* 1: a field, 0: the end, -1: no protocol buffer. */
static int next_field(message *m, field *f) {
  if (m->at == m->end) return 0;
  uint64_t key, length;
  if (!read_varint(m, &key)) return -1;
  f->number = (uint32_t)(key >> 3);
  f->kind = key & 7;
  f->value = 0;
  if (f->kind == VARINT) return read_varint(m, &f->value) ? 1 : -1;
  if (f->kind == BYTES) {
    if (!read_varint(m, &length)) return -1;
  } else if (f->kind == FIXED64 || f->kind == FIXED32) {
    length = f->kind == FIXED64 ? 8 : 4;
  } else {
    return -1;
  }
  if (length > (uint64_t)(m->end - m->at)) return -1;
  f->body = (message){m->at, m->at + length};
  m->at += length;
  return 1;
}

/* ---- strings as numbers ---- */

typedef struct {
  int32_t *slots; /* number of the string + 1 */
  size_t room, count;
} interned;

typedef struct {
  const uint8_t *data; /* the whole buffer */
  tdbg_debug_columns *out;
  interned strings;
  bool no_memory;
} reader;

static uint64_t hash_of(const uint8_t *p, size_t n) {
  uint64_t h = 0x9E3779B97F4A7C15u ^ n;
  for (; n >= 8; n -= 8, p += 8) {
    h = (h ^ load64(p)) * 0xBF58476D1CE4E5B9u;
    h ^= h >> 31;
  }
  uint64_t rest = 0;
  for (size_t i = 0; i < n; i++) rest |= (uint64_t)p[i] << 8 * i;
  h = (h ^ rest) * 0x94D049BB133111EBu;
  return h ^ h >> 29;
}

static bool more_slots(reader *r) {
  size_t room = r->strings.room ? r->strings.room * 2 : 1024;
  int32_t *slots = calloc(room, sizeof *slots);
  if (!slots) return false;
  const tdbg_span *known = (const tdbg_span *)r->out->strings.data;
  for (size_t i = 0; i < r->strings.count; i++) {
    size_t at = hash_of(r->data + known[i].offset, (size_t)known[i].length) & (room - 1);
    while (slots[at]) at = (at + 1) & (room - 1);
    slots[at] = (int32_t)i + 1;
  }
  free(r->strings.slots);
  r->strings.slots = slots;
  r->strings.room = room;
  return true;
}

static int32_t intern(reader *r, message text) {
  interned *s = &r->strings;
  if (s->count * 2 >= s->room && !more_slots(r)) {
    r->no_memory = true;
    return -1;
  }
  size_t length = (size_t)(text.end - text.at);
  size_t at = hash_of(text.at, length) & (s->room - 1);
  for (; s->slots[at]; at = (at + 1) & (s->room - 1)) {
    const tdbg_span *known = (const tdbg_span *)r->out->strings.data + s->slots[at] - 1;
    if ((size_t)known->length == length && !memcmp(r->data + known->offset, text.at, length)) return s->slots[at] - 1;
  }
  tdbg_span *span = grow(&r->out->strings, sizeof *span);
  if (!span) {
    r->no_memory = true;
    return -1;
  }
  *span = (tdbg_span){text.at - r->data, (int64_t)length};
  s->slots[at] = (int32_t)++s->count;
  return s->slots[at] - 1;
}

/* ---- messages ---- */

static bool add_columns(tdbg_debug_tensor *t, message body) {
  if ((body.end - body.at) % 8) return false;
  for (; body.at < body.end && t->columns < TDBG_SUMMARY_COLUMNS; body.at += 8)
    memcpy(&t->column[t->columns++], body.at, 8);
  return true;
}

enum { DOUBLE = 2 };

static bool read_tensor(reader *r, message body) {
  tdbg_debug_tensor *t = grow(&r->out->tensors, sizeof *t);
  if (!t) return !(r->no_memory = true);
  memset(t, 0, sizeof *t);
  t->proto_offset = body.at - r->data;
  t->proto_length = body.end - body.at;
  t->content_offset = -1;
  t->shape = -1;
  field f;
  int got;
  while ((got = next_field(&body, &f)) > 0) {
    if (f.number == 1 && f.kind == VARINT) t->dtype = (int32_t)f.value;
    if (f.number == 2 && f.kind == BYTES) t->shape = intern(r, f.body);
    if (f.number == 4 && f.kind == BYTES) {
      t->content_offset = f.body.at - r->data;
      t->content_length = f.body.end - f.body.at;
    }
    if (f.number == 6 && (f.kind == BYTES || f.kind == FIXED64) && !add_columns(t, f.body)) return false;
  }
  if (got < 0 || r->no_memory) return false;
  if (t->content_length && t->dtype == DOUBLE) {
    t->columns = 0;
    message content = {r->data + t->content_offset, r->data + t->content_offset + t->content_length};
    return add_columns(t, content);
  }
  return true;
}

static int32_t count_ids(reader *r, message body, uint32_t number, bool narrow) {
  field f = {0};
  int32_t count = 0;
  while (next_field(&body, &f) > 0) {
    if (f.number != number || (f.kind != VARINT && f.kind != BYTES)) continue;
    message list = f.body;
    bool is_list = f.kind == BYTES;
    while (!is_list || list.at < list.end) {
      uint64_t value = f.value;
      if (is_list && !read_varint(&list, &value)) return -1;
      int64_t *id = grow(&r->out->ids, sizeof *id);
      if (!id) {
        r->no_memory = true;
        return -1;
      }
      *id = narrow ? (int32_t)value : (int64_t)value;
      count++;
      if (!is_list) break;
    }
  }
  return count;
}

static bool read_trace(reader *r, tdbg_debug_event *e, message body) {
  field f;
  int got;
  while ((got = next_field(&body, &f)) > 0) {
    if (f.number == 1 && f.kind == BYTES) e->graph = intern(r, f.body);
    if (f.number == 2 && f.kind == BYTES) e->op = intern(r, f.body);
    if (f.number == 3 && f.kind == VARINT) e->slot = (int32_t)f.value;
    if (f.number == 4 && f.kind == VARINT) e->mode = (int32_t)f.value;
    if (f.number == 6 && f.kind == BYTES) e->where = intern(r, f.body);
    if (f.number == 5 && f.kind == BYTES) {
      if (!read_tensor(r, f.body)) return false;
      e->tensors++;
    }
  }
  return got == 0;
}

static bool read_execution(reader *r, tdbg_debug_event *e, message body) {
  message whole = body;
  field f;
  int got;
  while ((got = next_field(&body, &f)) > 0) {
    if (f.number == 1 && f.kind == BYTES) e->op = intern(r, f.body);
    if (f.number == 2 && f.kind == VARINT) e->outputs_said = (int32_t)f.value;
    if (f.number == 3 && f.kind == BYTES) e->graph = intern(r, f.body);
    if (f.number == 6 && f.kind == VARINT) e->mode = (int32_t)f.value;
    if (f.number == 8 && f.kind == BYTES) e->where = intern(r, f.body);
    if (f.number == 7 && f.kind == BYTES) {
      if (!read_tensor(r, f.body)) return false;
      e->tensors++;
    }
  }
  if (got < 0) return false;
  e->inputs = count_ids(r, whole, 4, false);
  e->outputs = count_ids(r, whole, 5, false);
  e->devices = count_ids(r, whole, 9, true);
  return e->inputs >= 0 && e->outputs >= 0 && e->devices >= 0;
}

static bool read_event(reader *r, tdbg_debug_event *e, message body) {
  field f, hot = {0};
  int got;
  while ((got = next_field(&body, &f)) > 0) {
    if (f.number == 1 && f.kind == FIXED64) memcpy(&e->time, f.body.at, 8);
    if ((f.number == 9 || f.number == 10) && f.kind == BYTES) hot = f;
  }
  if (got < 0 || !hot.number) return false;
  e->kind = (int32_t)hot.number;
  return hot.number == 9 ? read_execution(r, e, hot.body) : read_trace(r, e, hot.body);
}

int tdbg_read_debug_events(const uint8_t *data, int64_t size, const tdbg_span *spans, int64_t count,
                           tdbg_debug_columns *found) {
  memset(found, 0, sizeof *found);
  reader r = {.data = data, .out = found};
  for (int64_t i = 0; i < count && !r.no_memory; i++) {
    tdbg_span span = spans[i];
    if (span.offset < 0 || span.length < 0 || span.offset > size || span.length > size - span.offset) {
      found->unreadable++;
      continue;
    }
    tdbg_debug_event e = {.op = -1, .graph = -1, .where = -1, .offset = span.offset};
    size_t ids = found->ids.size, tensors = found->tensors.size;
    e.first_id = (int64_t)(ids / sizeof(int64_t));
    e.first_tensor = (int64_t)(tensors / sizeof(tdbg_debug_tensor));
    if (!read_event(&r, &e, (message){data + span.offset, data + span.offset + span.length})) {
      found->ids.size = ids;
      found->tensors.size = tensors;
      found->unreadable++;
      continue;
    }
    tdbg_debug_event *kept = grow(&found->events, sizeof e);
    if (kept)
      *kept = e;
    else
      r.no_memory = true;
  }
  free(r.strings.slots);
  return r.no_memory ? -1 : 0;
}
