/* libstablo: load, verify, inspect, transform, serialize and run StableHLO programs.
 *
 * No function aborts or prints. A function that can fail says so by its result and, if `error` is
 * not NULL, sets `*error` to a text that says what is wrong and where; free it with
 * stablo_string_free. On success `*error` is NULL.
 *
 * A module may be read by several threads at once; while a function changes it, no other may use
 * it. A prepared program may be run by several threads at once. Any stack suffices: deeply nested
 * programs are handled on threads of the library's own. Texts are UTF-8 and end in a zero byte.
 *
 * Structures of options begin with their size, and zeros mean defaults:
 *
 *   stablo_run_options options = {sizeof options};
 *   options.max_steps = 1000;
 *
 * Link with `pkg-config --cflags --libs stablo` (see install.sh). */
#ifndef STABLO_H
#define STABLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A program. */
typedef struct stablo_module stablo_module;

/* How to load a program. */
typedef struct stablo_load_options {
  size_t struct_size;
  /* Allow ops, attributes and types of dialects that the library does not know. */
  bool allow_unregistered_dialects;
} stablo_load_options;

/* Reads a program: MLIR text, MLIR bytecode, a portable artifact of any version, or the container
 * that jax.export serializes. `name` stands for the program in errors and locations; NULL is
 * "<memory>". The bytes are copied. Returns NULL if the program is not valid MLIR. */
stablo_module *stablo_load(const uint8_t *data, size_t size, const char *name, char **error);

/* As stablo_load, with options; NULL means defaults. */
stablo_module *stablo_load_with(const uint8_t *data, size_t size, const char *name,
                                const stablo_load_options *options, char **error);

/* Frees a module; NULL is allowed. */
void stablo_module_free(stablo_module *module);

/* Checks a program against the specification of StableHLO. */
bool stablo_verify(const stablo_module *module, char **error);

/* The program as MLIR text, with locations if `debug_info`; free it with stablo_string_free. NULL
 * if it is too long. */
char *stablo_to_text(const stablo_module *module, bool debug_info);

/* Reads and verifies a program of any format and reports its format, functions, ops, constants,
 * custom calls and the oldest version that can express it, as a JSON object; free it with
 * stablo_string_free. */
char *stablo_inspect(const uint8_t *data, size_t size, const char *name, char **error);

/* What is known of the arguments of a program that is to become static. */
typedef struct stablo_refine_options {
  size_t struct_size;
  /* The types of all arguments, such as "tensor<16x128xf32>, tensor<128xf32>"; NULL if they follow
   * from what is below. */
  const char *input_types;
  /* The size of the first dimension of each argument, where it is dynamic; 0 if not given. */
  int64_t batch;
  /* Sizes of dimensions, by the names that the exporter gave them. */
  const char *const *dimension_names;
  const int64_t *dimension_sizes;
  size_t num_dimensions;
  /* Integer arguments, by index, that become constants of these values. */
  const size_t *constant_arguments;
  const int64_t *constant_values;
  size_t num_constants;
} stablo_refine_options;

/* Makes a verified program with dynamic shapes static. The module does not change on failure. */
bool stablo_refine(stablo_module *module, const stablo_refine_options *options, char **error);

/* Runs passes on a verified program, such as "cse,canonicalize{max-iterations=3}", and verifies the
 * result. The module does not change on failure. */
bool stablo_run_pipeline(stablo_module *module, const char *pipeline, char **error);

/* A tensor. */
typedef struct stablo_array {
  /* Element type as MLIR spells it: "f32", "bf16", "i1", "ui8", "complex<f32>", "f8E4M3FN", … */
  const char *dtype;
  /* Size of each dimension. */
  const int64_t *shape;
  size_t rank;
  /* Elements in row-major order, in the byte order of the machine. Integers of less than a byte
   * take one each; i1 is 0 or 1 in results, and true in inputs unless it is 0. */
  const void *data;
  /* Size of the data in bytes. */
  size_t size;
} stablo_array;

/* Limits of each run; 0 means none. */
typedef struct stablo_run_options {
  size_t struct_size;
  /* Bytes that the run holds at the same time, its inputs included. */
  size_t max_memory;
  /* Ops that run, those in loops and functions each time. */
  uint64_t max_steps;
  /* Time, looked at between ops. */
  double max_seconds;
} stablo_run_options;

/* Verifies a program and runs its function `entry`; NULL is "main", which may also stand for the
 * only function. `options` may be NULL. Sets `*outputs` and `*num_outputs`; free the outputs with
 * stablo_arrays_free. The inputs are copied. */
bool stablo_run(const stablo_module *module, const char *entry, const stablo_array *inputs,
                size_t num_inputs, const stablo_run_options *options, stablo_array **outputs,
                size_t *num_outputs, char **error);

/* A function of a program, prepared once to be run any number of times. */
typedef struct stablo_program stablo_program;

/* Verifies a program and prepares its function `entry`, as stablo_run does at each call. `options`
 * are those of each run, and may be NULL. The module may be changed or freed afterwards. */
stablo_program *stablo_prepare(const stablo_module *module, const char *entry,
                               const stablo_run_options *options, char **error);

/* Runs a prepared program; several threads may do so at the same time. Inputs and outputs are as
 * for stablo_run. */
bool stablo_program_run(const stablo_program *program, const stablo_array *inputs,
                        size_t num_inputs, stablo_array **outputs, size_t *num_outputs,
                        char **error);

/* Memory for a result. */
typedef struct stablo_buffer {
  /* As those of the result; see stablo_array. */
  const char *dtype;
  const int64_t *shape;
  size_t rank;
  /* Memory for the elements, aligned for them; their bytes. */
  void *data;
  size_t size;
} stablo_buffer;

/* As stablo_program_run, with results in memory of the caller, one buffer each: loops and kernels
 * write them there. Inputs are read where they are. Buffers may overlap inputs, which are copied
 * then, but not each other. If inputs or buffers have another number, element type, shape or size
 * than the function, nothing is written; after other errors the buffers may have any contents. */
bool stablo_program_run_into(const stablo_program *program, const stablo_array *inputs,
                             size_t num_inputs, const stablo_buffer *outputs, size_t num_outputs,
                             char **error);

/* Frees a prepared program, which no thread may be running; NULL is allowed. */
void stablo_program_free(stablo_program *program);

/* Frees the outputs of a run; NULL is allowed. */
void stablo_arrays_free(stablo_array *arrays, size_t count);

/* Writes the program as a portable artifact for readers of version `target`, such as "1.16.2",
 * "current", "minimum", "WEEK_4" or "WEEK_12"; NULL is "current". Sets `*data` and `*size`; free
 * the bytes with stablo_bytes_free. */
bool stablo_serialize(const stablo_module *module, const char *target, uint8_t **data, size_t *size,
                      char **error);

/* The newest and the oldest version of StableHLO that stablo_serialize can write. Not to be
 * freed. */
const char *stablo_current_version(void);
const char *stablo_minimum_version(void);

/* Frees what the functions above returned; NULL is allowed. */
void stablo_string_free(char *text);
void stablo_bytes_free(uint8_t *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
