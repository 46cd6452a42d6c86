// The order of many numbers.

/** So many are sorted by comparing them; the engine sorts more much faster as plain numbers. */
const FEW = 4096;

/** Places of the values, the largest first or, if not `descending`, the smallest; those of equal values stay in their order. */
export function ordered(values, descending) {
  const sign = descending ? 1 : -1;
  const isBefore = (a, b) => sign * (values[b] - values[a]) || a - b;
  if (values.length <= FEW) return Uint32Array.from(values.keys()).sort(isBefore);
  const places = nearlyOrdered(values, -sign);
  // What differs in the bits that were given up is put right; there is little of that.
  let before = sign * values[places[0]];
  for (let i = 1; i < places.length; i++) {
    const place = places[i];
    const value = sign * values[place];
    if (value < before) {
      before = value;
      continue;
    }
    let at = i;
    for (; at > 0 && isBefore(place, places[at - 1]) < 0; at--) places[at] = places[at - 1];
    places[at] = place;
    before = sign * values[places[i]];
  }
  return places;
}

/** What stands at these places, in their order. */
export function reordered(all, places) {
  const found = new Array(places.length);
  for (let i = 0; i < found.length; i++) found[i] = all[places[i]];
  return found;
}

/** The values with their places in the lowest bits, sorted as numbers. */
function nearlyOrdered(values, sign) {
  const mask = 2 ** Math.ceil(Math.log2(values.length)) - 1;
  // No infinity, which with other lowest bits is no number, and no −0.
  const keys = new Float64Array(values.length);
  const words = new Uint32Array(keys.buffer);
  for (let place = 0; place < keys.length; place++) {
    keys[place] = Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, sign * values[place] + 0));
    const low = keys[place] < 0 ? mask - place : place;
    words[2 * place] = (words[2 * place] & ~mask) | low;
  }
  keys.sort();
  const places = new Uint32Array(keys.length);
  for (let i = 0; i < places.length; i++) {
    const low = words[2 * i] & mask;
    places[i] = keys[i] < 0 ? mask - low : low;
  }
  return places;
}
