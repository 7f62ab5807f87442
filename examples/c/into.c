/* into FILE STEPS: prepares a program that takes and returns a vector of four f32, and applies it
 * so many times to its own result. The two vectors are memory of this program: a run reads one and
 * writes the other.
 *
 * Build: as run.c. */
#include "stablo.h"

#include <stdio.h>
#include <stdlib.h>

static int fail(const char *what, char *error) {
  fprintf(stderr, "%s: %s\n", what, error ? error : "unknown error");
  stablo_string_free(error);
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: into FILE STEPS\n");
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
  stablo_program *program = stablo_prepare(module, NULL, NULL, &error);
  stablo_module_free(module);
  if (!program) return fail("prepare", error);

  float states[2][4] = {{1, 2, 3, 4}};
  int64_t shape[1] = {4};
  int steps = atoi(argv[2]);
  for (int i = 0; i < steps; i++) {
    stablo_array input = {"f32", shape, 1, states[i % 2], sizeof states[0]};
    stablo_buffer output = {"f32", shape, 1, states[(i + 1) % 2], sizeof states[0]};
    if (!stablo_program_run_into(program, &input, 1, &output, 1, &error)) return fail("run", error);
  }
  const float *state = states[steps % 2];
  printf("%g %g %g %g\n", state[0], state[1], state[2], state[3]);
  stablo_program_free(program);
  return 0;
}
