// The steps of `act`: their fields, checked before the page is touched.
import { isRecord, scalarText } from "../../core/record.ts";
import { checker, Type, type Static, type TSchema } from "../../core/schema.ts";
import { browserError } from "../errors.ts";

const ref = Type.Union([Type.String({ minLength: 1 }), Type.Number()]);
const optional = Type.Optional;
const number = Type.Number();
const text = Type.String();
const count = Type.Integer({ minimum: 1, maximum: 500 });

const step = <K extends string, P extends Record<string, TSchema>>(kind: K, fields: P) =>
  Type.Object({ kind: Type.Literal(kind), timeoutMs: optional(number), ...fields }, { additionalProperties: false });

const kinds = {
  click: step("click", {
    /** x and y are an offset in the element, or a point of the viewport without ref. */
    ref: optional(ref),
    /** Words inside the element, for a link or a word in a long text. */
    text: optional(Type.String({ minLength: 1 })),
    x: optional(number),
    y: optional(number),
    doubleClick: optional(Type.Boolean()),
    button: optional(Type.Enum(["left", "right", "middle"])),
    modifiers: optional(Type.Array(Type.Enum(["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]))),
  }),
  type: step("type", { ref, text, submit: optional(Type.Boolean()), slowly: optional(Type.Boolean()) }),
  press: step("press", { key: Type.String({ minLength: 1 }), ref: optional(ref), count: optional(count) }),
  hover: step("hover", { ref: optional(ref), x: optional(number), y: optional(number) }),
  scrollIntoView: step("scrollIntoView", { ref }),
  drag: step("drag", {
    startRef: optional(ref),
    endRef: optional(ref),
    startX: optional(number),
    startY: optional(number),
    endX: optional(number),
    endY: optional(number),
    /** How far to drag, without an end. */
    byX: optional(number),
    byY: optional(number),
  }),
  /** With values: options of a list. With text: marks that text in the element, or all of it with "". */
  select: step("select", { ref, values: optional(Type.Array(text)), text: optional(text) }),
  fill: step("fill", {
    fields: Type.Array(
      Type.Object({
        ref,
        type: optional(text),
        value: optional(Type.Union([text, number, Type.Boolean()])),
      }),
      { minItems: 1 },
    ),
  }),
  resize: step("resize", {
    width: Type.Integer({ minimum: 1, maximum: 10_000 }),
    height: Type.Integer({ minimum: 1, maximum: 10_000 }),
  }),
  wait: step("wait", {
    timeMs: optional(Type.Number({ minimum: 0 })),
    text: optional(text),
    textGone: optional(text),
    selector: optional(text),
    url: optional(text),
    loadState: optional(Type.Enum(["load", "domcontentloaded", "networkidle"])),
    fn: optional(text),
  }),
  evaluate: step("evaluate", { fn: Type.String({ minLength: 1 }), ref: optional(ref) }),
  close: step("close", {}),
};

export type Kind = keyof typeof kinds;
export type StepOf<K extends Kind> = Static<(typeof kinds)[K]>;
export type Step = { [K in Kind]: StepOf<K> }[Kind];

const checkers = Object.fromEntries(
  Object.entries(kinds).map(([kind, schema]) => [kind, checker(schema as TSchema)]),
) as Record<Kind, ReturnType<typeof checker>>;

export interface ActRequest {
  readonly steps: readonly Step[];
  readonly targetId: string | undefined;
  readonly observe: "changes" | "none";
  /** True for `requests`: the answer then lists the steps. */
  readonly isList: boolean;
}

export function readActRequest(body: Readonly<Record<string, unknown>>): ActRequest {
  const { request, requests, targetId, observe = "none", ...flat } = body;
  if (observe !== "changes" && observe !== "none") throw bad('observe must be "changes" or "none"');
  if (requests !== undefined && (!Array.isArray(requests) || requests.length === 0 || requests.length > MAX_STEPS))
    throw bad(`requests must be a list of 1 to ${MAX_STEPS} steps`);
  const raw = (requests as unknown[] | undefined) ?? [isRecord(request) ? { ...flat, ...request } : flat];
  const ids = new Set([targetId, ...raw.map((one) => (isRecord(one) ? one["targetId"] : undefined))].filter(Boolean));
  if (ids.size > 1)
    throw bad(`targetId differs between the call and its request (${[...ids].join(", ")}); name one tab`);
  const [id] = ids;
  return {
    steps: raw.map((one, index) => readStep(one, requests === undefined ? "" : `step ${index + 1}: `)),
    targetId: id === undefined ? undefined : scalarText(id),
    observe,
    isList: requests !== undefined,
  };
}

const MAX_STEPS = 50;

function readStep(raw: unknown, where: string): Step {
  if (!isRecord(raw)) throw bad(`${where}a step must be an object with kind`);
  const { targetId: _id, ...fields } = raw;
  const kind = fields["kind"] === "scrollintoview" ? "scrollIntoView" : fields["kind"];
  if (typeof kind !== "string" || !Object.hasOwn(kinds, kind))
    throw bad(`${where}kind is required`, `kinds: ${Object.keys(kinds).join(", ")}`);
  if (kind !== "wait" && (fields["selector"] !== undefined || fields["element"] !== undefined))
    throw bad(
      `${where}${kind} takes a ref from a snapshot, not a CSS selector`,
      "take a snapshot and use a ref from it",
    );
  const known = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
  return checkers[kind as Kind].parse({ ...known, kind }, "browser.bad-request", `${where}${kind}`) as Step;
}

function bad(message: string, hint?: string): Error {
  return browserError("browser.bad-request", message, hint === undefined ? {} : { hint });
}
