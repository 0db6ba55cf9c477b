// Every private address of the attack table in a browser, on each way that a page is led there.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { noBrowser, startBrowserGround, type BrowserGround } from "../harness/browser.ts";
import type { WebAnswer } from "../harness/web.ts";
import { readCases } from "./corpus.ts";

interface UrlInput {
  readonly params: { readonly url: string };
}

interface Shown {
  readonly targetId: string;
  readonly url: string;
}

const cases = readCases<UrlInput>("cases").filter(
  ({ area, expect, input }) =>
    area === "web.ssrf" && /deny|error/.test(expect) && !JSON.stringify(input).includes("{{EVIL}}"),
);

/** A page reads these URLs as those of a public host: a backslash as a slash, and a space as part of the name. */
const publicInPages = new Set(["SSR-038", "SSR-047"]);

/** A header takes ASCII only; addresses in brackets stay as they are. */
const headerText = (url: string): string => url.replaceAll(/[^!-~]/gu, encodeURIComponent);

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

describe("private addresses in a browser", { skip: noBrowser }, () => {
  let ground: BrowserGround;
  let home: unknown;

  before(async () => {
    ground = await startBrowserGround({
      zone: { "multi.test": ["93.184.216.34", "127.0.0.1"], "inside.test": ["127.0.0.1"], "six.test": ["::1"] },
    });
    home = (await ground.open("/", "<h1>Start</h1>")).details["targetId"];
  });
  after(() => ground?.close());

  function assertRefused(answer: WebAnswer, what: string): void {
    assert.equal(answer.ok, false, `${what}: ${answer.text}`);
    assert.equal(answer.error?.code, "browser.blocked", `${what}: ${JSON.stringify(answer.error)}`);
  }

  /** A click on a page that leads to the address. The browser stays on the page when it does not accept the URL itself. */
  async function click(html: string, what: string): Promise<void> {
    ground.web.page("/evil", html);
    const shown = await ground.browser({ action: "navigate", targetUrl: ground.at("/evil"), targetId: home });
    const ref = /"Go" \[(\d+)\]/.exec(shown.text)?.[1];
    assert.ok(ref, JSON.stringify(shown));
    const answer = await ground.browser({ action: "act", request: { kind: "click", ref }, targetId: home });
    if (answer.ok) assert.match(String(answer.details["url"]), /\/evil\??$|^about:blank/, `${what}: ${answer.text}`);
    else assertRefused(answer, what);
  }

  /** Tabs that a page opened show nothing of the address, and are closed. */
  async function closeOthers(what: string): Promise<void> {
    const { details } = await ground.browser({ action: "tabs" });
    for (const { targetId, url } of details["tabs"] as readonly Shown[]) {
      if (targetId === home) continue;
      await ground.browser({ action: "close", targetId });
      assert.match(url, /^(?:blocked$|about:blank|chrome-error:)/, what);
    }
  }

  for (const { id, input, claim } of cases) {
    const { url } = input.params;
    test(`${id} in the browser by open, redirect, link, form and window.open: ${claim}`, async () => {
      assertRefused(await ground.browser({ action: "open", targetUrl: url }), "open");
      if (publicInPages.has(id)) return;
      ground.web.on("/302", (_request, response) => void response.writeHead(302, { location: headerText(url) }).end());
      for (const action of ["open", "navigate"]) {
        const answer = await ground.browser({ action, targetUrl: ground.at("/302") });
        assert.equal(answer.ok, false, `${action} redirect: ${answer.text}`);
        assert.match(answer.error?.code ?? "", /^browser\.(?:blocked|failed)$/, JSON.stringify(answer.error));
      }
      await click(`<a href="${escaped(url)}">Go</a>`, "link");
      await click(`<form method="post" action="${escaped(url)}"><button>Go</button></form>`, "form");
      await click(`<button onclick="window.open(${escaped(JSON.stringify(url))})">Go</button>`, "window.open");
      await closeOthers("window.open");
    });
  }
});
