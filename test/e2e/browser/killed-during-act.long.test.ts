// The browser is killed in the middle of a step: the call ends with a clear error, and the next one works.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { assertWorks, HANG, killDuring, openReacting } from "../../harness/browser-faults.ts";
import { noBrowser, startBrowserGround, type BrowserGround } from "../../harness/browser.ts";

interface Fault {
  /** Its handler reports the step and never returns. */
  readonly page: string;
  /** The call, with the references of the page in order. */
  readonly call: (refs: readonly string[]) => object;
}

const act = (request: object): object => ({ action: "act", request });
const tall = "<div style='height: 5000px'></div>";
const field = `<input aria-label=Field oninput="${HANG}">`;

/** Every kind of act, in the order of the tool's description, and upload. */
const faults: Record<string, Fault> = {
  click: { page: `<button onclick="${HANG}">Go</button>`, call: ([ref]) => act({ kind: "click", ref }) },
  "double click": {
    page: `<button ondblclick="${HANG}">Go</button>`,
    call: ([ref]) => act({ kind: "click", ref, doubleClick: true }),
  },
  type: { page: field, call: ([ref]) => act({ kind: "type", ref, text: "words" }) },
  "type slowly": { page: field, call: ([ref]) => act({ kind: "type", ref, text: "words", slowly: true }) },
  "type and submit": {
    page: `<form onsubmit="${HANG}"><input aria-label=Field></form>`,
    call: ([ref]) => act({ kind: "type", ref, text: "words", submit: true }),
  },
  press: {
    page: `<input aria-label=Field onkeydown="${HANG}">`,
    call: ([ref]) => act({ kind: "press", ref, key: "Enter" }),
  },
  hover: { page: `<button onmouseover="${HANG}">Go</button>`, call: ([ref]) => act({ kind: "hover", ref }) },
  scrollIntoView: {
    page: `<script>addEventListener("scroll", () => ${HANG})</script>${tall}<button>Go</button>`,
    call: ([ref]) => act({ kind: "scrollIntoView", ref }),
  },
  drag: {
    page: `<button onmousedown="addEventListener('mousemove', () => ${HANG})">From</button><button>To</button>`,
    call: ([startRef, endRef]) => act({ kind: "drag", startRef, endRef }),
  },
  select: {
    page: `<select aria-label=List onchange="${HANG}"><option>One<option>Two</select>`,
    call: ([ref]) => act({ kind: "select", ref, values: ["Two"] }),
  },
  "select text": {
    page: `<button onmousedown="${HANG}">Words to mark</button>`,
    call: ([ref]) => act({ kind: "select", ref, text: "Words" }),
  },
  fill: { page: field, call: ([ref]) => act({ kind: "fill", fields: [{ ref, value: "words" }] }) },
  "fill of a box": {
    page: `<input type=checkbox aria-label=Box onchange="${HANG}">`,
    call: ([ref]) => act({ kind: "fill", fields: [{ ref, value: true }] }),
  },
  resize: {
    page: `<script>addEventListener("resize", () => ${HANG})</script><button>Go</button>`,
    call: () => act({ kind: "resize", width: 640, height: 480 }),
  },
  wait: { page: "<button>Go</button>", call: () => act({ kind: "wait", fn: `() => ${HANG}` }) },
  evaluate: { page: "<button>Go</button>", call: () => act({ kind: "evaluate", fn: `() => ${HANG}` }) },
  close: {
    page: `<script>addEventListener("pagehide", () => ${HANG})</script><button>Go</button>`,
    call: () => act({ kind: "close" }),
  },
  "a list of steps": {
    page: `<button>First</button><button onclick="${HANG}">Second</button>`,
    call: (refs) => ({ action: "act", requests: refs.map((ref) => ({ kind: "click", ref })) }),
  },
  upload: {
    page: `<input type=file aria-label=File onchange="${HANG}">`,
    call: ([inputRef]) => ({ action: "upload", options: { paths: ["fine.txt"], inputRef } }),
  },
  "upload by a chooser": {
    page: `<input type=file aria-label=File onchange="${HANG}">`,
    call: ([ref]) => ({ action: "upload", options: { paths: ["fine.txt"], ref } }),
  },
};

describe("browser killed during a step", { skip: noBrowser }, () => {
  let ground: BrowserGround;

  before(async () => {
    ground = await startBrowserGround();
    const { workspace } = ground.gateway;
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, "fine.txt"), "fine");
    await assertWorks(ground);
  });
  after(() => ground?.close());

  for (const [name, { page, call }] of Object.entries(faults))
    test(`${name} ends when the browser is killed in the middle of it, and the next call works`, async () => {
      const { reached, text } = await openReacting(ground, page);
      const refs = [...text.matchAll(/(?:button|textbox|combobox|checkbox) .*?\[(\d+)\]/g)].map(([, ref = ""]) => ref);
      assert.ok(refs.length > 0, text);
      await killDuring(ground, ground.browser(call(refs)), reached);
      await assertWorks(ground);
    });
});
