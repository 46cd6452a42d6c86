// A page by clicks and keys: jobs of page.cjs.
const { chosen, field, names, open, settled } = require("./page_look.cjs");

/** The functions of the page by clicks and keys, one after the other; gives what is seen after each. */
async function drive(page) {
  const seen = {};
  const see = async (name) => {
    await settled();
    const { name: row, level } = await chosen(page);
    seen[name] = { row, level, names: await names(page), hash: new URL(page.url()).hash };
  };
  const tab = (text) => open(page, text);
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
  seen.pictures = await pictures(page);
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

/** What the keys do in the flame graph, and in the picture of ranks if there is one: what the words beside it say after each. */
async function pictures(page) {
  const seen = {};
  const words = () => page.$eval(".picture:not([hidden]) .words", (e) => e.textContent);
  const press = async (key) => {
    await page.keyboard.press(key);
    return words();
  };
  await open(page, "Flame graph");
  await page.keyboard.press("Home");
  seen.flame = [];
  for (const key of ["Home", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft"])
    seen.flame.push(await press(key));
  await page.keyboard.press("Enter");
  await settled();
  seen.zoomed = new URL(page.url()).hash;
  await page.keyboard.press("Escape");
  await page.keyboard.press("Home");
  const top = async () => {
    const { x, y } = await page.$eval("canvas", (canvas) => canvas.getBoundingClientRect().toJSON());
    await page.mouse.move(x + 30, y + 5);
    return words();
  };
  const whole = await top();
  await (await field(page, "chosen row as the whole", "input")).click();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  seen.tops = [whole, await top()];
  seen.icicle = await page.$$eval("canvas", ([canvas]) => canvas.ariaLabel);
  await (await field(page, "chosen row as the whole", "input")).click();
  if (await page.evaluate(() => [...document.querySelectorAll("[role=tab]")].some((b) => b.textContent === "Ranks"))) {
    await open(page, "Ranks");
    seen.ranks = [];
    for (const key of ["Home", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowDown"]) seen.ranks.push(await press(key));
    await settled();
    seen.modes = {};
    for (const mode of ["by number", "strip", "sorted", "histogram", "by host"]) {
      await page.evaluate(
        (name) => [...document.querySelectorAll(".modes button")].find((b) => b.textContent === name).click(),
        mode,
      );
      seen.modes[mode] = await page.evaluate(() => {
        const picture = [...document.querySelectorAll(".detail section")].find(
          (s) => s.textContent.startsWith("Over ") && s.querySelector(".modes"),
        );
        return {
          dots: picture.querySelectorAll("circle").length,
          label: picture.querySelector("svg")?.ariaLabel ?? "table",
        };
      });
    }
  }
  return seen;
}

module.exports = { drive };
