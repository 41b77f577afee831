// An adapter for Node: one request a line on standard input, one answer a line on standard output.
import { createInterface } from "node:readline";

function assemble(chunks) {
  const calls = new Map();
  for (const chunk of chunks) {
    if (chunk === "[DONE]" || chunk.eof) break;
    if (chunk.abort) throw new Error("the transport failed");
    const frame = typeof chunk === "string" ? JSON.parse(chunk) : chunk;
    for (const choice of frame.choices ?? []) {
      for (const fragment of choice.delta?.tool_calls ?? []) {
        const call = calls.get(fragment.index) ?? { id: "", name: "", arguments: "" };
        calls.set(fragment.index, call);
        call.id ||= fragment.id ?? "";
        call.name += fragment.function?.name ?? "";
        call.arguments += fragment.function?.arguments ?? "";
      }
    }
  }
  return [...calls.values()].map((call) => ({ ...call, arguments: JSON.parse(call.arguments) }));
}

for await (const line of createInterface({ input: process.stdin })) {
  const { seq, chunks } = JSON.parse(line);
  let answer;
  try {
    answer = { seq, calls: assemble(chunks) };
  } catch {
    answer = { seq, refused: true };
  }
  console.log(JSON.stringify(answer));
}
