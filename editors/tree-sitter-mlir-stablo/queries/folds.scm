(braces) @fold
(metadata) @fold
