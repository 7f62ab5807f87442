; Captures of Neovim and Helix.

(comment) @comment
(string) @string
(integer) @number
(float) @number
(shape) @number

(operation name: (op_name) @function)
(operation name: (string) @function)
((op_name) @keyword
  (#match? @keyword "^(func\\.func|module|builtin\\.module|func|return|func\\.return|stablehlo\\.return|sdy\\.mesh)$"))

(value) @variable
(label (parentheses (value) @variable.parameter))
(symbol) @label
(block) @label
(label name: (block) @label)
(attribute_name) @constant
(type_name) @type
(alias name: (_) @constant)

((word) @type.builtin
  (#match? @type.builtin "^(tensor|memref|vector|tuple|complex|index|none|token|s?i[0-9]+|ui[0-9]+|bf16|tf32|f[0-9]+[A-Z0-9]*)$"))
((word) @constant.builtin
  (#match? @constant.builtin "^(true|false|unit|dense|dense_resource|array|affine_map|affine_set|opaque|sparse|loc|unknown|fused|callsite)$"))
((word) @keyword
  (#match? @keyword "^(private|public|nested|attributes|applies|across|dimensions|init|reducer|cond|do|dims|contracting_dims|batching_dims|precision|algorithm|low|high|interior|window|sizes|dim)$"))

["(" ")" "[" "]" "{" "}" "<" ">"] @punctuation.bracket
(punctuation) @punctuation.delimiter
(operation "=" @operator)
(stray) @error
