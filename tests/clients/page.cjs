// Opens a page that falloff has written in a browser without a screen: node page.cjs FILE JOB < INPUT
// JOB is a function below; what it gives is printed as JSON, with all requests that the page made and all errors in it.
const { pathToFileURL } = require("url");
const puppeteer = require("puppeteer-core");

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
    const sure = !of.querySelector(".unsure");
    return {
      sure,
      name: of.querySelector(".label").textContent,
      level: of.ariaLevel,
      cells: Object.fromEntries(heads.map((h, i) => [h, cells[i]])),
    };
  }, ROW);

/** The names of all rows on the screen. */
const names = (page) => page.$$eval(".row .label", (all) => all.map((one) => one.textContent));

/** What is shown of rows: the input has `{view, path}` of each, a path the scopes from below the root. */
async function numbers(page, rows) {
  const shown = [];
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
    shown.push(await chosen(page));
  }
  return shown;
}

/** The functions of the page by clicks and keys, one after the other; gives what is seen after each. */
async function drive(page) {
  const seen = {};
  const see = async (name) => {
    await settled();
    const { name: row, level } = await chosen(page);
    seen[name] = { row, level, names: await names(page), hash: new URL(page.url()).hash };
  };
  const tab = (text) =>
    page.evaluate((t) => [...document.querySelectorAll("[role=tab]")].find((b) => b.textContent === t).click(), text);
  const press = async (...keys) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await tab("Calling context");
  await page.focus(".table");
  await press("Home");
  await see("start");
  await press("ArrowLeft");
  await see("closed");
  await press("ArrowRight", "ArrowRight");
  await see("opened");
  await press("h");
  await see("hotPath");
  await press("z");
  await see("zoomed");
  await press("Escape");
  await see("whole");
  await press("/");
  await page.keyboard.type("no_such_function|work|burn");
  await press("Enter");
  seen.words = await page.$eval(".words", (e) => e.textContent);
  await press("Escape");
  await see("found");
  const link = page.url();
  await tab("Flat");
  await see("flat");
  await press("f");
  await see("flattened");
  await press("F");
  await tab("Callers");
  await see("callers");
  await page.click(".head [role=columnheader] button");
  await see("byName");
  await page.goto("about:blank");
  await page.goto(link);
  await page.waitForFunction("window.falloff");
  await see("linked");
  await press("?");
  seen.help = await page.$eval("dialog", (dialog) => dialog.open);
  await press("Escape");
  await page.evaluate(() =>
    [...document.querySelectorAll("button")].find((b) => b.textContent === "Light or dark").click(),
  );
  seen.colours = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  await tab("Flame graph");
  await page.mouse.click(200, (await page.$eval("canvas", (c) => c.getBoundingClientRect().top)) + 30);
  seen.flame = await page.evaluate(() => window.falloff.explorer.selected);
  for (const width of [1280, 800]) {
    await page.setViewport({ width, height: 800 });
    seen[`wide${width}`] = await page.evaluate(() => document.documentElement.scrollWidth);
  }
  await tab("Calling context");
  await page.emulateMediaType("print");
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const heights = (rows) => rows.map((row) => row.getBoundingClientRect().height);
  seen.printed = (await page.$$eval(".row", heights)).filter((height) => height > 0).length;
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await page.emulateMediaType("screen");
  const unnamed = () =>
    [...document.querySelectorAll("button, input, select")].filter((e) => {
      const name =
        e.textContent || e.title || e.ariaLabel || (e.labels && [...e.labels].map((l) => l.textContent).join(""));
      return !name && e.ariaHidden !== "true";
    }).length;
  seen.unnamed = await page.evaluate(unnamed);
  return seen;
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

/** The whole run in the calling context, once 2 is chosen as the count that is compared with. */
async function compared(page) {
  const [base] = await page.$$("header select");
  await base.select("2");
  await page.evaluate(() => [...document.querySelectorAll("[role=tab]")][1].click());
  return chosen(page);
}

/** The first column of the whole run: all of it, of rank 1, of the first section, and of a formula's column. */
async function filters(page) {
  const first = async () => Object.values((await chosen(page)).cells)[1];
  const label = (text) => `::-p-xpath(//label[starts-with(normalize-space(.), "${text}")])`;
  const field = (text, tag) => page.$(`${label(text)} ${tag}`);
  const seen = { all: await first() };
  const ranks = await field("ranks", "input");
  await ranks.type("1\n");
  seen.rank = await first();
  await ranks.evaluate((input) => (input.value = ""));
  await ranks.type("\n");
  await ranks.evaluate((input) => input.dispatchEvent(new Event("change")));
  const section = await field("section", "select");
  seen.sections = await section.$$eval("option", (all) => all.map((option) => option.textContent));
  await section.select("0");
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
        const { rows, open, view: of } = explorer.listing;
        const row = rows.find((one) => !open.has(one) && of.hasChildren(one));
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

const JOBS = { numbers, drive, text, overview, compared, filters, timing };

async function main([file, job]) {
  const input = job === "numbers" ? JSON.parse(require("fs").readFileSync(0, "utf8")) : null;
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
