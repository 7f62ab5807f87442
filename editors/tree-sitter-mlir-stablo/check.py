"""Parses all .mlir files below folders by a compiled parser, and runs the queries on them."""

import ctypes
import pathlib
import sys
import warnings

import tree_sitter

warnings.simplefilter("ignore", DeprecationWarning)
library, *folders = sys.argv[1:]
function = ctypes.cdll.LoadLibrary(library).tree_sitter_mlir_stablo
function.restype = ctypes.c_void_p
language = tree_sitter.Language(function())
parser = tree_sitter.Parser(language)
queries = {}
for path in sorted((pathlib.Path(__file__).parent / "queries").glob("*.scm")):
    queries[path.stem] = tree_sitter.Query(language, path.read_text())


def first_error(node):
    if node.type == "ERROR" or node.is_missing:
        return node
    return next((found for child in node.children if child.has_error for found in [first_error(child)] if found), node)


def operations(node):
    return (node.type == "operation") + sum(operations(child) for child in node.children)


files = errors = ops = captures = 0
for folder in folders:
    for path in sorted(pathlib.Path(folder).rglob("*.mlir")):
        if "target" in path.parts or not path.is_file():
            continue
        tree = parser.parse(path.read_bytes())
        files += 1
        if tree.root_node.has_error:
            errors += 1
            row, column = first_error(tree.root_node).start_point
            print(f"{path}:{row + 1}:{column + 1}: error")
        elif path.stat().st_size < 100_000:
            sys.setrecursionlimit(100_000)
            ops += operations(tree.root_node)
            for query in queries.values():
                captures += sum(map(len, tree_sitter.QueryCursor(query).captures(tree.root_node).values()))
print(f"tree-sitter: {files} files, {errors} with errors, {ops} operations, {captures} captures")
sys.exit(1 if errors or not files else 0)
