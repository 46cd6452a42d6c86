// Numbers and names as people read them.

const TIME_UNITS = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];
const COUNT_UNITS = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
];

/** The unit for values of which this is the largest, `{factor, name}`; one unit for a whole column keeps its digits in line. */
export function unitFor(unit, largest) {
  const units =
    unit === "nanoseconds" ? TIME_UNITS : unit === "count" ? COUNT_UNITS : [[1, unit === "percent" ? "%" : ""]];
  const [factor, name] = units.find(([factor]) => Math.abs(largest) >= factor) ?? units.at(-1);
  return { factor, name };
}

/** A number with so many decimals, with a real minus sign; nothing for what is no number. */
export function decimal(value, digits = 1) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "";
  const text = value.toFixed(digits);
  // -0.0 has no sign.
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

/** A signed number: what is above zero has a plus. */
export function signed(value, digits = 1) {
  const text = decimal(value, digits);
  return Number(text) > 0 ? `+${text}` : text;
}

/** A value in its best unit, for texts. */
export function quantity(value, unit) {
  if (unit === "percent") return `${decimal(value)} %`;
  if (value === 0) return "0";
  if (unit === "count" && Math.abs(value) < 1e6) return decimal(value, Number.isInteger(value) ? 0 : 1);
  const { factor, name } = unitFor(unit, value);
  return `${decimal(value / factor, factor === 1 && unit === "count" ? 0 : 3)} ${name}`.trim();
}

/** Characters that a name may have and that would change how what is around it is shown, or be seen by nobody. */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** A name with such characters written out. */
export function visible(name) {
  return name.replace(UNSEEN, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

/** A visible name of at most so many characters. */
export function shortened(name, most) {
  const text = visible(name.length > 2 * most ? name.slice(0, 2 * most) : name);
  return text.length <= most && name.length <= 2 * most ? text : `${text.slice(0, most - 1)}…`;
}

/** A name in two parts: what it is within (`std::vector<int>::`, `/src/`), and its own last word (`push_back`, `a.c`). */
export function parted(name) {
  if (name.startsWith("/")) return [name.slice(0, name.lastIndexOf("/") + 1), name.slice(name.lastIndexOf("/") + 1)];
  let nested = 0;
  for (let i = name.length - 1; i > 1; i--) {
    if (">)]}".includes(name[i])) nested++;
    else if ("<([{".includes(name[i])) nested--;
    else if (nested === 0 && name[i] === ":" && name[i - 1] === ":" && name[i + 1] !== "<")
      return [name.slice(0, i + 1), name.slice(i + 1)];
  }
  return ["", name];
}

/** `solver.c:12`, or what of it is known. */
export function place(file, line) {
  if (!file) return "";
  const short = visible(file.slice(file.lastIndexOf("/") + 1));
  return line === null ? short : `${short}:${line}`;
}
