-- Drives `stablo lsp` by Neovim's client: `nvim --headless -u NONE -l` is newer than Debian's, so
-- `.ci/editors` runs it by `-S`. STABLO is the program.

local failures = 0

local function check(what, holds, found)
  if not holds then
    failures = failures + 1
    io.stderr:write(("failed: %s: %s\n"):format(what, vim.inspect(found)))
  end
end

local path = vim.fn.tempname() .. ".mlir"
vim.fn.writefile({
  "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {",
  "    %0 = stablehlo.cosin %x : tensor<2xf32>",
  "  %1 = call @f(%x) : (tensor<2xf32>) -> tensor<2xf32>",
  "  return %1 : tensor<2xf32>",
  "}",
  "func.func private @f(%y: tensor<2xf32>) -> tensor<2xf32> {",
  "  %0 = stablehlo.sine %y : tensor<2xf32>",
  "  return %0 : tensor<2xf32>",
  "}",
}, path)
vim.cmd("edit " .. path)
local buffer = vim.api.nvim_get_current_buf()
local client = vim.lsp.start_client({
  name = "stablo",
  cmd = { os.getenv("STABLO"), "lsp" },
  root_dir = vim.fn.fnamemodify(path, ":h"),
})
vim.lsp.buf_attach_client(buffer, client)

--- The result of a request, or nil.
local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 10000)
  local answer = answers and answers[client]
  return answer and answer.result
end

local document = { uri = vim.uri_from_bufnr(buffer) }
local function at(line, character)
  return { textDocument = document, position = { line = line, character = character } }
end

vim.wait(10000, function() return #vim.diagnostic.get(buffer) > 0 end, 20)
local found = vim.diagnostic.get(buffer)
check("diagnostics", #found == 1 and found[1].lnum == 1 and found[1].code == "parse", found)

-- The quick fix of the misspelled op is applied to the buffer.
local whole = { start = { line = 1, character = 9 }, ["end"] = { line = 1, character = 24 } }
local actions = ask("textDocument/codeAction",
  { textDocument = document, range = whole, context = { diagnostics = {} } })
check("code actions", actions and #actions > 0 and actions[1].title == "Replace by `stablehlo.cosine`", actions)
vim.lsp.util.apply_workspace_edit(actions[1].edit, "utf-16")
vim.wait(10000, function()
  local left = vim.diagnostic.get(buffer)
  return #left == 1 and left[1].code == "dead-op"
end, 20)
found = vim.diagnostic.get(buffer)
check("diagnostics after the fix", #found == 1 and found[1].code == "dead-op", found)

local hover = ask("textDocument/hover", at(6, 12))
check("hover", hover and hover.contents.value:find("stablehlo.sine", 1, true), hover)
local definition = ask("textDocument/definition", at(2, 14))
check("definition", definition and definition.range.start.line == 5, definition)
local references = at(6, 23)
references.context = { includeDeclaration = true }
references = ask("textDocument/references", references)
check("references", references and #references == 2, references)
local symbols = ask("textDocument/documentSymbol", { textDocument = document })
check("symbols", symbols and #symbols == 2 and symbols[2].name == "f", symbols)

local rename = at(5, 20)
rename.newName = "g"
vim.lsp.util.apply_workspace_edit(ask("textDocument/rename", rename), "utf-16")
check("rename", vim.api.nvim_buf_get_lines(buffer, 2, 3, true)[1]:find("call @g(", 1, true))

vim.lsp.util.apply_text_edits(
  ask("textDocument/formatting", { textDocument = document, options = { tabSize = 2, insertSpaces = true } }),
  buffer, "utf-16")
local line = vim.api.nvim_buf_get_lines(buffer, 1, 2, true)[1]
check("formatting", line == "  %0 = stablehlo.cosine %x : tensor<2xf32>", line)

vim.api.nvim_buf_set_lines(buffer, 3, 3, true, { "  %2 = stablehlo.tan" })
local items = ask("textDocument/completion", at(3, 20))
check("completion", items and items.items[1].label == "stablehlo.tan", items)
vim.lsp.util.jump_to_location(ask("textDocument/definition", at(4, 10)), "utf-16")
check("jump", vim.api.nvim_win_get_cursor(0)[1] == 3, vim.api.nvim_win_get_cursor(0))

vim.lsp.stop_client(client)
vim.wait(5000, function() return vim.lsp.client_is_stopped(client) end, 20)
check("end", vim.lsp.client_is_stopped(client))
io.stdout:write(failures == 0 and "neovim: passed\n" or "neovim: failed\n")
vim.cmd(failures == 0 and "qa!" or "cq!")
