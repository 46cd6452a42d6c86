// The listed rows as CSV, quoted as in RFC 4180.

/** A cell. */
function cell(value) {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The table of a listing: what rows are, and the shown columns in their own units. */
export function csv(listing, columns) {
  const units = { nanoseconds: "ns", count: "count", percent: "percent", ratio: "ratio" };
  const head = ["depth", "kind", "name", "module", "file", "line", "call_line"];
  const lines = [
    [...head, ...columns.flatMap((c) => [`${c.title} ${units[c.unit]}`, ...(c.width ? [`${c.title} ±`] : [])])],
  ];
  for (let index = 0; index < listing.length; index++) {
    const { row, depth } = listing.at(index);
    const of = listing.view.describe(row);
    const values = columns.flatMap((column) => [
      column.value(listing.view, row),
      ...(column.width ? [column.width(listing.view, row)] : []),
    ]);
    lines.push([depth, of.kind, of.name, of.module, of.file, of.line, of.callLine, ...values]);
  }
  return lines.map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}
