// What is on a page, and how to get at it: for the jobs of page.cjs.
const ROW = '.row[aria-selected="true"]';

/** The address, and whatever else follows a choice a moment later. */
const settled = () => new Promise((done) => setTimeout(done, 400));

/** What is on the screen of the chosen row: its name, and its cells by the headings of their columns. */
const chosen = (page) =>
  page.evaluate((row) => {
    const of = document.querySelector(row);
    const heads = [...document.querySelectorAll(".head [role=columnheader]")].map((h) =>
      h.innerText.replace(/ [▾▴]$/, ""),
    );
    const cells = [...of.querySelectorAll("[role=gridcell]")].map((cell) => cell.innerText.trim());
    const sure = !of.querySelector(".number").classList.contains("unsure");
    return {
      sure,
      name: of.querySelector(".label").textContent,
      level: of.ariaLevel,
      cells: Object.fromEntries(heads.map((h, i) => [h, cells[i]])),
    };
  }, ROW);

/** Clicks the tab of this name. */
const open = (page, text) =>
  page.evaluate((t) => [...document.querySelectorAll("[role=tab]")].find((b) => b.textContent === t).click(), text);

/** The field with this label. */
const field = (page, text, tag) => page.$(`::-p-xpath(//label[starts-with(normalize-space(.), "${text}")]) ${tag}`);

/** The names of all rows on the screen. */
const names = (page) => page.$$eval(".row .label", (all) => all.map((one) => one.textContent));

module.exports = { ROW, chosen, field, names, open, settled };
