"""Measures `stablo lsp` on large programs: time to the first diagnostics, time from an edit to the next
ones and to a completion, and memory.

    python3 tools/lsp_speed.py target/release/stablo

The server waits for a pause of 20 ms before it computes diagnostics that took long; that is part of the
times. CPU times are of all threads.
"""

import json
import random
import statistics
import subprocess
import sys
import time


def program(functions, ops):
    """A program as JAX writes them: functions of elementwise ops with locations."""
    numbers = random.Random(1)
    names = ["add", "multiply", "subtract", "maximum"]
    lines = ["module @m {"]
    for function in range(functions):
        name = "main" if function == 0 else f"f{function}"
        visibility = "public" if function == 0 else "private"
        ty = "tensor<64x128xf32>"
        lines.append(f"  func.func {visibility} @{name}(%arg0: {ty}, %arg1: {ty}) -> {ty} {{")
        values = ["%arg0", "%arg1"]
        for number in range(ops):
            # No op is dead.
            a, b = values[-1], numbers.choice(values[-20:])
            loc = f'loc("jit({name})/layer_{number}/{names[number % 4]}")'
            lines.append(f"    %{number} = stablehlo.{names[number % 4]} {a}, {b} : {ty} {loc}")
            values.append(f"%{number}")
        lines += [f"    return {values[-1]} : {ty}", "  }"]
    return "\n".join(lines + ["}", ""])


def packed(method, params, id=None):
    """A message as bytes."""
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if id is not None:
        message["id"] = id
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


class Server:
    def __init__(self, stablo):
        self.process = subprocess.Popen([stablo, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.id = 0

    def send(self, method, params, id=None):
        self.write(packed(method, params, id))

    def write(self, message):
        self.process.stdin.write(message)
        self.process.stdin.flush()

    def receive(self):
        length = int(self.process.stdout.readline().split(b":")[1])
        while self.process.stdout.readline().strip():
            pass
        return json.loads(self.process.stdout.read(length))

    def request(self, method, params):
        self.id += 1
        self.send(method, params, self.id)
        while (message := self.receive()).get("id") != self.id:
            pass
        return message["result"]

    def notification(self, method):
        while (message := self.receive()).get("method") != method:
            pass
        return message["params"]

    def cpu(self):
        """Seconds of CPU time, of all threads."""
        # The clock of another process, as Linux numbers them.
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024


def measure(stablo, name, text):
    server = Server(stablo)
    server.request("initialize", {"capabilities": {"general": {"positionEncodings": ["utf-8"]}}})
    uri = "file:///speed.mlir"
    document = {"uri": uri, "languageId": "mlir", "version": 1, "text": text}
    # The work of the client before it writes is not part of the server's time.
    opened = packed("textDocument/didOpen", {"textDocument": document})
    start, cpu = time.perf_counter(), server.cpu()
    server.write(opened)
    server.notification("textDocument/publishDiagnostics")
    first, first_cpu = time.perf_counter() - start, server.cpu() - cpu
    # The lints follow.
    time.sleep(2.0)
    line = text[: len(text) // 2].count("\n") + 1
    edits, edits_cpu = [], []
    for version in range(2, 32):
        # Types and removes a character at the end of an operand in the middle.
        column = text.split("\n", line + 1)[line].find(",") if version == 2 else column
        at = {"line": line, "character": column}
        end = {"line": line, "character": column + (version % 2)}
        change = {"range": {"start": at, "end": end}, "text": "" if version % 2 else "9"}
        start, cpu = time.perf_counter(), server.cpu()
        server.send("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]})
        server.notification("textDocument/publishDiagnostics")
        edits.append(time.perf_counter() - start)
        edits_cpu.append(server.cpu() - cpu)
    start = time.perf_counter()
    server.request("textDocument/completion", {"textDocument": {"uri": uri}, "position": at})
    completion = time.perf_counter() - start
    memory = server.memory()
    server.request("shutdown", None)
    server.send("exit", None)
    ms = lambda seconds: f"{seconds * 1e3:.1f} ms"
    median = statistics.median
    print(
        f"{name}: {len(text) / 1e6:.1f} MB, first diagnostics {ms(first)} (CPU {ms(first_cpu)}), after an edit "
        f"{ms(median(edits))} (CPU {ms(median(edits_cpu))}, worst {ms(max(edits_cpu))}), completion "
        f"{ms(completion)}, {memory / len(text):.1f} times the text in memory"
    )


if __name__ == "__main__":
    stablo = sys.argv[1]
    measure(stablo, "100 functions of 1,000 ops", program(100, 1000))
    measure(stablo, "1 function of 100,000 ops", program(1, 100_000))
    measure(stablo, "1 function of 1,000 ops", program(1, 1000))
