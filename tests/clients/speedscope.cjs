// What speedscope shows of a file with several profiles: node speedscope.cjs FILE
// Prints for each profile its name and total as its list of profiles has them, and the rows of its sandwich view (total, self
// and name), all as they are on the screen.
const fs = require("fs");
const path = require("path");
const { pathToFileURL } = require("url");
const puppeteer = require("puppeteer-core");

const release = path.join(path.dirname(require.resolve("speedscope/package.json")), "dist/release/index.html");

/** A page that loads the file as speedscope's own command line has it load one: from a script beside it. */
async function open(browser, file) {
  const bytes = fs.readFileSync(file).toString("base64");
  const script = `${file}.js`;
  fs.writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(path.basename(file))}, "${bytes}")`);
  const page = await browser.newPage();
  await page.setViewport({ width: 1400, height: 8000 });
  await page.goto(`${pathToFileURL(release)}#localProfilePath=${script}`);
  return page;
}

// What the first cells of rows look like: numbers in the list of profiles, costs with their percentage in the sandwich view.
const PROFILE = "^[0-9]+$";
const FUNCTION = "%[)]$";

/** The cells of all rows of which the first is like this. */
const rows = (page, first) =>
  page.evaluate((first) => {
    const cells = [...document.querySelectorAll("tr")].map((row) => [...row.querySelectorAll("td")]);
    const texts = cells.map((row) => row.map((cell) => cell.innerText.trim()));
    return texts.filter((row) => row.length > 0 && new RegExp(first).test(row[0]));
  }, first);

/** The rows of the sandwich view once they stay as they are: they are drawn in steps. */
async function functions(page) {
  for (let before = [], now; ; before = now) {
    now = await rows(page, FUNCTION);
    if (now.length > 0 && JSON.stringify(now) === JSON.stringify(before)) return now;
    await new Promise((done) => setTimeout(done, 300));
  }
}

async function main([file]) {
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
  });
  try {
    const page = await open(browser, file);
    const shows = (text) => page.waitForFunction((t) => document.body.innerText.includes(t), { timeout: 60000 }, text);
    await shows("(1/");
    const profiles = await rows(page, PROFILE);
    await page.keyboard.press("3");
    await shows("Symbol Name");
    for (const [index, profile] of profiles.entries()) {
      await shows(`(${index + 1}/`);
      profile.push(await functions(page));
      await page.keyboard.press("n");
    }
    console.log(JSON.stringify(profiles.map(([, name, total, rows]) => ({ name, total, rows }))));
  } finally {
    await browser.close();
  }
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
