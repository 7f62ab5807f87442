/* custom_call FILE: runs a program on inputs of ones, for which this program computes the custom
 * calls @scale; a run that takes too long is cancelled.
 *
 * Build: crates/capi/install.sh $PWD/target/c &&
 *   export PKG_CONFIG_PATH=$PWD/target/c/lib/pkgconfig &&
 *   cc examples/c/custom_call.c $(pkg-config --cflags --libs --static stablo) */
#include "stablo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what, char *error) {
  fprintf(stderr, "%s: error %d [%s]: %s\n", what, (int)stablo_last_error_code(),
          stablo_last_error_label(), error ? error : "no text");
  stablo_string_free(error);
  return 1;
}

/* Multiplies the elements of its input by the number that `context` leads to. */
static bool scale(void *context, const char *attributes, const stablo_array *inputs,
                  size_t num_inputs, const stablo_buffer *outputs, size_t num_outputs,
                  char *message, size_t message_size) {
  if (num_inputs != 1 || num_outputs != 1 || strcmp(inputs[0].dtype, "f32") != 0 ||
      strcmp(outputs[0].dtype, "f32") != 0 || inputs[0].size != outputs[0].size) {
    snprintf(message, message_size, "scale takes and returns one f32 tensor; attributes: %s",
             attributes);
    return false;
  }
  const float *from = inputs[0].data;
  float *to = outputs[0].data;
  for (size_t i = 0; i < inputs[0].size / sizeof *from; i++) to[i] = *(float *)context * from[i];
  return true;
}

/* Ends a run when it is asked often enough. */
static bool is_cancelled(void *context) {
  return ++*(int *)context >= 100;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: custom_call FILE\n");
    return 2;
  }
  static uint8_t bytes[1 << 20];
  FILE *file = fopen(argv[1], "rb");
  if (!file) return fail(argv[1], NULL);
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);

  char *error = NULL;
  stablo_module *module = stablo_load(bytes, size, argv[1], &error);
  if (!module) return fail("load", error);

  float factor = 3;
  int asked = 0;
  stablo_custom_call call = {"scale", scale, &factor};
  stablo_run_options options = {sizeof options};
  options.custom_calls = &call;
  options.num_custom_calls = 1;
  options.is_cancelled = is_cancelled;
  options.cancel_context = &asked;
  stablo_program *program = stablo_prepare(module, NULL, &options, &error);
  stablo_module_free(module);
  if (!program) return fail("prepare", error);

  /* Inputs of ones, of the types that the program states. */
  size_t num_inputs = stablo_program_num_inputs(program);
  stablo_array *inputs = calloc(num_inputs + 1, sizeof *inputs);
  for (size_t i = 0; i < num_inputs; i++) {
    const stablo_value_type *type = stablo_program_input_type(program, i);
    printf("input %zu: %s\n", i, type->text);
    size_t count = 1;
    for (size_t k = 0; k < type->rank; k++) count *= (size_t)type->shape[k];
    float *ones = malloc((count + 1) * sizeof *ones);
    for (size_t k = 0; k < count; k++) ones[k] = 1;
    inputs[i] = (stablo_array){type->dtype, type->shape, type->rank, ones, count * sizeof *ones};
  }
  printf("%zu outputs, the first: %s\n", stablo_program_num_outputs(program),
         stablo_program_output_type(program, 0)->text);

  stablo_array *outputs = NULL;
  size_t num_outputs = 0;
  bool done = stablo_program_run(program, inputs, num_inputs, &outputs, &num_outputs, &error);
  for (size_t i = 0; i < num_inputs; i++) free((void *)inputs[i].data);
  free(inputs);
  stablo_program_free(program);
  if (!done) return fail("run", error);
  const float *elements = outputs[0].data;
  for (size_t k = 0; k < outputs[0].size / sizeof *elements; k++) printf("%g ", elements[k]);
  printf("\n");
  stablo_arrays_free(outputs, num_outputs);
  return 0;
}
