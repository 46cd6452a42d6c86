// What is looked at, as the part of the page's address behind the #.

/** The text of `{view, row, top, sort, …}`; what is null is left out. */
export function linkOf(state) {
  const parts = Object.entries(state).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return parts.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
}

/** What such a text says; what is no link says nothing. */
export function stateOf(link) {
  const state = {};
  for (const part of link.replace(/^#/, "").split("&")) {
    const [name, ...value] = part.split("=");
    if (!/^[a-z]+$/.test(name)) continue;
    try {
      state[name] = decodeURIComponent(value.join("="));
    } catch {
      // An address that was cut off within a character.
    }
  }
  return state;
}
