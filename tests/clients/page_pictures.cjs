// Takes the pictures of docs/page: node page_pictures.cjs SWEEP.html DIFFERENCE.html FOLDER
const path = require("path");
const { pathToFileURL } = require("url");
const puppeteer = require("puppeteer-core");
const { open, settled } = require("./page_look.cjs");

/** Goes down the hot path. */
const down = async (page, ...keys) => {
  await page.focus(".table");
  for (const key of ["Home", "h", ...keys]) await page.keyboard.press(key);
};

/** Brings the part of the pane with this heading to its top. */
const scroll = async (page, heading) => {
  await settled();
  await page.evaluate((text) => {
    const [pane, parts] = [document.querySelector(".detail"), [...document.querySelectorAll(".detail h3")]];
    const part = parts.find((h3) => h3.textContent.startsWith(text));
    pane.scrollTop += part.getBoundingClientRect().top - pane.getBoundingClientRect().top - 8;
  }, heading);
};

/** What is done before each picture of the sweep. */
const SWEEP = {
  overview: async () => {},
  context: async (page) => {
    await open(page, "Calling context");
    await down(page, "ArrowDown");
    await scroll(page, "How it bounds");
  },
  callers: async (page) => {
    await open(page, "Callers");
    await down(page);
  },
  flat: async (page) => {
    await open(page, "Flat");
    await down(page);
  },
  flame: async (page) => {
    await open(page, "Flame graph");
    for (const key of ["Home", "h"]) await page.keyboard.press(key);
  },
  ranks: async (page) => {
    await open(page, "Ranks");
    for (const key of ["Home", "h", "ArrowRight"]) await page.keyboard.press(key);
    await page.evaluate(() =>
      [...document.querySelectorAll(".modes button")].find((b) => b.textContent === "strip").click(),
    );
    await scroll(page, "Over 4 ");
  },
};

async function main([sweep, difference, folder]) {
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  try {
    const page = await browser.newPage();
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
    const show = async (file) => {
      await page.goto("about:blank");
      await page.goto(pathToFileURL(file).href);
      await page.waitForFunction("window.falloff");
    };
    const take = async (name) => {
      await settled();
      await page.screenshot({ path: path.join(folder, `${name}.png`) });
    };
    await page.setViewport({ width: 1280, height: 900 });
    await show(sweep);
    for (const [name, prepare] of Object.entries(SWEEP)) {
      await prepare(page);
      await take(name);
    }
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    await page.setViewport({ width: 800, height: 900 });
    await open(page, "Calling context");
    await down(page);
    await take("narrow");
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
    await page.setViewport({ width: 1280, height: 900 });
    await show(difference);
    await down(page);
    await take("difference");
  } finally {
    await browser.close();
  }
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
