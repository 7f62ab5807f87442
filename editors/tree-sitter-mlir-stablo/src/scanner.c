// Decides where operations, aliases and blocks begin: at the start of a line or after a brace, before
// results with `=`, a name with a dialect, the name of an operation that is written without one, or a
// quoted name with operands. Also closes brackets that are open where another kind closes, or a section
// or the file ends.

#include "tree_sitter/parser.h"

#include <string.h>

enum Token { BEGIN, NO_PARENTHESIS, NO_BRACKET, NO_BRACE, NO_ANGLE, ERROR_SENTINEL };

void *tree_sitter_mlir_stablo_external_scanner_create(void) { return NULL; }
void tree_sitter_mlir_stablo_external_scanner_destroy(void *payload) { (void)payload; }
unsigned tree_sitter_mlir_stablo_external_scanner_serialize(void *payload, char *buffer) {
  (void)payload, (void)buffer;
  return 0;
}
void tree_sitter_mlir_stablo_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  (void)payload, (void)buffer, (void)length;
}

static bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }
static bool is_letter(int32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_word(int32_t c) { return is_letter(c) || is_digit(c) || c == '.' || c == '$'; }
static bool is_name(int32_t c) { return is_word(c) || c == '-'; }
static bool is_space(int32_t c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void advance(TSLexer *lexer) { lexer->advance(lexer, false); }

static void skip_blanks(TSLexer *lexer) {
  while (lexer->lookahead == ' ' || lexer->lookahead == '\t') advance(lexer);
}

/** True before `%a, %b:2 =`, which is read. */
static bool results(TSLexer *lexer) {
  for (;;) {
    if (lexer->lookahead != '%') return false;
    advance(lexer);
    if (!is_name(lexer->lookahead)) return false;
    while (is_name(lexer->lookahead)) advance(lexer);
    skip_blanks(lexer);
    if (lexer->lookahead == ':') {
      advance(lexer);
      skip_blanks(lexer);
      if (!is_digit(lexer->lookahead)) return false;
      while (is_digit(lexer->lookahead)) advance(lexer);
      skip_blanks(lexer);
    }
    if (lexer->lookahead == '=') {
      advance(lexer);
      // Not `%i = %first to %last`.
      skip_blanks(lexer);
      return is_letter(lexer->lookahead) || lexer->lookahead == '"';
    }
    if (lexer->lookahead != ',') return false;
    advance(lexer);
    while (is_space(lexer->lookahead)) advance(lexer);
  }
}

/** Names of operations that are written without their dialect. */
static const char *const BARE[] = {"return", "module", "func", "call", "call_indirect", "constant"};

/** True before an operation without results. */
static bool operation(TSLexer *lexer) {
  if (lexer->lookahead == '"') {
    advance(lexer);
    bool has_dialect = false;
    while (lexer->lookahead != '"') {
      if (lexer->lookahead == '\n' || lexer->eof(lexer)) return false;
      has_dialect |= lexer->lookahead == '.';
      if (!is_word(lexer->lookahead)) return false;
      advance(lexer);
    }
    advance(lexer);
    skip_blanks(lexer);
    return lexer->lookahead == '(' && has_dialect;
  }
  char word[16];
  unsigned length = 0;
  bool has_dialect = false;
  while (is_word(lexer->lookahead)) {
    has_dialect |= lexer->lookahead == '.';
    if (length < sizeof word - 1) word[length] = (char)lexer->lookahead;
    length++;
    advance(lexer);
  }
  skip_blanks(lexer);
  // `a.b = 1` is an attribute.
  if (lexer->lookahead == '=') return false;
  if (has_dialect) return true;
  if (length >= sizeof word) return false;
  word[length] = '\0';
  for (unsigned i = 0; i < sizeof BARE / sizeof *BARE; i++) {
    if (strcmp(word, BARE[i]) == 0) return true;
  }
  return false;
}

/** True before `#name =` or `!name =`. */
static bool alias(TSLexer *lexer) {
  advance(lexer);
  if (!is_name(lexer->lookahead)) return false;
  while (is_name(lexer->lookahead)) advance(lexer);
  skip_blanks(lexer);
  if (lexer->lookahead != '=') return false;
  advance(lexer);
  return lexer->lookahead != '=';
}

/** True before `^name:` or `^name(`. */
static bool label(TSLexer *lexer) {
  advance(lexer);
  if (!is_name(lexer->lookahead)) return false;
  while (is_name(lexer->lookahead)) advance(lexer);
  skip_blanks(lexer);
  return lexer->lookahead == ':' || lexer->lookahead == '(';
}

bool tree_sitter_mlir_stablo_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
  (void)payload;
  // In recovery, all tokens are valid: leave it to the parser.
  if (valid[ERROR_SENTINEL]) return false;
  bool at_start = lexer->get_column(lexer) == 0;
  while (is_space(lexer->lookahead)) {
    at_start |= lexer->lookahead == '\n';
    lexer->advance(lexer, true);
  }
  lexer->mark_end(lexer);
  // The bracket that is open is the one whose absence is expected.
  static const char CLOSING[] = {0, ')', ']', '}', '>'};
  unsigned open = NO_PARENTHESIS;
  while (open <= NO_ANGLE && !valid[open]) open++;
  if (open <= NO_ANGLE) {
    int32_t next = lexer->lookahead;
    bool closes = next == ')' || next == ']' || next == '}';
    lexer->result_symbol = open;
    if (lexer->eof(lexer) || (closes && next != CLOSING[open])) return true;
    if (next == '/') {
      for (unsigned i = 0; i < 8; i++) {
        if (lexer->lookahead != "// -----"[i]) return false;
        advance(lexer);
      }
      return true;
    }
  }
  if (!valid[BEGIN]) return false;
  lexer->result_symbol = BEGIN;
  switch (lexer->lookahead) {
    case '%': return results(lexer);
    case '#':
    case '!': return at_start && alias(lexer);
    case '^': return at_start && label(lexer);
    default: return (is_letter(lexer->lookahead) || lexer->lookahead == '"') && at_start && operation(lexer);
  }
}
