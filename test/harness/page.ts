// What tests of the page share: a real browser, the built page, a browser that was let in.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { build } from "vite";

import { operator, root, type TestGateway } from "./gateway.ts";
import { findProgram, missingProgram } from "./program.ts";

const program = process.env["OPENCLAW_TEST_BROWSER"] ?? findProgram("chromium");
export const noBrowser: string | false = program === undefined ? missingProgram("chromium") : false;
const quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
const still = ["--disable-component-update", "--disable-sync"];
export const desktop = { width: 1280, height: 800 };
export const phone = { width: 390, height: 844 };

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: program ?? "chromium", args: [...quiet, ...still], timeout: 180_000 });
}

/** The gateway serves dist/ui; a fresh clone that only runs this file has none yet. */
export async function ensurePage(): Promise<void> {
  const outDir = join(root, "dist", "ui");
  if (existsSync(join(outDir, "index.html"))) return;
  await build({
    root: join(root, "ui"),
    base: "./",
    logLevel: "warn",
    build: { outDir, emptyOutDir: true, target: "es2022" },
  });
}

export async function newCode(gateway: TestGateway): Promise<string> {
  const wire = await operator(gateway);
  const answer = await wire.call("device.pair.code");
  wire.end();
  return answer.code;
}

export interface Opened {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Everything the browser complained about: scripts, content policy, missing files. */
  readonly pageErrors: string[];
}

export type ContextOptions = Parameters<Browser["newContext"]>[0];

export async function openPage(
  browser: Browser,
  address: string,
  options: ContextOptions = { viewport: desktop },
): Promise<Opened> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const pageErrors: string[] = [];
  page.on("pageerror", (error) => pageErrors.push(error.message));
  page.on("console", (message) => message.type() === "error" && pageErrors.push(message.text()));
  await page.goto(address);
  return { page, context, pageErrors };
}

/** Let in by a link; the chat is open. */
export async function openLinked(browser: Browser, gateway: TestGateway, options?: ContextOptions): Promise<Opened> {
  const opened = await openPage(browser, `${gateway.url}/#pair=${await newCode(gateway)}`, options);
  await opened.page.getByLabel("Message", { exact: true }).waitFor();
  return opened;
}
