// Elements of the page. Texts are only ever text: nothing that was measured is read as HTML.

/** An element with properties (`class`, `text`, `on`, `style`, attributes) and children. */
export function element(tag, properties = {}, children = []) {
  const { text, on = {}, style = {}, ...attributes } = properties;
  const made = document.createElement(tag);
  set(made, attributes);
  if (text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(style)) made.style.setProperty(name, value);
  for (const [event, handler] of Object.entries(on)) made.addEventListener(event, handler);
  made.append(...children);
  return made;
}

/** The same in a picture. */
export function svg(tag, attributes = {}, children = []) {
  const { text, ...rest } = attributes;
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(made, rest);
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

/** Sets attributes; those that are null or false are taken away. */
export function set(of, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) of.removeAttribute(name);
    else of.setAttribute(name, value === true ? "" : value);
  }
}

/** Saves a text as a file. */
export function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
