/* libstablo: load, verify, inspect, transform, serialize and run StableHLO programs.
 *
 * No function aborts or prints. A function that can fail says so by its result and, if `error` is
 * not NULL, sets `*error` to a text that says what is wrong and where; free it with
 * stablo_string_free. On success `*error` is NULL. stablo_last_error_code has the kind of error.
 *
 * A module may be read by several threads at once; while a function changes it, no other may use
 * it. A prepared program may be run by several threads at once. Texts are UTF-8 and end in a zero
 * byte.
 *
 * Threads that call the library need 64 KB of stack, whatever the program: deeply nested ones
 * are handled on threads of the library's own.
 *
 * Structures of options begin with their size, and zeros mean defaults. A library that is older
 * than the header of the caller refuses fields that it does not know, unless they are zero:
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

/* The version of this header; stablo_version has that of the library, which may be newer. */
#define STABLO_VERSION "0.1.0"
const char *stablo_version(void);

/* The kind of an error. */
typedef enum stablo_error_code {
  STABLO_OK = 0,
  /* A pointer, text, option, input or buffer of the call. */
  STABLO_INVALID_ARGUMENT = 1,
  /* The program is not MLIR, violates a constraint, or has an op that cannot run. */
  STABLO_INVALID_PROGRAM = 2,
  /* Refinement or a pass failed, or the target version cannot express the program. */
  STABLO_CONVERSION_FAILED = 3,
  /* An op failed in a run, such as a shape assertion or a custom call. */
  STABLO_RUN_FAILED = 4,
  /* A run took more memory, steps or time than its limit. */
  STABLO_LIMIT_EXCEEDED = 5,
  /* is_cancelled ended a run. */
  STABLO_CANCELLED = 6,
  /* A bug of the library. */
  STABLO_INTERNAL = 7
} stablo_error_code;

/* The kind of error of the last call of this thread that could fail; STABLO_OK if it did not. */
stablo_error_code stablo_last_error_code(void);

/* The rule that the first error of that call violates, such as "add_c1" (`stablo explain` has its
 * text), "parse" or "time_limit"; empty if there is none. Valid until the next call of this thread. */
const char *stablo_last_error_label(void);

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

/* Computes a custom call: writes the elements of all outputs, whose memory holds zeros.
 * `attributes` is the dictionary of the op as MLIR text, `{backend_config = "…", …}`. Returns false
 * if it fails, with the reason in `message`, a text of at most `message_size` bytes. All pointers
 * are valid during the call only. Threads that run the program call it, several at once if several
 * run it. */
typedef bool (*stablo_custom_call_function)(void *context, const char *attributes,
                                            const stablo_array *inputs, size_t num_inputs,
                                            const stablo_buffer *outputs, size_t num_outputs,
                                            char *message, size_t message_size);

/* An implementation of custom calls, which must have tensors of static shape as results. */
typedef struct stablo_custom_call {
  /* Name of the calls; implementations of the library are replaced. */
  const char *target;
  stablo_custom_call_function function;
  /* Given to the function. */
  void *context;
} stablo_custom_call;

/* Limits of each run, 0 for none, and functions that it calls. */
typedef struct stablo_run_options {
  size_t struct_size;
  /* Bytes that the run holds at the same time, its inputs included. */
  size_t max_memory;
  /* Ops that run, those in loops and functions each time. */
  uint64_t max_steps;
  /* Time, looked at between ops. */
  double max_seconds;
  /* If not NULL, called between ops, every thousand or so; true ends the run. Any thread may call
   * it. */
  bool (*is_cancelled)(void *context);
  void *cancel_context;
  /* Implementations of custom calls. They, their functions and contexts must stay valid as long as
   * the program; the array itself and the names are copied. */
  const stablo_custom_call *custom_calls;
  size_t num_custom_calls;
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

/* The type of an input or output. */
typedef struct stablo_value_type {
  /* As MLIR text, such as "tensor<?x3xf32>". */
  const char *text;
  /* Element type, shape and rank of a tensor, as in stablo_array; an unknown size is -1. The
   * element type is NULL for other values and for tensors of quantized types. */
  const char *dtype;
  const int64_t *shape;
  size_t rank;
} stablo_value_type;

/* The number of inputs and of outputs of a program, and their types: valid as long as the program;
 * NULL if there is no such one. */
size_t stablo_program_num_inputs(const stablo_program *program);
size_t stablo_program_num_outputs(const stablo_program *program);
const stablo_value_type *stablo_program_input_type(const stablo_program *program, size_t index);
const stablo_value_type *stablo_program_output_type(const stablo_program *program, size_t index);

/* As stablo_program_run, with results in memory of the caller, one buffer each: loops and kernels
 * write them there. Inputs are read where they are. Buffers may overlap inputs, which are copied
 * then, but not each other. If inputs or buffers have another number, element type, shape or size
 * than the function, nothing is written; after other errors the buffers may have any contents. */
bool stablo_program_run_into(const stablo_program *program, const stablo_array *inputs,
                             size_t num_inputs, const stablo_buffer *outputs, size_t num_outputs,
                             char **error);

/* Frees a prepared program, which no thread may be running; NULL is allowed. */
void stablo_program_free(stablo_program *program);

/* A device of a PJRT plugin, such as XLA's for CPUs, GPUs and TPUs. */
typedef struct stablo_device stablo_device;

/* Loads a plugin and takes its first device. The text is "pjrt:", the path of the plugin's shared
 * library, and options of the plugin: "pjrt:plugin.so,name=value". The code of the plugin runs
 * within this process. */
stablo_device *stablo_device_open(const char *device, char **error);

/* As stablo_run, on a device: the program is compiled by the plugin, for the shapes of the inputs if
 * it is dynamic, and runs there. Several threads may do so at the same time. */
bool stablo_device_run(const stablo_device *device, const stablo_module *module, const char *entry,
                       const stablo_array *inputs, size_t num_inputs, stablo_array **outputs,
                       size_t *num_outputs, char **error);

/* Frees a device; the plugin stays loaded. NULL is allowed. */
void stablo_device_free(stablo_device *device);

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
