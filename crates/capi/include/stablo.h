/* libstablo: load, verify, print and serialize StableHLO programs.
 *
 * No function aborts, and none prints. A function that can fail tells so by its result and, if `error` is not NULL, sets `*error` to a
 * text that says what is wrong and where; free it with stablo_string_free. On success `*error` is NULL.
 * A module may be read by several threads at once. Texts are UTF-8 and end in a zero byte. */
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

/* Reads a program: MLIR text, MLIR bytecode, a portable artifact of any version, or what jax.export wrote. `name` stands for the
 * program in errors and locations; NULL is "<memory>". The bytes are copied. Returns NULL if the program is not valid MLIR. */
stablo_module *stablo_load(const uint8_t *data, size_t size, const char *name, char **error);

/* Frees a module; NULL is allowed. */
void stablo_module_free(stablo_module *module);

/* Checks a program against the specification of StableHLO. */
bool stablo_verify(const stablo_module *module, char **error);

/* The program as MLIR text, with locations if `debug_info`; free it with stablo_string_free. */
char *stablo_to_text(const stablo_module *module, bool debug_info);

/* Writes the program as a portable artifact for readers of version `target`, such as "1.16.2", "current", "minimum", "WEEK_4" or
 * "WEEK_12". Sets `*data` and `*size`; free the bytes with stablo_bytes_free. */
bool stablo_serialize(const stablo_module *module, const char *target, uint8_t **data, size_t *size, char **error);

/* The newest and the oldest version of StableHLO that stablo_serialize can write. Not to be freed. */
const char *stablo_current_version(void);
const char *stablo_minimum_version(void);

/* Frees what the functions above returned; NULL is allowed. */
void stablo_string_free(char *text);
void stablo_bytes_free(uint8_t *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
