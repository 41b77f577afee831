// Node's `ai` with `@ai-sdk/openai-compatible`: `streamText` over a `fetch` that answers with the stream at hand.
// It speaks the protocol of targets: JSON lines on stdin and stdout, one request a stream.
//
//   node ai.mjs FOLDER     the folder in whose node_modules the packages are; by default the current one
//
// A call that is marked `invalid` is no call. Where nothing but such comes, that is a refusal.

import { createRequire } from "node:module";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

const need = createRequire(`${resolve(process.argv[2] ?? ".")}/`);
const { jsonSchema, streamText } = need("ai");
const { createOpenAICompatible } = need("@ai-sdk/openai-compatible");

const MODEL = "gpt-4o";
const ENVELOPE = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: MODEL };
const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

class Skip extends Error {}

// The stream at hand: its events, and whether the transport fails after them.
let wire = { events: [], aborts: false };

const fetch = async () => {
  const { events, aborts } = wire;
  const left = events[Symbol.iterator]();
  const body = new ReadableStream({
    pull(controller) {
      const { value, done } = left.next();
      if (!done) controller.enqueue(new TextEncoder().encode(value));
      else if (aborts) controller.error(new TypeError("the connection was lost"));
      else controller.close();
    },
  });
  return new Response(body, { status: 200, headers: { "content-type": "text/event-stream" } });
};

const model = createOpenAICompatible({ name: "wholecall", baseURL: "http://wholecall.invalid/v1", fetch })(MODEL);

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const objects = (value) => (Array.isArray(value) ? value.filter(isObject) : []);
const isControl = (chunk, name) => isObject(chunk) && chunk[name] === true && Object.keys(chunk).length === 1;

function carry(chunks) {
  const end = chunks.findIndex((chunk) => isControl(chunk, "eof") || isControl(chunk, "abort"));
  const sent = end < 0 ? chunks : chunks.slice(0, end);
  wire = { events: sent.map(event), aborts: end >= 0 && isControl(chunks[end], "abort") };
  return sent;
}

function event(chunk) {
  if (isObject(chunk) && !chunk.error) chunk = filledIn(chunk);
  const text = typeof chunk === "string" ? chunk : JSON.stringify(chunk);
  if (text.includes("\r") || !text.isWellFormed()) throw new Skip();
  return text.split("\n").map((line) => `data: ${line}\n`).join("") + "\n";
}

// What no row reads and the wire always has (see `events` in transport.py).
function filledIn(frame) {
  const filled = { ...ENVELOPE, ...structuredClone(frame) };
  if (isObject(filled.usage)) filled.usage = { ...USAGE, ...filled.usage };
  for (const choice of objects(filled.choices))
    for (const fragment of objects(choice.delta?.tool_calls))
      if (typeof fragment.id === "string" && !("type" in fragment)) fragment.type = "function";
  return filled;
}

// A tool for the name of every call of this stream; each takes any object.
function toolsOf(chunks) {
  const parts = {};
  for (const choice of chunks.filter(isObject).flatMap((chunk) => objects(chunk.choices)))
    for (const fragment of objects(choice.delta?.tool_calls))
      if (typeof fragment.function?.name === "string")
        (parts[JSON.stringify([choice.index, fragment.index])] ??= []).push(fragment.function.name);
  const names = Object.values(parts).map((pieces) => pieces.join(""));
  const inputSchema = jsonSchema({ type: "object", properties: {}, additionalProperties: true });
  return Object.fromEntries(names.filter(Boolean).map((name) => [name, { inputSchema }]));
}

async function assemble(chunks) {
  const tools = toolsOf(carry(chunks));
  const calls = [];
  let invalid = 0;
  for await (const part of streamText({ model, tools, prompt: "go", maxRetries: 0, onError() {} }).fullStream) {
    if (part.type === "error") throw part.error;
    if (part.type !== "tool-call") continue;
    if (part.invalid) invalid += 1;
    else calls.push({ id: part.toolCallId, name: part.toolName, arguments: part.input });
  }
  if (invalid && !calls.length) throw new Error("every call is marked invalid");
  return calls;
}

// Whether JavaScript writes every number of a JSON text as it stands there: 0.0 would become 0.
function keepsNumbers(json) {
  const numbers = json.replace(/"(\\.|[^"\\])*"/g, "").match(/-?\d[\d.eE+-]*/g) ?? [];
  return numbers.every((number) => String(Number(number)) === number);
}

async function answer(line) {
  let seq = null;
  try {
    const request = JSON.parse(line);
    seq = request?.seq ?? null;
    if (seq === null || !Array.isArray(request.chunks)) return { seq, error: 'a request is {"seq", "chunks": [...]}' };
    if (!keepsNumbers(line)) return { seq, skip: true };
    return { seq, calls: await assemble(request.chunks) };
  } catch (error) {
    if (seq === null) return { seq, error: "a request is a line of JSON" };
    if (error instanceof Skip) return { seq, skip: true };
    return { seq, refused: true, why: error?.name ?? typeof error };
  }
}

console.log = console.error; // stdout is for answers
for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await answer(line))}\n`);
