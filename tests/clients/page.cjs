// Opens a page that falloff has written in a browser without a screen: node page.cjs FILE JOB < INPUT
// JOB is a function below, in page_drive.cjs or page_timeline.cjs; what it gives is printed as JSON, with all requests that the page made and all errors in it.
const { pathToFileURL } = require("url");
const puppeteer = require("puppeteer-core");
const { drive } = require("./page_drive.cjs");
const { timeline } = require("./page_timeline.cjs");
const { ROW, chosen, field, names, open, settled } = require("./page_look.cjs");

/** What is shown of rows in all columns, and how each bounds the speed-up: the input has `{view, path}` of each, a path the scopes from below the root. */
async function numbers(page, rows) {
  const shown = [];
  await open(page, "Calling context");
  await page.click(".columns-menu summary");
  for (const box of await page.$$(".columns-menu input[type=checkbox]"))
    if (!(await box.evaluate((input) => input.checked))) await box.click();
  await page.click(".columns-menu summary");
  for (const { view, path } of rows) {
    await page.evaluate(
      (view, path) => {
        const { explorer } = window.falloff;
        const title = view === "context" ? "calling context" : view;
        const isWanted = (tab) => tab.textContent.toLowerCase() === title;
        [...document.querySelectorAll("[role=tab]")].find(isWanted).click();
        const rows = explorer.listing.view;
        let row = rows.root;
        for (const step of path) {
          const found = rows.children(row).filter((child) => {
            const of = rows.describe(child);
            const same = ["kind", "name", "module", "file"].every((key) => of[key] === step[key]);
            return (
              same && of.callLine === step.call_line && (!["loop", "line"].includes(step.kind) || of.line === step.line)
            );
          });
          if (found.length !== 1) throw new Error(`${found.length} rows for ${JSON.stringify(step)} in ${view}`);
          row = found[0];
        }
        explorer.select(row);
      },
      view,
      path,
    );
    const seen = await chosen(page);
    if (view === "context" && seen.cells["own efficiency %"] !== undefined) {
      const row = await page.$eval(ROW, (of) => of.dataset.row);
      await page.waitForSelector(`.detail[data-row="${row}"]`);
      seen.bounds = await page.evaluate(() => document.querySelector(".bounds figcaption")?.textContent ?? null);
    }
    shown.push(seen);
  }
  return shown;
}

/** What a link to filters, columns, a formula and an order shows, before and after it is opened anew; and the link. */
async function links(page, { filters, counts, formula }) {
  await open(page, "Calling context");
  if (counts) {
    const selects = await page.$$("header select");
    await selects[0].select(String(counts[0]));
    await selects[1].select(String(counts[1]));
  }
  for (const [name, [tag, value]] of Object.entries(filters)) {
    const of = await field(page, name, tag);
    if (tag === "select") {
      const all = await of.$$eval("option", (options) => options.map((option) => option.value));
      await of.select(all.find((one) => one === value || one.endsWith(`/${value}`)));
    } else {
      await of.click({ count: 3 });
      await of.type(`${value}\n`);
    }
  }
  await page.click(".columns-menu summary");
  await (await page.$(".columns-menu input[placeholder]")).type(`${formula}\n`);
  await (await page.$$(".columns-menu input[type=checkbox]")).at(-1).click();
  await page.click(".columns-menu summary");
  await page.focus(".table");
  for (const key of ["h", "s", "S"]) await page.keyboard.press(key);
  const state = async () => {
    await settled();
    const fields = await page.$$eval(".toolbar select, .toolbar > label input, header select", (all) =>
      all.map((of) => of.value),
    );
    return { ...(await chosen(page)), rows: await names(page), fields, hash: new URL(page.url()).hash };
  };
  const before = await state();
  const link = page.url();
  await page.goto("about:blank");
  await page.goto(link);
  await page.waitForFunction("window.falloff");
  return { before, after: await state() };
}

/** What a page says that cannot be shown, and all of its text. */
const text = (page) => page.evaluate(() => document.body.innerText);

/** The overview of a sweep: headline, findings, and where a click on the first leads. */
async function overview(page) {
  const headline = await page.$eval(".headline", (e) => e.textContent);
  const findings = await page.$$eval(".findings li .cost", (all) => all.map((e) => e.textContent));
  const pictures = await page.$$eval(".overview svg", (all) => all.map((e) => e.getAttribute("aria-label")));
  if (findings.length > 0) await page.click(".findings .link");
  await settled();
  const at = findings.length > 0 ? await chosen(page) : null;
  const curves = await page.$$eval(".detail svg", (all) => all.map((e) => e.getAttribute("aria-label")));
  return { headline, findings, pictures, at, curves, hash: new URL(page.url()).hash };
}

/** What is told of two other counts: the overview's texts, and the whole run in the calling context. */
async function compared(page, counts) {
  const selects = await page.$$("header select");
  for (const [place, count] of counts.entries()) await selects[place].select(String(count));
  const said = await text(page);
  const findings = await page.$$eval(".findings li .cost", (all) => all.map((e) => e.textContent));
  const pictures = await page.$$eval(".overview svg", (all) => all.map((e) => e.ariaLabel));
  const bounds = await page.$$eval(".overview .numbers", ([table]) =>
    [...table.querySelectorAll("tbody td:nth-child(2)")].map((e) => e.textContent),
  );
  await open(page, "Calling context");
  return { ...(await chosen(page)), said, findings, pictures, bounds };
}

/** The work at the compared count of the whole run, all and of the first section. */
async function section(page) {
  await open(page, "Calling context");
  await page.keyboard.press("Home");
  const work = async () => Object.entries((await chosen(page)).cells).find(([name]) => name.startsWith("work at"))[1];
  const seen = { all: await work() };
  const choice = await field(page, "section", "select");
  seen.sections = await choice.$$eval("option", (all) => all.map((option) => option.value));
  await choice.select(seen.sections[1]);
  seen.section = await work();
  await open(page, "Flat");
  await page.keyboard.press("Home");
  seen.flat = await work();
  return seen;
}

/** The largest share of each row below the top that each view lists, once a threshold is set in the first view; `before` is how many rows
 * the flat view, which was looked at earlier, listed until then. */
async function threshold(page, percent) {
  const open = (view) =>
    page.evaluate((name) => {
      const { explorer } = window.falloff;
      explorer.show(name);
      for (let i = 0; i < 3; i++) {
        const { listing } = explorer;
        const closed = listing.slice(100).find(({ row }) => !listing.open.has(row) && listing.view.hasChildren(row));
        if (closed === undefined) break;
        explorer.select(closed.row);
        explorer.open();
      }
      const shares = (row) => explorer.columns.map((column) => column.percent(explorer.listing.view, row));
      return explorer.listing.rows.slice(1).map((row) => Math.max(...shares(row).map(Math.abs)));
    }, view);
  const before = (await open("flat")).length;
  await open("context");
  const input = await page.$('.toolbar input[type="number"]');
  await input.evaluate((e) => (e.value = ""));
  await input.type(`${percent}\n`);
  return { before, context: await open("context"), callers: await open("callers"), flat: await open("flat") };
}

/** The first column of the whole run: all of it, of rank 1, of the first section, and of a formula's column. */
async function filters(page) {
  const first = async () => Object.values((await chosen(page)).cells)[1];
  const seen = { all: await first() };
  const ranks = await field(page, "ranks", "input");
  await ranks.type("1\n");
  seen.rank = await first();
  await ranks.evaluate((input) => (input.value = ""));
  await ranks.type("\n");
  await ranks.evaluate((input) => input.dispatchEvent(new Event("change")));
  const section = await field(page, "section", "select");
  seen.sections = await section.$$eval("option", (all) => all.map((option) => option.textContent));
  await section.select(seen.sections[1]);
  seen.section = await first();
  await section.select("");
  seen.again = await first();
  await page.click(".columns-menu summary");
  const formula = await page.$(".columns-menu input[placeholder]");
  await formula.type("twice=2*nothing\n");
  seen.wrong = await page.$eval(".columns-menu .worse", (e) => e.textContent);
  await formula.evaluate((input) => (input.value = ""));
  await formula.type("twice=2*cpu\n");
  seen.twice = (await chosen(page)).cells["twice incl."];
  return seen;
}

/** Milliseconds from the start to the first row, and of opening, scrolling and changing the view: each until the next frame is there. */
async function timing(page) {
  return page.evaluate(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const { explorer } = window.falloff;
    const { table } = explorer;
    const times = { firstRow: [window.firstRow] };
    const time = async (name, action) => {
      const start = performance.now();
      action();
      await frame();
      (times[name] ??= []).push(Math.round(10 * (performance.now() - start)) / 10);
    };
    const browse = async (view) => {
      await time(`${view}: first`, () => explorer.show(view));
      for (let i = 0; i < 20; i++) {
        const { listing } = explorer;
        const closed = ({ row }) => !listing.open.has(row) && listing.view.hasChildren(row);
        const { row } = listing.slice(1000).find(closed) ?? {};
        if (row === undefined) break;
        await time(`${view}: open`, () => {
          explorer.select(row);
          explorer.open();
        });
      }
      for (let i = 0; i < 20; i++) {
        await time(`${view}: scroll`, () => {
          table.root.scrollTop += 900;
          table.draw();
        });
      }
    };
    explorer.first();
    await frame();
    for (const view of ["context", "callers", "flat"]) await browse(view);
    await time("search", () => explorer.setSearch("f"));
    const middle = (all) => [...all].sort((a, b) => a - b)[all.length >> 1];
    return Object.fromEntries(
      Object.entries(times).map(([name, all]) => [name, { median: middle(all), most: Math.max(...all) }]),
    );
  });
}

/** Notes when the first row is on the screen. */
const noteFirstRow = () => {
  const watch = new MutationObserver(() => {
    if (!document.querySelector(".row .label")) return;
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => (window.firstRow = Math.round(performance.now()))));
  });
  watch.observe(document, { childList: true, subtree: true });
};

const JOBS = { numbers, drive, timeline, text, overview, compared, filters, section, links, threshold, timing };

async function main([file, job]) {
  // Jobs that need more than the page read it.
  const input = JOBS[job].length > 1 ? JSON.parse(require("fs").readFileSync(0, "utf8")) : null;
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox"],
    protocolTimeout: 300000,
  });
  try {
    const page = await browser.newPage();
    await page.setViewport({ width: 1280, height: 800 });
    const [requests, errors] = [[], []];
    page.on("request", (request) => requests.push(request.url()));
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    if (job === "timing") await page.evaluateOnNewDocument(noteFirstRow);
    await page.goto(pathToFileURL(file).href);
    if (job === "timing") await page.waitForFunction("window.firstRow", { timeout: 60000 });
    await page.waitForFunction("window.falloff || document.querySelector('.damaged')", { timeout: 60000 });
    const result = await JOBS[job](page, input);
    console.log(JSON.stringify({ result, requests: requests.map((r) => r.split("#")[0]), errors }));
  } finally {
    await browser.close();
  }
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
