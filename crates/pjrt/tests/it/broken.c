/* A plugin that does one thing wrongly, as FAULT says; all else is done by the plugin at PLUGIN.
   Arguments are words: a size, a list of extensions, and the fields of the interface's header. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 200

typedef void *(*function)(size_t *);

/* Size, extensions, version (size, extensions, two ints), then functions. */
static size_t table[WORDS];
static function real[WORDS];

enum { FUNCTIONS = 5 };

static void *passed_on(int slot, size_t *args) { return real[FUNCTIONS + slot](args); }

static void *wrong(size_t *args) {
  void *error = passed_on(SLOT, args);
  if (error) return error;
#if defined(FEW_RESULTS)
  args[3] = 0;
#elif defined(MANY_RESULTS)
  args[3] = (size_t)1 << 40;
#elif defined(NULL_RESULT)
  ((size_t ***)args)[7][0][0] = 0;
#elif defined(NO_DEVICES)
  args[4] = 0;
#elif defined(NULL_OBJECT)
  args[OBJECT] = 0;
#elif defined(OTHER_SHAPE)
  static long long dims[] = {7};
  args[3] = (size_t)dims, args[4] = 1;
#elif defined(NEGATIVE_SHAPE)
  static long long dims[] = {-7};
  args[3] = (size_t)dims, args[4] = 1;
#elif defined(OTHER_TYPE)
  args[3] = 12;
#elif defined(UNKNOWN_TYPE)
  args[3] = 99;
#elif defined(OTHER_SIZE)
  args[5] = 5;
#endif
  return 0;
}

/* An error of the plugin, for a call without a client. */
static void *failing(size_t *args) {
  size_t none[16] = {sizeof none};
  (void)args;
  return passed_on(17, none);
}

const void *GetPjrtApi(void) {
#if defined(NULL_TABLE)
  return 0;
#else
  void *library = dlopen(PLUGIN, RTLD_NOW);
  const size_t *(*get)(void) = (const size_t *(*)(void))dlsym(library, "GetPjrtApi");
  const size_t *own = get();
  memcpy(table, own, own[0]);
  memcpy(real, own, own[0]);
  int *version = (int *)&table[4];
#if defined(SHORT_HEADER)
  table[0] = 8;
#elif defined(OLD)
  version[1] = 30;
#elif defined(OTHER_MAJOR)
  version[0] = 1;
#elif defined(SHORT_TABLE)
  table[0] = 8 * (FUNCTIONS + SLOT);
#elif defined(NULL_SLOT)
  table[FUNCTIONS + SLOT] = 0;
#elif defined(FAILING)
  table[FUNCTIONS + SLOT] = (size_t)failing;
#elif defined(SLOT)
  table[FUNCTIONS + SLOT] = (size_t)wrong;
#endif
  (void)version, (void)failing, (void)wrong;
  return table;
#endif
}
