/* TensorFlow's side of the observer: registers the ops through TensorFlow's C API, found at run time. */
#ifndef TDBG_TENSORFLOW_OP_H
#define TDBG_TENSORFLOW_OP_H

/* `library` is the path of libtensorflow_framework. Returns NULL, or a sentence that says what failed. */
const char *tdbg_register_tensorflow(const char *library);
/* TensorFlow's DataType number -> tdbg's, 0 when unknown. */
int tdbg_dtype_of_tensorflow(int tf_type);

#endif
