import assert from "node:assert/strict";
import { test } from "node:test";
import { Data, DamagedData, unpack } from "../unpack.js";
import { Tree } from "../tree.js";
import { base64, COSTS, packed, RECURSIVE, treeBlocks } from "./synthetic.js";

test("numbers of all sizes come back", () => {
  const numbers = [0, 1, 127, 128, 16383, 16384, 2 ** 27, 2 ** 28, 2 ** 31, 2 ** 32 + 5, 2 ** 52 + 1];
  const data = new Data(
    packed(
      {},
      {
        n: ["natural", numbers],
        w: ["whole", numbers.flatMap((n) => [n / 2 < 2 ** 51 ? n : 1, -Math.min(n, 2 ** 51)])],
      },
    ),
  );
  assert.deepEqual([...data.numbers("n")], numbers);
  const whole = [...data.numbers("w")];
  numbers.forEach((n, i) => assert.equal(whole[2 * i + 1] + 0, -Math.min(n, 2 ** 51) + 0));
});

test("texts come back by their number", () => {
  const data = new Data(packed({}, { "t.lengths": ["natural", [2, 3, 0]], t: "aé𝛼b" }));
  const text = data.texts("t");
  assert.deepEqual([0, 1, 2, 3].map(text), [null, "aé", "𝛼b", ""]);
});

test("damage is said in words", async () => {
  const sound = packed({}, { n: ["natural", [1, 2, 300]] });
  const good = base64(sound);
  assert.deepEqual([...(await unpack(good)).numbers("n")], [1, 2, 300]);
  await assert.rejects(unpack(good.slice(0, good.length / 2)), DamagedData);
  await assert.rejects(unpack("%%%"), DamagedData);
  assert.throws(() => new Data(sound.subarray(0, sound.length - 1)), /blocks have/);
  assert.throws(() => new Data(packed({ version: 2 }, {})), /version 2/);
  assert.throws(() => new Data(packed({}, {})).numbers("n"), /"n" is missing/);
});

test("the tree has parents, ends, and sums", () => {
  const tree = new Tree(new Data(packed({}, treeBlocks(RECURSIVE))));
  assert.deepEqual([...tree.parents], [0, 0, 1, 2, 2, 4, 5, 6, 1, 8, 0]);
  assert.deepEqual([...tree.ends], [11, 10, 8, 4, 8, 8, 8, 8, 10, 10, 11]);
  assert.deepEqual(tree.children(2), [3, 4]);
  assert.equal(tree.caller(7), 5);
  assert.deepEqual([...tree.inclusive(COSTS)], [31, 15, 7, 1, 6, 4, 4, 4, 8, 8, 16]);
  // f at 5 has the statement of its loop, the loop has it too.
  assert.deepEqual([...tree.charged(COSTS)], [0, 0, 1, 1, 2, 4, 4, 4, 8, 8, 16]);
  assert.deepEqual(tree.describe(tree.scopes[4]), {
    kind: "inlined",
    name: "g",
    module: "app",
    file: "b.c",
    line: 20,
    callLine: 12,
  });
});
