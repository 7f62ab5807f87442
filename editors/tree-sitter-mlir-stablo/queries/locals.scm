; Names of values are visible in the braces around them. Functions do not see the values around them,
; which no program relies on.

(source_file) @local.scope
(braces) @local.scope

(results (value) @local.definition)
(label (parentheses (value) @local.definition))
(operation (parentheses (value) @local.reference))
(value) @local.reference
