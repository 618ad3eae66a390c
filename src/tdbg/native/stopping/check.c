/* Stopping at the first bad value: the rule that says which op made it, and the way to Python for the message. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "stopping/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "python/as_python.h"
#include "python/asking.h"
#include "stopping/from_python.h"

_Atomic int tdbg_check = 0;
static PyObject *explain; /* (check, op, slot, iteration, output, inputs) -> text or None; read and set under the GIL */

static void summarize(const void *data, int64_t elements, int dtype, tdbg_summary *out) {
  if (tdbg_summarize(data, elements, dtype, out) == 0) return;
  memset(out, 0, sizeof *out);
  out->elements = elements;
}

void tdbg_finding_output(tdbg_finding *finding, const tdbg_observation *seen) {
  finding->output.dtype = seen->dtype;
  finding->output.shape = seen->shape;
  finding->output.magnitude = NAN;
  summarize(seen->data, seen->shape->elements, seen->dtype, &finding->output.numbers);
}

void tdbg_finding_fact(tdbg_finding *finding, const tdbg_fact *fact) {
  if (finding->inputs < TDBG_MOST_FACTS) finding->input[finding->inputs++] = *fact;
  finding->nan_went_in |= fact->numbers.nan != 0;
  finding->bad_went_in |= tdbg_is_bad(&fact->numbers);
}

void tdbg_finding_input(tdbg_finding *finding, const void *data, const tdbg_shape *shape, int dtype) {
  tdbg_fact fact = {.dtype = dtype, .shape = shape, .magnitude = NAN};
  summarize(data, shape->elements, dtype, &fact.numbers);
  tdbg_finding_fact(finding, &fact);
}

bool tdbg_finding_is_made(const tdbg_finding *finding) {
  if (finding->nan_went_in) return false;
  return finding->bad_went_in ? finding->output.numbers.nan != 0 : tdbg_is_bad(&finding->output.numbers);
}

static PyObject *fact_as_tuple(const tdbg_fact *fact) { /* (dtype, dims, fields of model.Summary, magnitude) */
  PyObject *dims = tdbg_dims_as_tuple(fact->shape), *numbers = dims ? tdbg_summary_as_tuple(&fact->numbers) : NULL;
  if (numbers) return Py_BuildValue("iNNd", fact->dtype, dims, numbers, fact->magnitude);
  Py_XDECREF(dims);
  return NULL;
}

static char *ask_python(const tdbg_finding *f) {
  PyObject *inputs = PyList_New(0);
  for (int i = 0; inputs && i < f->inputs; i++) {
    PyObject *fact = fact_as_tuple(&f->input[i]);
    if (!fact || PyList_Append(inputs, fact) < 0) Py_CLEAR(inputs);
    Py_XDECREF(fact);
  }
  PyObject *output = inputs ? fact_as_tuple(&f->output) : NULL, *answer = NULL;
  PyObject *function = Py_XNewRef(explain); /* another thread may switch it off meanwhile */
  if (output && function)
    answer = PyObject_CallFunction(function, "iiiiOO", f->check, f->op, f->slot, f->iteration, output, inputs);
  if (!answer) tdbg_postpone_error();
  const char *text = answer && answer != Py_None ? PyUnicode_AsUTF8(answer) : NULL;
  char *message = text ? strdup(text) : NULL;
  if (PyErr_Occurred()) {
    PyErr_Clear();
    message = strdup("tdbg: an op made NaN or infinity from good values (and tdbg failed to find out more)");
  }
  Py_XDECREF(function);
  Py_XDECREF(answer);
  Py_XDECREF(output);
  Py_XDECREF(inputs);
  return message;
}

char *tdbg_finding_message(const tdbg_finding *finding) {
  tdbg_asking asking;
  if (!tdbg_begin_asking(&asking)) return NULL;
  char *message = ask_python(finding);
  tdbg_end_asking(&asking);
  return message;
}

PyObject *tdbg_set_check(PyObject *on, PyObject *function) {
  Py_XSETREF(explain, function == Py_None ? NULL : Py_NewRef(function));
  tdbg_check = explain && PyObject_IsTrue(on);
  Py_RETURN_NONE;
}
