// `openclaw browser` commands that act on a page, and that follow what happens.
import { copyFileSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

import {
  amount,
  browserCommand,
  milliseconds,
  tabOption,
  textOf,
  type Answer,
  type BrowserClient,
} from "../browser-request.ts";
import { UsageError, type Argument, type Command, type Example, type Invocation, type Options } from "../command.ts";
import { parseJson5 } from "../json5.ts";

const ref: Argument = { name: "ref", description: "Reference of the last snapshot, such as 12 or e12." };
const wait = { "timeout-ms": { type: "string", value: "ms", description: "How long it may take." } } as const;

interface Act<O extends Options> {
  readonly arguments?: readonly Argument[];
  readonly options?: O;
  readonly examples: readonly Example[];
  /** The fields of the step, without `kind`. */
  readonly fields: (given: Invocation<O>) => object;
  readonly text?: (answer: Answer, given: Invocation<O>) => string;
}

export const commands: Readonly<Record<string, Command>> = {
  navigate: browserCommand({
    arguments: [{ name: "url", description: "An http or https URL." }],
    options: tabOption,
    examples: [{ line: "browser navigate https://example.com", does: "in the tab that was used last" }],
    request: (client, { arguments: [url = ""], options }) =>
      client.post("/navigate", { url, targetId: options["target-id"] }),
    text: (answer) => `The tab shows ${textOf(answer, "url")}.`,
  }),
  resize: act("resize", {
    arguments: [
      { name: "width", description: "In pixels." },
      { name: "height", description: "In pixels." },
    ],
    examples: [{ line: "browser resize 1280 800", does: "size of the page" }],
    fields: ({ arguments: [width = "", height = ""] }) => ({
      width: amount("width", width),
      height: amount("height", height),
    }),
  }),
  click: act("click", {
    arguments: [ref],
    options: {
      double: { type: "boolean", description: "A double click." },
      button: { type: "string", choices: ["left", "right", "middle"], description: "Mouse button (default: left)." },
      modifiers: {
        type: "string",
        value: "keys",
        description: "Keys to hold, separated by commas, such as Shift,Alt.",
      },
    },
    examples: [
      { line: "browser click 12", does: "element 12 of the last snapshot" },
      { line: "browser click e12 --double --modifiers Shift", does: "a double click while Shift is down" },
    ],
    fields: ({ arguments: [id], options: { double, button, modifiers } }) => ({
      ref: id,
      doubleClick: double,
      button,
      modifiers: modifiers?.split(",").map((key) => key.trim()),
    }),
  }),
  type: act("type", {
    arguments: [ref, { name: "text", description: "Replaces the text of the field." }],
    options: {
      submit: { type: "boolean", description: "Press Enter afterwards." },
      slowly: { type: "boolean", description: "Press one key after another, for pages that react to each." },
    },
    examples: [{ line: "browser type 7 hello --submit", does: "into field 7, then Enter" }],
    fields: ({ arguments: [id, text], options: { submit, slowly } }) => ({ ref: id, text, submit, slowly }),
  }),
  press: act("press", {
    arguments: [{ name: "key", description: "A key such as Enter, or several as in Control+a." }],
    examples: [{ line: "browser press Control+a", does: "in the page as a whole" }],
    fields: ({ arguments: [key] }) => ({ key }),
  }),
  hover: act("hover", {
    arguments: [ref],
    examples: [{ line: "browser hover 5", does: "opens menus that react to the mouse" }],
    fields: ({ arguments: [id] }) => ({ ref: id }),
  }),
  scrollintoview: act("scrollIntoView", {
    arguments: [ref],
    examples: [{ line: "browser scrollintoview 30", does: "element 30 becomes visible" }],
    fields: ({ arguments: [id] }) => ({ ref: id }),
  }),
  drag: act("drag", {
    arguments: [
      { name: "from", description: "Reference of the element to drag." },
      { name: "to", description: "Reference of the element to drop it on." },
    ],
    examples: [{ line: "browser drag 4 9", does: "element 4 onto element 9" }],
    fields: ({ arguments: [startRef, endRef] }) => ({ startRef, endRef }),
  }),
  select: act("select", {
    arguments: [ref, { name: "values", description: "Options by value or text.", many: true }],
    examples: [{ line: "browser select 8 red green", does: "two options of a list" }],
    fields: ({ arguments: [id, ...values] }) => ({ ref: id, values }),
  }),
  fill: act("fill", {
    options: {
      fields: { type: "string", value: "json5", description: "List of {ref, type?, value}." },
      "fields-file": { type: "string", value: "file", description: "A file with that list." },
    },
    examples: [
      {
        line: `browser fill --fields '[{ref: 3, value: "Ann"}, {ref: 4, type: "checkbox", value: true}]'`,
        does: "a form",
      },
    ],
    fields: ({ options: { fields, "fields-file": file } }) => {
      if ((fields === undefined) === (file === undefined)) throw new UsageError("give --fields or --fields-file");
      return { fields: listIn(fields ?? readFileSync(file ?? "", "utf8")) };
    },
  }),
  wait: act("wait", {
    arguments: [{ name: "selector", description: "CSS selector that becomes visible.", optional: true }],
    options: {
      time: { type: "string", value: "ms", description: "A plain delay." },
      text: { type: "string", value: "text", description: "Text that appears." },
      "text-gone": { type: "string", value: "text", description: "Text that disappears." },
      url: { type: "string", value: "glob", description: "URL of the page, such as '**/done'." },
      load: { type: "string", choices: ["load", "domcontentloaded", "networkidle"], description: "State of loading." },
      fn: { type: "string", value: "js", description: "A function of the page that returns true." },
      ...wait,
    },
    examples: [
      { line: "browser wait --text Saved", does: "until the page shows it" },
      { line: "browser wait '#main' --url '**/dash' --load networkidle", does: "until all of them are true" },
    ],
    fields: ({ arguments: [selector], options }) => ({
      selector,
      timeMs: options.time === undefined ? undefined : amount("time", options.time),
      text: options.text,
      textGone: options["text-gone"],
      url: options.url,
      loadState: options.load,
      fn: options.fn,
      timeoutMs: milliseconds("timeout-ms", options["timeout-ms"]),
    }),
  }),
  evaluate: act("evaluate", {
    options: {
      fn: { type: "string", value: "js", description: "A function; its result is printed as JSON." },
      ref: { type: "string", value: "ref", description: "Element that is passed to the function." },
    },
    examples: [
      { line: "browser evaluate --fn '() => document.title'", does: "the title" },
      { line: "browser evaluate --ref 7 --fn '(element) => element.value'", does: "the value of field 7" },
    ],
    fields: ({ options: { fn, ref: id } }) => {
      if (fn === undefined) throw new UsageError("--fn is required");
      return { fn, ref: id };
    },
    text: (answer) => JSON.stringify(answer["result"] ?? null, undefined, 2),
  }),
  upload: browserCommand({
    details: "Without --ref, --input-ref or --element the files go to the next file chooser that the page opens.",
    arguments: [
      { name: "paths", description: "Files in the workspace, the media folder or the temporary folder.", many: true },
    ],
    options: {
      ...tabOption,
      ref: { type: "string", value: "ref", description: "Element to click, which opens the chooser." },
      "input-ref": { type: "string", value: "ref", description: "The file input itself." },
      element: { type: "string", value: "css", description: "Selector of the file input." },
      ...wait,
    },
    examples: [
      { line: "browser upload /tmp/report.pdf --ref 12", does: "click 12 and choose the file" },
      { line: "browser upload /tmp/report.pdf", does: "for the next file chooser; click afterwards" },
    ],
    request: (client, { arguments: paths, options }) =>
      client.post("/hooks/file-chooser", {
        paths: paths.map((path) => resolve(path)),
        ref: options.ref,
        inputRef: options["input-ref"],
        element: options.element,
        targetId: options["target-id"],
        timeoutMs: milliseconds("timeout-ms", options["timeout-ms"]),
      }),
    text: (_answer, { arguments: paths, options: { ref: id, element, "input-ref": input } }) =>
      id === undefined && element === undefined && input === undefined
        ? `The next file chooser gets ${paths.length} file(s).`
        : `Uploaded ${paths.length} file(s).`,
  }),
  dialog: browserCommand({
    details: "Answers the next alert, confirm or prompt. Without it, dialogs are dismissed and noted in the console.",
    options: {
      ...tabOption,
      accept: { type: "boolean", description: "Accept it." },
      dismiss: { type: "boolean", description: "Dismiss it." },
      prompt: { type: "string", value: "text", description: "Text for a prompt." },
      ...wait,
    },
    examples: [{ line: "browser dialog --accept --prompt Ann", does: "then click what opens the prompt" }],
    request(client, { options }) {
      if ((options.accept === true) === (options.dismiss === true)) throw new UsageError("give --accept or --dismiss");
      return client.post("/hooks/dialog", {
        accept: options.accept === true,
        promptText: options.prompt,
        targetId: options["target-id"],
        timeoutMs: milliseconds("timeout-ms", options["timeout-ms"]),
      });
    },
    text: (_answer, { options }) => `The next dialog is ${options.accept === true ? "accepted" : "dismissed"}.`,
  }),
  highlight: browserCommand({
    arguments: [ref],
    options: tabOption,
    examples: [{ line: "browser highlight 12", does: "draws a frame around element 12" }],
    request: (client, { arguments: [id], options }) =>
      client.post("/highlight", { ref: id, targetId: options["target-id"] }),
    text: (_answer, { arguments: [id = ""] }) => `Highlighted ${id}.`,
  }),
  download: browserCommand({
    arguments: [ref, { name: "path", description: "Where to copy the file.", optional: true }],
    options: { ...tabOption, ...wait },
    examples: [{ line: "browser download 12 report.pdf", does: "click 12 and save the file" }],
    request: (client, { arguments: [id, path], options }) => download(client, "/download", { ref: id }, path, options),
    text: downloadText,
  }),
  waitfordownload: browserCommand({
    arguments: [{ name: "path", description: "Where to copy the file.", optional: true }],
    options: { ...tabOption, ...wait },
    examples: [{ line: "browser waitfordownload report.pdf --timeout-ms 60000", does: "the next download of the tab" }],
    request: (client, { arguments: [path], options }) => download(client, "/wait/download", {}, path, options),
    text: downloadText,
  }),
  "trace start": browserCommand({
    options: tabOption,
    examples: [{ line: "browser trace start", does: "records screenshots, pages and network" }],
    request: (client, { options }) => client.post("/trace/start", { targetId: options["target-id"] }),
    text: () => "Recording. End it with: openclaw browser trace stop",
  }),
  "trace stop": browserCommand({
    options: { ...tabOption, out: { type: "string", value: "file", description: "Where to copy the trace." } },
    examples: [
      { line: "browser trace stop --out trace.zip", does: "open it with npx playwright show-trace trace.zip" },
    ],
    async request(client, { options }) {
      const answer = await client.post("/trace/stop", { targetId: options["target-id"] });
      return { ...answer, ...copied(client, textOf(answer, "path"), options.out) };
    },
    text: (answer) => `TRACE:${textOf(answer, "path")}`,
  }),
};

/** A command that is one step of `act`. */
function act<const O extends Options = Record<never, never>>(kind: string, shape: Act<O>): Command {
  const { fields, text, options, ...rest } = shape;
  return browserCommand({
    ...rest,
    options: { ...tabOption, ...options },
    request(client, given) {
      const step = fields(given as Invocation<O>) as { readonly timeoutMs?: number };
      return client.post("/act", { kind, targetId: given.options["target-id"], ...step }, step.timeoutMs);
    },
    text: (answer, given) => text?.(answer, given as Invocation<O>) ?? doneText(answer),
  });
}

function doneText(answer: Answer): string {
  const url = textOf(answer, "url");
  return url === "" ? "Done." : `Done; the page is ${url}`;
}

function listIn(text: string): unknown[] {
  const parsed = parseJson5(text);
  if (!parsed.ok) throw new UsageError(`the fields are not JSON5: ${parsed.why}`);
  if (!Array.isArray(parsed.value))
    throw new UsageError("the fields must be a list, such as '[{ref: 3, value: \"x\"}]'");
  return parsed.value;
}

async function download(
  client: BrowserClient,
  path: string,
  fields: object,
  to: string | undefined,
  options: Invocation<typeof tabOption & typeof wait>["options"],
): Promise<Answer> {
  const timeoutMs = milliseconds("timeout-ms", options["timeout-ms"]);
  const answer = await client.post(path, { ...fields, timeoutMs, targetId: options["target-id"] }, timeoutMs);
  const file = (answer["download"] ?? {}) as Answer;
  return { ...answer, download: { ...file, ...copied(client, textOf(file, "path"), to) } };
}

/** The gateway keeps files in its media folder; a copy is made with the rights of the caller. */
function copied({ isLocal }: BrowserClient, from: string, to: string | undefined): { readonly path?: string } {
  if (to === undefined) return {};
  if (!isLocal) throw new UsageError(`the gateway is on another machine and saved the file there: ${from}`);
  const path = resolve(to);
  copyFileSync(from, path);
  return { path };
}

function downloadText(answer: Answer): string {
  const file = (answer["download"] ?? {}) as Answer;
  return `FILE:${textOf(file, "path")}`;
}
