// The colours of a timeline.
import { element } from "./element.js";
import { COMPUTING, inCall } from "./timeline_marks.js";

/** Hues and saturations of kinds of calls: messages, operations of several, one-sided, management, other. */
const HUES = [
  [212, 65],
  [34, 75],
  [275, 45],
  [220, 10],
  [330, 30],
];

/** Light or dark ones. */
export class Colours {
  #patterns = new Map();

  constructor(isDark) {
    this.isDark = isDark;
    this.ink = isDark ? "#e4e7eb" : "#1c2024";
    this.dim = isDark ? "#a6b0bb" : "#525b66";
    this.back = isDark ? "#16181c" : "#ffffff";
    this.message = isDark ? "rgb(228 231 235 / 0.6)" : "rgb(28 32 36 / 0.6)";
    this.meeting = isDark ? "#ffd59a" : "#7a3e00";
    this.warning = isDark ? "#ff9a8d" : "#b02a1e";
    const back = this.plain(inCall(0));
    this.hatched = `repeating-linear-gradient(135deg, ${this.warning} 0 2px, ${back} 2px 5px)`;
  }

  /** The colour of what a box stands for, without the marks of waiting. */
  plain(what) {
    if (what === COMPUTING) return this.isDark ? "hsl(145 22% 24%)" : "hsl(145 32% 85%)";
    const [hue, saturation] = HUES[(what - 1) >> 1];
    return `hsl(${hue} ${saturation}% ${this.isDark ? 42 : 66}%)`;
  }

  /** What to fill a box with: waiting is hatched. */
  fill(pen, what) {
    if (what === COMPUTING || what % 2 === 1) return this.plain(what);
    if (!this.#patterns.has(what)) this.#patterns.set(what, this.#hatch(pen, what));
    return this.#patterns.get(what);
  }

  #hatch(pen, what) {
    const size = 6;
    const tile = element("canvas", { width: size, height: size });
    const small = tile.getContext("2d");
    small.fillStyle = this.plain(what);
    small.fillRect(0, 0, size, size);
    small.strokeStyle = this.warning;
    small.lineWidth = 2;
    for (const shift of [-size, 0, size]) {
      small.beginPath();
      small.moveTo(shift - 1, size + 1);
      small.lineTo(shift + size + 1, -1);
      small.stroke();
    }
    return pen.createPattern(tile, "repeat");
  }
}
