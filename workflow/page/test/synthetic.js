// Data of a page, made up: the blocks that workflow/src/page writes.
import { deflateSync } from "node:zlib";

function number(value) {
  const bytes = [];
  let rest = BigInt(value);
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return bytes;
}

const natural = (numbers) => Uint8Array.from(numbers.flatMap(number));
const whole = (numbers) => natural(numbers.map((n) => (n < 0 ? -2n * BigInt(n) - 1n : 2n * BigInt(n))));

/** Blocks by name: `[encoding, numbers]` or a text. */
export function packed(head, blocks) {
  const infos = [];
  const contents = [];
  for (const [name, block] of Object.entries(blocks)) {
    const isText = typeof block === "string";
    const content = isText ? new TextEncoder().encode(block) : (block[0] === "whole" ? whole : natural)(block[1]);
    infos.push({
      name,
      encoding: isText ? "text" : block[0],
      count: isText ? block.length : block[1].length,
      bytes: content.length,
    });
    contents.push(content);
  }
  const json = new TextEncoder().encode(JSON.stringify({ schema: "falloff.page", version: 1, ...head, blocks: infos }));
  const bytes = Buffer.concat([Buffer.alloc(4), json, ...contents]);
  bytes.writeUInt32LE(json.length);
  return bytes;
}

export const base64 = (bytes) => deflateSync(bytes).toString("base64");

const KINDS = ["root", "pseudo", "module", "file", "function", "inlined", "loop", "line"];

/**
 * Blocks of a tree from rows `[depth, kind, name, {module, file, line, call_line}]` in pre-order, the root not among them; scopes
 * that are alike are one.
 */
export function treeBlocks(rows) {
  const texts = [];
  const text = (value) => (value ? (texts.includes(value) ? texts.indexOf(value) + 1 : texts.push(value)) : 0);
  const scopes = [];
  const all = [[0, "root", "<program>", {}], ...rows];
  const ids = all.map(([, kind, name, { module, file, line, call_line: call } = {}]) => {
    const plus = (n) => (n === undefined ? 0 : n + 1);
    const scope = JSON.stringify([KINDS.indexOf(kind), text(name), text(module), text(file), plus(line), plus(call)]);
    return scopes.includes(scope) ? scopes.indexOf(scope) : scopes.push(scope) - 1;
  });
  const column = (i) => ["natural", scopes.map((scope) => JSON.parse(scope)[i])];
  return {
    "scope.kind": column(0),
    "scope.name": column(1),
    "scope.module": column(2),
    "scope.file": column(3),
    "scope.line": column(4),
    "scope.call_line": column(5),
    "names.lengths": ["natural", texts.map((t) => t.length)],
    names: texts.join(""),
    depth: ["natural", rows.map(([depth], i) => (i === 0 ? 0 : rows[i - 1][0]) + 1 - depth)],
    scope: ["natural", ids],
  };
}

/** main calls f, f calls g, g calls f again, which has a loop; main calls g too. Costs are powers of two. */
export const RECURSIVE = [
  [1, "function", "main", { module: "app", file: "a.c", line: 1 }],
  [2, "function", "f", { module: "app", file: "a.c", line: 10, call_line: 2 }],
  [3, "line", "a.c:11", { module: "app", file: "a.c", line: 11 }],
  [3, "inlined", "g", { module: "app", file: "b.c", line: 20, call_line: 12 }],
  [4, "function", "f", { module: "app", file: "a.c", line: 10, call_line: 21 }],
  [5, "loop", "loop at a.c:13", { module: "app", file: "a.c", line: 13 }],
  [6, "line", "a.c:14", { module: "app", file: "a.c", line: 14 }],
  [2, "function", "g", { module: "app", file: "b.c", line: 20, call_line: 3 }],
  [3, "line", "b.c:21", { module: "app", file: "b.c", line: 21 }],
  [1, "pseudo", "[unsampled]", {}],
];
export const COSTS = [0, 0, 0, 1, 2, 0, 0, 4, 0, 8, 16];
