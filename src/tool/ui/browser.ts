// The browser tool: maps actions to requests of a browser control service and shows the answers to a model.

import { scalarText } from "../../core/record.ts";
import { browserTargets, type BrowserControl } from "../../browser/control.ts";
import { Type } from "../../core/schema.ts";
import type { MediaStore } from "../../media/store.ts";
import { defineTool, type Intent } from "../tool.ts";
import { callerOf, withHostPaths } from "./browser-caller.ts";
import { browserActions, foldBrowserArguments, requestFor, type BrowserArguments } from "./browser-request.ts";
import { showAnswer } from "./browser-result.ts";

export interface BrowserToolDeps {
  readonly browser: BrowserControl;
  readonly media: MediaStore;
}

/** Fields are described in one sentence per kind, because a schema of twelve kinds would cost every request more. */
const fields = (description: string) => Type.Unsafe<Record<string, unknown>>({ type: "object", description });
const optional = Type.Optional;

export const createBrowserTool = ({ browser, media }: BrowserToolDeps) =>
  defineTool({
    name: "browser",
    summary: "Control a web browser",
    description:
      "Control a web browser. open a targetUrl, read the page with snapshot, then act on elements by the ref that snapshot prints in brackets, such as 12 or e12. act, open and navigate return what changed (+ new, ~ changed, - gone), so take another snapshot only if that is not enough; on a large page use find. Send several steps at once as requests. Refs end when the page navigates. Avoid kind=wait unless no visible state tells when to go on. Use screenshot for what text cannot show. To only read a public page, use web_fetch.",
    params: Type.Object(
      {
        action: Type.Enum([...browserActions], {
          type: "string",
          description:
            "Operation. Before a click that opens a file chooser or a dialog, prepare the answer with upload or dialog. reset-profile ends a leftover browser process.",
        }),
        targetUrl: optional(Type.String({ description: "open, navigate: the URL." })),
        targetId: optional(Type.String({ description: "Tab id, from tabs or a result (default: the tab used last)." })),
        profile: optional(
          Type.String({
            description:
              "Browser to use (default: as configured). openclaw is your own one; chrome has the tabs that the user shares.",
          }),
        ),
        target: optional(
          Type.Enum([...browserTargets], {
            type: "string",
            description: "Where the browser runs (default: chosen automatically).",
          }),
        ),
        node: optional(Type.String({ description: "Node id or name, with target=node." })),
        find: optional(
          Type.String({ description: "snapshot: show only lines that contain these words, such as a text or role." }),
        ),
        request: optional(
          fields(
            "act: one step. {kind:'click', ref, text? (words in the element), doubleClick?, button?, modifiers?}; {kind:'type', ref, text, submit?, slowly?}; {kind:'press', key:'Control+a', ref?, count?}; {kind:'hover', ref}; {kind:'scrollIntoView', ref}; {kind:'drag', startRef, endRef} or byX, byY in pixels; {kind:'select', ref, values} chooses options, with text it selects that text; {kind:'fill', fields:[{ref, value}]} where true checks a box; {kind:'resize', width, height}; {kind:'wait', text?, textGone?, selector?, url?, loadState?, timeMs?, fn?} until all hold; {kind:'evaluate', fn:'(element) => …', ref?}; {kind:'close'}. click and hover also take x, y: pixels of the screenshot, or of the element with ref.",
          ),
        ),
        requests: optional(
          Type.Array(fields("One step."), {
            description: "act: steps to perform in order, instead of request; stops at the first that fails.",
          }),
        ),
        options: optional(
          fields(
            "Further options. All: timeoutMs. snapshot: mode 'efficient' (short), interactive, compact, depth, selector, frame, labels (adds a screenshot with refs), snapshotFormat 'aria', refs 'aria', limit, maxChars (default 50000), fold (false shows long lists whole), graphics (adds icons, colored boxes and shapes that have no text). screenshot: ref or element (CSS), fullPage, type 'jpeg'. act, open, navigate: observe 'none'. console: level. upload: paths, and ref to click, inputRef or element. dialog: accept, promptText. create-profile: name, color, cdpUrl, driver. delete-profile: name.",
          ),
        ),
      },
      { additionalProperties: false },
    ),
    // A step may type a password.
    unrecorded: ["request", "requests"],
    available: ({ config, sandboxed }) =>
      config.browser?.enabled === false && !sandboxed
        ? {
            available: false,
            reason: "the browser is disabled (browser.enabled is false)",
            fix: "openclaw config set browser.enabled true",
          }
        : { available: true },
    prepare: foldBrowserArguments,
    intent: intentOf,
    async run(args, call) {
      const answer = await browser.request(
        { ...withHostPaths(requestFor(args), call), target: args.target, node: args.node },
        callerOf(call),
      );
      return showAnswer(args.action, answer, { media, signal: call.signal });
    },
  });

function intentOf(args: BrowserArguments): Intent {
  const { action, targetUrl, options = {}, request, requests } = args;
  switch (action) {
    case "open":
    case "navigate":
      return { does: "fetch", url: targetUrl ?? "" };
    case "act":
      return { does: "send", to: `browser page: ${describeSteps(requests ?? [request ?? {}])}` };
    case "upload":
    case "dialog":
      return { does: "send", to: `browser page: ${action}` };
    case "start":
    case "stop":
    case "create-profile":
    case "delete-profile":
    case "reset-profile":
      return { does: "admin", what: `browser ${action} ${scalarText(options["name"] ?? args.profile)}`.trim() };
    default:
      return { does: "look" };
  }
}

const MAX_STEPS = 20;

/** Without the texts that are typed. */
function describeSteps(steps: readonly Readonly<Record<string, unknown>>[]): string {
  return steps
    .slice(0, MAX_STEPS)
    .map(({ kind, ref }) =>
      [kind, ref].filter((part) => typeof part === "string" || typeof part === "number").join(" "),
    )
    .join(", ")
    .slice(0, 300);
}
