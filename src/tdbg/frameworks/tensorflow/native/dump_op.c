/* The kernel of TdbgDump writes its input as DebugIdentity would: the same bytes, in a file of the same name.

   A file is one serialised Event. All of it but the time, the shape and the elements is known when the kernel is made, so
   a dump is one open and one write: nothing is copied, and folders are made only when they turn out to be missing. */
#define _GNU_SOURCE
#include "dump_op.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "debug_op.h"

enum { MOST_DIMS = 254, LONGEST_VARINT = 10, HEAD_BYTES = 64, SHAPE_BYTES = 64 + MOST_DIMS * (LONGEST_VARINT + 4) };

/* Fields of Event, Summary, Summary.Value, SummaryMetadata, TensorProto and TensorShapeProto: number << 3 | kind. */
enum {
  EVENT_TIME = 0x09, EVENT_SUMMARY = 0x2a, SUMMARY_VALUE = 0x0a,
  VALUE_TAG = 0x0a, VALUE_NODE = 0x3a, VALUE_TENSOR = 0x42, VALUE_METADATA = 0x4a,
  METADATA_PLUGIN = 0x0a, PLUGIN_NAME = 0x0a, PLUGIN_CONTENT = 0x12,
  TENSOR_TYPE = 0x08, TENSOR_SHAPE = 0x12, TENSOR_CONTENT = 0x22, SHAPE_DIM = 0x12, DIM_SIZE = 0x08
};

typedef struct {
  char *path;            /* of the file, up to the time */
  unsigned char *names;  /* tag and node name of Summary.Value */
  unsigned char *origin; /* its metadata */
  size_t names_size, origin_size;
} dumper;

typedef struct {
  unsigned char *data;
  size_t size;
} bytes;

/* What cannot be written is missing from the dump and counted; the run goes on. */
static _Atomic int64_t not_dumped;
static _Atomic int why_not;

int64_t tdbg_not_dumped(int *why) {
  *why = atomic_load(&why_not);
  return atomic_load(&not_dumped);
}

/* ---- protocol buffers ---- */

static size_t varint_size(uint64_t value) {
  size_t size = 1;
  while (value >>= 7) size++;
  return size;
}

static void put_varint(bytes *to, uint64_t value) {
  for (; value > 127; value >>= 7) to->data[to->size++] = (unsigned char)(value | 128);
  to->data[to->size++] = (unsigned char)value;
}

static void put_size(bytes *to, int field, uint64_t size) {
  to->data[to->size++] = (unsigned char)field;
  put_varint(to, size);
}

static void put_text(bytes *to, int field, const char *text, size_t size) {
  put_size(to, field, size);
  memcpy(to->data + to->size, text, size);
  to->size += size;
}

static size_t field_size(size_t content) { return 1 + varint_size(content) + content; }

/* ---- what is known when the kernel is made ---- */

static void set_names(dumper *self, const char *node, int slot) {
  char name[LONGEST_ATTRIBUTE + 64];
  size_t tag = strlen(node), size = (size_t)snprintf(name, sizeof name, "%s:%d:DebugIdentity", node, slot);
  bytes to = {malloc(field_size(tag) + field_size(size)), 0};
  if (!to.data) return;
  put_text(&to, VALUE_TAG, node, tag);
  put_text(&to, VALUE_NODE, name, size);
  self->names = to.data;
  self->names_size = to.size;
}

static void set_origin(dumper *self, const char *device, int slot) {
  static const char plugin[] = "debugger";
  char json[LONGEST_ATTRIBUTE + 128];
  size_t size = (size_t)snprintf(json, sizeof json, "{\"device\":\"%s\",\"outputSlot\":%d,\"numChunks\":1,\"chunkIndex\":0}",
                                 device, slot);
  size_t inner = field_size(sizeof plugin - 1) + field_size(size);
  bytes to = {malloc(field_size(field_size(inner))), 0};
  if (!to.data) return;
  put_size(&to, VALUE_METADATA, field_size(inner));
  put_size(&to, METADATA_PLUGIN, inner);
  put_text(&to, PLUGIN_NAME, plugin, sizeof plugin - 1);
  put_text(&to, PLUGIN_CONTENT, json, size);
  self->origin = to.data;
  self->origin_size = to.size;
}

static void set_path(dumper *self, const char *url, const char *device, const char *node, int slot) {
  static const char scheme[] = "file://";
  char folder[LONGEST_ATTRIBUTE];
  if (strncmp(url, scheme, sizeof scheme - 1)) return;
  for (size_t i = 0; i <= strlen(device); i++)
    folder[i] = device[i] == ':' ? '_' : device[i] == '/' ? ',' : device[i];
  if (asprintf(&self->path, "%s/_tfdbg_device_%s/%s_%d_DebugIdentity", url + sizeof scheme - 1, folder, node, slot) < 0)
    self->path = NULL;
}

/* Strings, resources and variants are no plain memory. Before anything of the run was computed, so it can begin again. */
static void refuse_objects(TF_OpKernelConstruction *construction, TF_Status *status) {
  enum { STRING = 7, RESOURCE = 20, VARIANT = 21 };
  int type = 0;
  TF_OpKernelConstruction_GetAttrType(construction, "T", &type, status);
  if (TF_GetCode(status) || (type != STRING && type != RESOURCE && type != VARIANT)) return;
  TF_SetStatus(status, 12 /* UNIMPLEMENTED */, "TdbgDump takes tensors that are plain memory");
  TF_OpKernelConstruction_Failure(construction, status);
}

static void *dumper_new(TF_OpKernelConstruction *construction) {
  dumper *self = calloc(1, sizeof *self);
  char url[LONGEST_ATTRIBUTE] = "", device[LONGEST_ATTRIBUTE] = "", tensor[LONGEST_ATTRIBUTE] = "";
  TF_Status *status = TF_NewStatus();
  tdbg_first_url(construction, url, status);
  tdbg_text_attribute(construction, "device_name", device, status);
  tdbg_text_attribute(construction, "tensor_name", tensor, status);
  refuse_objects(construction, status);
  char *colon = strrchr(tensor, ':');
  if (self && !TF_GetCode(status) && colon) {
    *colon = 0;
    int slot = atoi(colon + 1);
    set_names(self, tensor, slot);
    set_origin(self, device, slot);
    set_path(self, url, device, tensor, slot);
  }
  TF_DeleteStatus(status);
  return self;
}

static void dumper_delete(void *kernel) {
  dumper *self = kernel;
  if (!self) return;
  free(self->path);
  free(self->names);
  free(self->origin);
  free(self);
}

/* ---- files ---- */

static void make_folders_of(const char *path) {
  char folder[PATH_MAX];
  if ((size_t)snprintf(folder, sizeof folder, "%s", path) >= sizeof folder) return;
  char *end = strrchr(folder, '/');
  if (!end || end == folder) return;
  *end = 0;
  if (mkdir(folder, 0755) && errno == ENOENT) { /* another thread may make the same folders meanwhile */
    make_folders_of(folder);
    mkdir(folder, 0755);
  }
}

/* A program may close descriptors that it does not know and open its own: ours are where open() gives none out. */
static int out_of_the_way(int file) {
  int high = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, 512);
  if (high >= 0) close(file);
  return high >= 0 ? high : file;
}

static int open_new(const char *path) {
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file >= 0 || errno != ENOENT) return out_of_the_way(file);
  make_folders_of(path);
  return out_of_the_way(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
}

static bool write_all(int file, struct iovec *parts, int count) {
  while (count) {
    ssize_t done = writev(file, parts, count);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    for (; count && (size_t)done >= parts->iov_len; count--) done -= (ssize_t)(parts++)->iov_len;
    if (!count) break;
    parts->iov_base = (char *)parts->iov_base + done;
    parts->iov_len -= (size_t)done;
  }
  return true;
}

/* The same tensor in the same microsecond, in another round of a loop, gets "-1", "-2", … behind the time. */
static bool write_file(const dumper *self, int64_t time, struct iovec *parts, int count) {
  char path[PATH_MAX];
  int file = -1;
  for (int again = 0; file < 0; again++) {
    int size = again ? snprintf(path, PATH_MAX, "%s_%lld-%d", self->path, (long long)time, again)
                     : snprintf(path, PATH_MAX, "%s_%lld", self->path, (long long)time);
    if (size >= PATH_MAX) errno = ENAMETOOLONG;
    if (size >= PATH_MAX || ((file = open_new(path)) < 0 && errno != EEXIST)) return false;
  }
  bool is_written = write_all(file, parts, count);
  int why = errno;
  if (close(file) && is_written) why = errno, is_written = false;
  if (!is_written) unlink(path); /* half a dump is none */
  errno = why;
  return is_written;
}

/* ---- a tensor ---- */

/* All of a TensorProto but its elements; NULL stands for a tensor without a value. */
static void put_tensor(bytes *to, const TF_Tensor *tensor, size_t content) {
  bytes shape = {(unsigned char[SHAPE_BYTES]){0}, 0};
  int dims = tensor ? TF_NumDims(tensor) : 0;
  for (int i = 0; i < dims && i < MOST_DIMS; i++) {
    uint64_t size = (uint64_t)TF_Dim(tensor, i);
    put_size(&shape, SHAPE_DIM, size ? 1 + varint_size(size) : 0);
    if (size) put_size(&shape, DIM_SIZE, size);
  }
  if (tensor) {
    to->data[to->size++] = TENSOR_TYPE;
    put_varint(to, (uint64_t)TF_TensorType(tensor));
  }
  put_text(to, TENSOR_SHAPE, (const char *)shape.data, shape.size);
  if (content) put_size(to, TENSOR_CONTENT, content);
}

static bool dump(const dumper *self, const TF_Tensor *tensor) {
  size_t content = tensor ? TF_TensorByteSize(tensor) : 0;
  bytes tensor_head = {(unsigned char[SHAPE_BYTES + HEAD_BYTES]){0}, 0};
  put_tensor(&tensor_head, tensor, content);
  size_t in_tensor = tensor_head.size + content;
  size_t in_value = self->names_size + field_size(in_tensor) + self->origin_size;
  if (field_size(field_size(in_value)) + HEAD_BYTES > INT32_MAX) { /* no Event can be larger */
    errno = EFBIG;
    return false;
  }
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  int64_t time = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
  double wall_time = (double)time;
  bytes head = {(unsigned char[HEAD_BYTES]){EVENT_TIME}, 1}, tensor_field = {(unsigned char[HEAD_BYTES]){0}, 0};
  memcpy(head.data + 1, &wall_time, sizeof wall_time);
  head.size += sizeof wall_time;
  put_size(&head, EVENT_SUMMARY, field_size(in_value));
  put_size(&head, SUMMARY_VALUE, in_value);
  put_size(&tensor_field, VALUE_TENSOR, in_tensor);
  struct iovec parts[] = {{head.data, head.size},
                          {self->names, self->names_size},
                          {tensor_field.data, tensor_field.size},
                          {tensor_head.data, tensor_head.size},
                          {content ? TF_TensorData(tensor) : NULL, content},
                          {self->origin, self->origin_size}};
  return write_file(self, time, parts, sizeof parts / sizeof *parts);
}

/* Nobody reads the output, so none is set; the runtime asks for none then. */
static void dumper_compute(void *kernel, TF_OpKernelContext *context) {
  const dumper *self = kernel;
  TF_Tensor *tensor = NULL;
  TF_Status *status = tdbg_clean_status();
  TF_GetInput(context, 0, &tensor, status); /* fails where the tensor has no value */
  errno = EINVAL;
  if (!self || !self->path || !self->names || !self->origin || !dump(self, TF_GetCode(status) ? NULL : tensor)) {
    atomic_store(&why_not, errno);
    atomic_fetch_add(&not_dumped, 1);
  }
  if (tensor) TF_DeleteTensor(tensor);
}

void tdbg_register_dump_op(TF_Status *status) {
  tdbg_register_debug_op("TdbgDump", dumper_new, dumper_compute, dumper_delete, status);
}
