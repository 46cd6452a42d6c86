// The timeline of a page by clicks and keys: a job of page.cjs.
const { chosen, open, settled } = require("./page_look.cjs");

const PICTURE = ".picture:not([hidden])";
/** Keys are pressed no more often to reach the end of a lane. */
const MOST_CALLS = 2000;

/** What is said of what the mouse or the keys are at, line by line. */
const said = (page) => page.$$eval(`${PICTURE} .said p`, (all) => all.map((line) => line.textContent));

/** From where to where the picture goes, seconds. */
const seen = async (page) => {
  const label = await page.$eval(`${PICTURE} canvas[tabindex]`, (canvas) => canvas.ariaLabel);
  return /from ([\d.]+) to ([\d.]+) s/.exec(label).slice(1).map(Number);
};

/** The middle of the picture of the lanes beside their names, and its size. */
const middle = (page) =>
  page.$eval(`${PICTURE} canvas[tabindex]`, (canvas) => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    return { x: left + 110 + (width - 112) / 2, top, width: width - 112, height };
  });

/** How many colours the picture has. */
const colours = (page) =>
  page.$eval(`${PICTURE} canvas[tabindex]`, (canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });

/** What is said of every call of the first lane, chosen by keys one after the other. */
async function calls(page) {
  await page.keyboard.press("ArrowDown");
  for (let i = 0; i < MOST_CALLS; i++) {
    const before = await said(page);
    await page.keyboard.press("p");
    if ((await said(page))[0] === before[0]) break;
  }
  const lines = [];
  for (let i = 0; i < MOST_CALLS; i++) {
    lines.push(await said(page));
    await page.keyboard.press("n");
    if ((await said(page))[0] === lines.at(-1)[0]) break;
  }
  return lines;
}

/** The functions of the timeline, one after the other. */
async function timeline(page) {
  const tabs = await page.$$eval("[role=tab]", (all) => all.map((tab) => tab.textContent));
  await open(page, "Timeline");
  const result = { tabs, about: await said(page), whole: await seen(page), colours: await colours(page) };
  result.legend = await page.$eval(`${PICTURE} .legend`, (legend) => legend.innerText);
  result.calls = await calls(page);
  result.next = [];
  for (const key of ["ArrowDown", "ArrowUp"]) {
    await page.keyboard.press(key);
    result.next.push((await said(page))[0]);
  }
  for (let i = 0; i < result.calls.length / 2; i++) await page.keyboard.press("p");
  // The chosen call is now as wide as half of the picture: the mouse in the middle is at it.
  await page.keyboard.press("z");
  result.near = await seen(page);
  const keyed = await said(page);
  const { x, top, width } = await middle(page);
  await page.mouse.move(x + width / 3, top + 3);
  await page.mouse.move(x, top + 3);
  result.pointed = [keyed, await said(page)];
  await page.mouse.click(x, top + 3);
  await settled();
  result.hash = new URL(page.url()).hash;
  result.parts = {};
  const then = async (name, act) => {
    await act();
    result.parts[name] = await seen(page);
  };
  await then("right", () => page.keyboard.press("ArrowRight"));
  await then("left", () => page.keyboard.press("ArrowLeft"));
  await then("closer", () => page.keyboard.press("+"));
  await then("farther", () => page.keyboard.press("-"));
  await then("wheel", () => page.mouse.wheel({ deltaY: -200 }));
  await then("dragged", async () => {
    await page.mouse.down();
    await page.mouse.move(x - width / 4, top + 3, { steps: 4 });
    await page.mouse.up();
  });
  await settled();
  const link = page.url();
  await page.goto("about:blank");
  await page.goto(link);
  await page.waitForFunction("window.falloff");
  await then("linked", settled);
  await then("all", () => page.keyboard.press("Escape"));
  await page.evaluate(() =>
    [...document.querySelectorAll("button")].find((b) => b.textContent === "Light or dark").click(),
  );
  result.turned = await colours(page);
  await page.setViewport({ width: 800, height: 800 });
  await settled();
  result.narrow = [await page.evaluate(() => document.documentElement.scrollWidth), (await middle(page)).width];
  await page.emulateMediaType("print");
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  result.printed = await colours(page);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await page.emulateMediaType("screen");
  const fields = ["button", "input", "canvas:not([aria-hidden])"].map((tag) => `${PICTURE} ${tag}`).join(", ");
  const hasName = (e) => e.textContent || e.ariaLabel || e.title || e.labels?.length > 0;
  result.unnamed = await page.evaluate(
    `[...document.querySelectorAll(${JSON.stringify(fields)})].filter((e) => !(${hasName})(e)).length`,
  );
  await open(page, "Calling context");
  result.row = await chosen(page);
  return result;
}

module.exports = { timeline };
