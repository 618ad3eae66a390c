/* Interning of Python stacks. Called with the GIL held, so it needs no lock of its own. */
#include "stacks/stacks.h"

enum { DEEPEST = 1024 };

typedef struct {
  int32_t parent;
  int32_t instruction;
  PyCodeObject *code; /* kept alive, so that the pointer stays a name */
} node;

static node *nodes;
static int32_t *table; /* open addressing, index + 1 */
static int32_t count, capacity;

static uint64_t hash_of(int32_t parent, PyCodeObject *code, int32_t instruction) {
  uint64_t hash = (uint64_t)(uintptr_t)code * 0x9E3779B97F4A7C15ull;
  hash ^= ((uint64_t)(uint32_t)parent << 32 | (uint32_t)instruction) * 0xC2B2AE3D27D4EB4Full;
  return hash ^ (hash >> 31);
}

static int grow(void) {
  int32_t larger = capacity ? capacity * 2 : 8192;
  node *more = PyMem_RawRealloc(nodes, (size_t)larger * sizeof *nodes);
  int32_t *fresh = PyMem_RawCalloc((size_t)larger * 2, sizeof *fresh);
  if (more) nodes = more;
  if (!more || !fresh) {
    PyMem_RawFree(fresh);
    PyErr_NoMemory();
    return -1;
  }
  uint64_t mask = (uint64_t)larger * 2 - 1;
  for (int32_t i = 0; i < count; i++) {
    uint64_t at = hash_of(nodes[i].parent, nodes[i].code, nodes[i].instruction) & mask;
    while (fresh[at]) at = (at + 1) & mask;
    fresh[at] = i + 1;
  }
  PyMem_RawFree(table);
  table = fresh;
  capacity = larger;
  return 0;
}

static int32_t intern(int32_t parent, PyCodeObject *code, int32_t instruction) {
  if (count == capacity && grow() < 0) return -2;
  uint64_t mask = (uint64_t)capacity * 2 - 1;
  uint64_t at = hash_of(parent, code, instruction) & mask;
  for (int32_t i; (i = table[at]); at = (at + 1) & mask) {
    node *found = &nodes[i - 1];
    if (found->code == code && found->parent == parent && found->instruction == instruction) return i - 1;
  }
  Py_INCREF(code);
  nodes[count] = (node){parent, instruction, code};
  table[at] = count + 1;
  return count++;
}

int64_t tdbg_stack_here(int skip) {
  struct {
    PyCodeObject *code;
    int32_t instruction;
  } chain[DEEPEST];
  int depth = 0;
  PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame && depth < DEEPEST) {
    if (skip > 0) {
      skip--;
    } else {
      PyCodeObject *code = PyFrame_GetCode(frame);
      chain[depth].code = code;
      chain[depth++].instruction = PyFrame_GetLasti(frame);
      Py_DECREF(code); /* the frame, which is running, keeps it alive */
    }
    PyFrameObject *back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  int32_t stack = -1;
  while (depth-- > 0) {
    stack = intern(stack, chain[depth].code, chain[depth].instruction);
    if (stack == -2) return -1;
  }
  return stack;
}

PyObject *tdbg_stack_get(int64_t id) {
  if (id < 0 || id >= count) return PyErr_Format(PyExc_IndexError, "no stack %lld", (long long)id);
  node *found = &nodes[id];
  return Py_BuildValue("iOi", found->parent, found->code, PyCode_Addr2Line(found->code, found->instruction));
}
