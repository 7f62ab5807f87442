[(braces) (parentheses) (brackets)] @indent.begin
["}" ")" "]"] @indent.end @indent.branch
(comment) @indent.ignore
