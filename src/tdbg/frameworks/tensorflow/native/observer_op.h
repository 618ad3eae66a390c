/* TensorFlow's side of the observers: registers tdbg's ops through TensorFlow's C API. */
#ifndef TDBG_OBSERVER_OP_H
#define TDBG_OBSERVER_OP_H

/* `library` is the path of libtensorflow_framework. Returns NULL, or a sentence that says what failed. */
const char *tdbg_register_tensorflow(const char *library);

#endif
