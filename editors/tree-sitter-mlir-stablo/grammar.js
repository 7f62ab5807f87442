// MLIR text: operations, regions and names, of any dialect. What stands between the name of an
// operation and the next one has a format of its own in each dialect; here it is words, values,
// symbols, literals and brackets. Where an operation begins is decided in src/scanner.c.

const list = (rule) => seq(rule, repeat(seq(",", rule)));

module.exports = grammar({
  name: "mlir_stablo",

  externals: ($) => [$._begin, $._no_parenthesis, $._no_bracket, $._no_brace, $._no_angle, $.error_sentinel],

  extras: ($) => [/\s/, $.comment],

  word: ($) => $.word,

  rules: {
    source_file: ($) => repeat(choice($.operation, $.alias, $.metadata, $._part, $.stray)),

    comment: () => token(seq("//", /[^\n]*/)),

    // `%0:2, %1 = dialect.name …`, `"dialect.name"(…) …`
    operation: ($) =>
      prec.right(seq($._begin, optional(seq($.results, "=")), field("name", choice($.op_name, $.string)), repeat($._part))),
    results: ($) => list(seq($.value, optional(seq(":", $.integer)))),
    op_name: ($) => $.word,

    // `#name = …`, `!name = …`
    alias: ($) => prec.right(seq($._begin, field("name", choice($.attribute_name, $.type_name)), "=", repeat($._part))),

    // `^bb0(%arg0: tensor<f32>):`
    label: ($) => seq($._begin, field("name", $.block), optional($.parentheses), ":"),

    _part: ($) =>
      choice(
        $.word,
        $.value,
        $.symbol,
        $.block,
        $.attribute_name,
        $.type_name,
        $.string,
        $.integer,
        $.float,
        $.shape,
        $.punctuation,
        $.parentheses,
        $.brackets,
        $.braces,
        $.angles,
      ),

    parentheses: ($) => seq("(", repeat($._part), choice(")", $._no_parenthesis)),
    brackets: ($) => seq("[", repeat($._part), choice("]", $._no_bracket)),
    angles: ($) => seq("<", repeat($._part), choice(">", $._no_angle)),
    // A region, or a dictionary of attributes.
    braces: ($) => seq("{", repeat(choice($.operation, $.label, $.alias, $._part)), choice("}", $._no_brace)),

    metadata: ($) => seq("{-#", repeat($._part), "#-}"),

    // Brackets that close nothing, in texts with errors.
    stray: () => choice(")", "]", "}", ">", "#-}"),

    word: () => /[A-Za-z_][A-Za-z0-9_$.]*/,
    value: () => token(seq("%", choice(/[0-9]+/, /[A-Za-z_$.\-][A-Za-z0-9_$.\-]*/), optional(/#[0-9]+/))),
    symbol: () => token(seq("@", choice(/[A-Za-z_][A-Za-z0-9_$.]*/, /"([^"\\\n]|\\.)*"/))),
    block: () => token(seq("^", /[A-Za-z0-9_$.\-]+/)),
    attribute_name: () => token(seq("#", /[A-Za-z0-9_$.\-]+/)),
    type_name: () => token(seq("!", /[A-Za-z0-9_$.\-]+/)),
    string: () => /"([^"\\\n]|\\.)*"/,
    integer: () => token(choice(/[0-9]+/, /0x[0-9A-Fa-f]+/)),
    float: () => /[0-9]+\.[0-9]*([eE][+\-]?[0-9]+)?/,
    // `2x?x` before an element type
    shape: () => token(prec(1, /([0-9]+|\?|\*)(x([0-9]+|\?))*x/)),
    punctuation: () =>
      token(prec(-1, choice("->", "::", "...", ">=", "<=", "==", /[,:=?*+\-\/|&;.~$`'\\#!%^@]/, /[^\x00-\x7f]/, '"'))),
  },
});
