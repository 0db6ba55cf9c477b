// Web access: the guard against bare fetch, extraction against the bare libraries, and what both cost while unused.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import TurndownService from "turndown";

import type { Config } from "../src/config/schema/index.ts";
import { createExtraction } from "../src/media/extract/extract.ts";
import { createGuard } from "../src/media/guard/guard.ts";
import { startFakeWeb } from "../test/fakes/web.ts";
import { atMost, median, round, type Row } from "./table.ts";
import { benchUnused } from "./unused.ts";

const REQUESTS = 400;
const ROUNDS = 5;

export async function benchWeb(): Promise<Row[]> {
  return [...(await benchGuard()), ...(await benchExtraction()), ...(await benchUnusedWeb())];
}

/** One of each in turn, so that both meet the same machine. */
async function benchGuard(): Promise<Row[]> {
  const web = await startFakeWeb();
  web.page("/", "x".repeat(10_000), "text/plain");
  const config = { tools: { web: { allowPrivateHosts: ["127.0.0.1"] } } } as Config;
  const guard = createGuard({ config: () => config, env: {} });
  const bare: number[] = [];
  const guarded: number[] = [];
  for (let at = 0; at < REQUESTS; at++) {
    bare.push(await timed(async () => (await fetch(web.url)).arrayBuffer()));
    guarded.push(await timed(async () => (await guard.fetch(web.url)).bytes()));
  }
  await web.close();
  const note = `guard p50 ${round(median(guarded))} ms, fetch p50 ${round(median(bare))} ms`;
  return [atMost("guard over bare fetch, loopback, 10 kB, p50", median(guarded) - median(bare), 1, " ms", note)];
}

async function benchExtraction(): Promise<Row[]> {
  const html = article(1_000_000);
  const extraction = createExtraction();
  const job = () =>
    extraction.page(
      {
        bytes: Buffer.from(html),
        contentType: "text/html; charset=utf-8",
        url: "https://site.example/",
        mode: "markdown",
        readability: true,
        maxChars: 2_000_000,
      },
      { timeoutMs: 120_000 },
    );
  bareLibraries(html);
  await job();
  const bare: number[] = [];
  const ours: number[] = [];
  const loop = monitorEventLoopDelay({ resolution: 5 });
  for (let at = 0; at < ROUNDS; at++) {
    bare.push(await timed(async () => bareLibraries(html)));
    loop.enable();
    ours.push(await timed(job));
    loop.disable();
  }
  await extraction.close();
  const note = `${round(best(ours))} ms in a thread, bare ${round(best(bare))} ms`;
  return [
    atMost("readable extraction of a 1 MB article, best of 5", best(ours) / best(bare), 1.3, "x bare libraries", note),
    atMost("loop delay of the main thread meanwhile, p99", loop.percentile(99) / 1e6, 50, " ms"),
  ];
}

function bareLibraries(html: string): string {
  const found = new Readability(parseHTML(html).document as never).parse();
  return new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced" }).turndown(found?.content ?? "");
}

function article(bytes: number): string {
  const paragraph = (at: number): string =>
    `<p>Paragraph ${at} of a long article, with <a href="/note/${at}">a link</a>, some <b>bold</b> words, and enough text to look like prose that people write and read.</p>\n`;
  let body = "";
  for (let at = 0; body.length < bytes; at++) body += paragraph(at);
  return `<!doctype html><html><head><title>Long</title></head><body><nav><a href="/">Home</a></nav><article><h1>Long</h1>${body}</article></body></html>`;
}

/** The same gateway with the web tools off, and with everything about the web configured. */
function benchUnusedWeb(): Promise<Row[]> {
  const off = { tools: { web: { search: { enabled: false }, fetch: { enabled: false } } } };
  const on = {
    tools: {
      web: {
        allowPrivateHosts: ["nas.local", "192.168.1.0/24"],
        search: { provider: "brave", apiKey: "bench-key-0123456789" },
        fetch: { firecrawl: { apiKey: "bench-key-0123456789" } },
      },
    },
  };
  return benchUnused(
    "web",
    () => ({ config: off }),
    () => ({ config: on }),
  );
}

/** Other work on the machine only ever adds. */
const best = (values: readonly number[]): number => Math.min(...values);

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}
