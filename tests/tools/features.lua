-- Asks `stablo lsp` for all entries of `crates/ide/tests/features.txt` by Neovim's client, and compares
-- the answers. `.ci/editors` runs it in the folder of the repository; STABLO is the program.

local failures, count = 0, 0
local table_path = "crates/ide/tests/features.txt"

local function split(text, separator)
  return vim.split(text, separator, { plain = true })
end

local buffer = vim.api.nvim_create_buf(true, false)
vim.api.nvim_buf_set_name(buffer, vim.fn.tempname() .. ".mlir")
vim.api.nvim_set_current_buf(buffer)
local client
local published = 0
local document = { uri = vim.uri_from_bufnr(buffer) }

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 20000)
  local answer = answers and answers[client] or {}
  return answer.result, answer.error or answer.err
end

local function text_of()
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), "\n")
end

--- Line and column in characters, from 1.
local function place(position)
  local line = vim.api.nvim_buf_get_lines(buffer, position.line, position.line + 1, false)[1] or ""
  local units = math.min(position.character, select(2, vim.str_utfindex(line)))
  local bytes = vim.str_byteindex(line, units, true)
  return ("%d:%d"):format(position.line + 1, vim.fn.strchars(line:sub(1, bytes)) + 1)
end

local function each(list, show)
  local lines = {}
  for _, item in ipairs(list or {}) do
    table.insert(lines, show(item))
  end
  return table.concat(lines, "\n")
end

local function apply(edit)
  vim.lsp.util.apply_workspace_edit(edit, "utf-16")
  return text_of()
end

local function names(symbols, depth)
  return each(symbols, function(symbol)
    local inner = symbol.children and names(symbol.children, depth + 1) or ""
    return ("  "):rep(depth) .. symbol.name .. (inner ~= "" and "\n" .. inner or "")
  end)
end

local function calls(method, of)
  return function(at)
    local items = ask("textDocument/prepareCallHierarchy", at)
    local found = items and ask(method, { item = items[1] })
    return each(found, function(call) return call[of].name end)
  end
end

--- The code actions at the cursor; the one whose title begins so is applied.
local function action(at, title, exact)
  local range = { start = at.position, ["end"] = at.position }
  local actions = ask("textDocument/codeAction", { textDocument = document, range = range, context = { diagnostics = {} } })
  for _, found in ipairs(actions or {}) do
    if exact and found.title == title or not exact and vim.startswith(found.title, title) then
      return apply(found.edit)
    end
  end
  return each(actions, function(found) return "not asked for: " .. found.title end)
end

local requests = {
  hover = function(at)
    local found = ask("textDocument/hover", at)
    return found and found.contents.value or ""
  end,
  complete = function(at)
    local found = ask("textDocument/completion", at)
    return each(found and found.items, function(item) return item.label end)
  end,
  signature = function(at)
    local found = ask("textDocument/signatureHelp", at)
    return found and ("%s\nactive %d"):format(found.signatures[1].label, found.activeParameter) or ""
  end,
  definition = function(at)
    local found = ask("textDocument/definition", at)
    return found and place(found.range.start) or ""
  end,
  references = function(at)
    at.context = { includeDeclaration = true }
    return each(ask("textDocument/references", at), function(found) return place(found.range.start) end)
  end,
  rename = function(at, name)
    at.newName = name
    local edit, err = ask("textDocument/rename", at)
    return edit and apply(edit) or "error: " .. vim.inspect(err)
  end,
  symbols = function() return names(ask("textDocument/documentSymbol", { textDocument = document }), 0) end,
  folds = function()
    return each(ask("textDocument/foldingRange", { textDocument = document }), function(fold)
      return ("%d-%d"):format(fold.startLine + 1, fold.endLine + 1)
    end)
  end,
  selections = function(at)
    local found = ask("textDocument/selectionRange", { textDocument = document, positions = { at.position } })
    local lines, range = {}, found and found[1]
    while range do
      table.insert(lines, place(range.range.start) .. "-" .. place(range.range["end"]))
      range = range.parent
    end
    return table.concat(lines, "\n")
  end,
  hints = function()
    local whole = { start = { line = 0, character = 0 }, ["end"] = { line = 1000, character = 0 } }
    return each(ask("textDocument/inlayHint", { textDocument = document, range = whole }), function(hint)
      return place(hint.position) .. " " .. hint.label
    end)
  end,
  lenses = function()
    return each(ask("textDocument/codeLens", { textDocument = document }), function(lens) return lens.command.title end)
  end,
  format = function()
    local options = { tabSize = 2, insertSpaces = true }
    local edits = ask("textDocument/formatting", { textDocument = document, options = options })
    vim.lsp.util.apply_text_edits(edits, buffer, "utf-16")
    return text_of()
  end,
  incoming = calls("callHierarchy/incomingCalls", "from"),
  outgoing = calls("callHierarchy/outgoingCalls", "to"),
  errors = function()
    local version = vim.lsp.util.buf_versions[buffer]
    vim.wait(10000, function() return published >= version end, 10)
    local found = vim.diagnostic.get(buffer)
    return each(found, function(finding)
      local at = place({ line = finding.lnum, character = select(2, vim.str_utfindex(vim.api.nvim_buf_get_lines(buffer, finding.lnum, finding.lnum + 1, true)[1]:sub(1, finding.col))) })
      return ("%s %s: %s"):format(at, finding.code, finding.message)
    end)
  end,
  fix = function(at, title) return action(at, title, true) end,
  action = function(at, title) return action(at, title, false) end,
  command = function(at, name)
    local argument = { uri = document.uri, position = at.position, ["function"] = "main", batch = 3, pipeline = "cse" }
    local found, err = ask("workspace/executeCommand", { command = "stablo." .. name, arguments = { argument } })
    return found and found.text or "error: " .. vim.inspect(err)
  end,
}

local function try(entry)
  local lines = split(entry, "\n")
  local name, request = lines[1], lines[2]
  local program, expected, cursor = {}, {}, nil
  for index = 3, #lines do
    local line = lines[index]
    if vim.startswith(line, "--- ") then
      table.insert(expected, line:sub(5))
    elseif #expected == 0 then
      line = line:gsub("␍", "\r")
      local at = line:find("$0", 1, true)
      if at then
        cursor = { line = #program, byte = at - 1 }
        line = line:sub(1, at - 1) .. line:sub(at + 2)
      end
      table.insert(program, line)
    end
  end
  vim.diagnostic.reset(nil, buffer)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, program)
  local units = select(2, vim.str_utfindex(program[cursor.line + 1]:sub(1, cursor.byte)))
  local at = { textDocument = document, position = { line = cursor.line, character = units } }
  local method, argument = request:match("^(%S+) ?(.*)$")
  local answer = requests[method](at, argument)
  for _, line in ipairs(expected) do
    local unwanted = vim.startswith(line, "! ")
    local text = unwanted and line:sub(3) or line
    if (answer:find(text, 1, true) ~= nil) == unwanted then
      failures = failures + 1
      io.stderr:write(("failed: %s: %s\n  in: %s\n"):format(name, line, answer))
    end
  end
  count = count + 1
end

-- The version of the text whose diagnostics are shown.
local show = vim.lsp.handlers["textDocument/publishDiagnostics"]
vim.lsp.handlers["textDocument/publishDiagnostics"] = function(err, result, context, config)
  show(err, result, context, config)
  published = result.version or 0
end

client = vim.lsp.start_client({ name = "stablo", cmd = { os.getenv("STABLO"), "lsp" }, root_dir = vim.fn.tempname() })
vim.lsp.buf_attach_client(buffer, client)
vim.wait(20000, function() return vim.lsp.get_client_by_id(client).server_capabilities ~= nil end, 10)
local entries = split(table.concat(vim.fn.readfile(table_path), "\n"), "\n=== ")
for index = 2, #entries do
  try(entries[index])
end
vim.lsp.stop_client(client)
vim.wait(5000, function() return vim.lsp.client_is_stopped(client) end, 20)
io.stdout:write(("neovim: %d features, %d failed\n"):format(count, failures))
vim.cmd(failures == 0 and "qa!" or "cq!")
