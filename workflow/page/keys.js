// Keys and what they do.

/** Key, action, and what it does in words; the help lists them in this order. */
const KEYS = [
  ["ArrowDown", "down", "next row"],
  ["ArrowUp", "up", "row before"],
  ["ArrowRight", "open", "open the row, or go to its first part"],
  ["ArrowLeft", "close", "close the row, or go to the row above"],
  ["PageDown", "pageDown", "a page on"],
  ["PageUp", "pageUp", "a page back"],
  ["Home", "first", "first row"],
  ["End", "last", "last row"],
  ["Enter", "toggle", "open or close the row"],
  ["h", "hotPath", "hot path: down to where most of the row's cost is"],
  ["z", "zoom", "show this row as the whole"],
  ["Escape", "unzoom", "show the whole again"],
  ["f", "flatten", "pass over one level more"],
  ["F", "unflatten", "pass over one level less"],
  ["s", "sort", "sort by the next column; S the other way round"],
  ["S", "reverse", "turn the order round"],
  ["/", "search", "search a function by regular expression"],
  ["n", "nextFound", "next row found"],
  ["p", "previousFound", "row found before"],
  ["+", "closer", "in the timeline: closer"],
  ["-", "farther", "in the timeline: farther"],
  ["1", "view1", "first view; 2, 3 … the others"],
  ["c", "csv", "save the listed rows as CSV"],
  ["?", "help", "this list"],
];

const DIGIT = /^[1-9]$/;

/** The action of a key, or null: what is typed into fields, or with Control, belongs to the browser. */
export function actionOf({ key, ctrlKey, metaKey, altKey, target }) {
  if (ctrlKey || metaKey || altKey) return null;
  const isField = target && ["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName) && target.type !== "checkbox";
  if (isField) return null;
  if (target && target.tagName === "BUTTON" && key === "Enter") return null;
  if (DIGIT.test(key)) return `view${key}`;
  return KEYS.find(([name]) => name === key)?.[1] ?? null;
}

/** Keys and what they do, for the help. */
export function keyHelp() {
  const arrows = { ArrowDown: "↓", ArrowUp: "↑", ArrowRight: "→", ArrowLeft: "←" };
  return [
    ...KEYS.map(([key, , words]) => [arrows[key] ?? key, words]),
    ["↓ ↑ → ←", "in the flame graph: to the widest part, back, to the boxes beside; Enter shows the box as the whole"],
    ["→ ←", "in the picture of ranks: to the next rank or thread"],
    ["→ ←", "in the timeline: on and back; ↓ ↑ to the call in another lane, n and p to the next call and the one before"],
    ["z", "in the timeline: near to the chosen call; Escape shows all of the time"],
  ];
}
