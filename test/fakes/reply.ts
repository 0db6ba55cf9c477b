// What a stand-in model server is told to answer, in words no vendor owns; each fake speaks them in its vendor's format.

export type Part =
  | { readonly type: "text"; readonly text: string; readonly chunks: number }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly arguments: string };

export type Finish = "stop" | "tool" | "length" | "refusal";

export interface Answer {
  readonly kind: "answer";
  readonly parts: readonly Part[];
  readonly finish: Finish;
  /** Between two frames. */
  readonly delayMs: number;
  /** Write this many bytes at a time, so that characters and frames are torn apart on the way. */
  readonly shredBytes?: number;
}

export type Reply =
  | Answer
  | {
      readonly kind: "fail";
      readonly status: number;
      readonly body: unknown;
      readonly headers: Record<string, string>;
    }
  /** `before`: not even a status line; `after`: a status line, then nothing. */
  | { readonly kind: "hang"; readonly when: "before" | "after" }
  | { readonly kind: "drip"; readonly everyMs: number }
  | { readonly kind: "garbage" }
  | { readonly kind: "half-call"; readonly name: string; readonly text: string; readonly ends: "done" | "cut" }
  /** The socket is destroyed: before any answer, or in the middle of one. */
  | { readonly kind: "drop"; readonly when: "before" | "middle" }
  | { readonly kind: "empty" }
  /** An error told inside a stream that had begun with status 200. */
  | { readonly kind: "late-fail"; readonly text: string; readonly type: string; readonly message: string };

export interface SayOptions {
  readonly chunks?: number;
  readonly delayMs?: number;
  readonly shredBytes?: number;
  readonly finish?: Finish;
}

export interface CallOptions {
  readonly id?: string;
  readonly delayMs?: number;
}

let callCount = 0;

/** Splits by UTF-16 units: with enough chunks an emoji comes in two halves. */
export function say(text: string, { chunks, delayMs = 0, shredBytes, finish = "stop" }: SayOptions = {}): Answer {
  const part: Part = { type: "text", text, chunks: chunks ?? Math.min(4, Math.max(1, text.length)) };
  return { kind: "answer", parts: [part], finish, delayMs, ...(shredBytes === undefined ? {} : { shredBytes }) };
}

/** `args` as a string goes out as it is, readable or not. */
export function call(name: string, args: unknown, { id, delayMs = 0 }: CallOptions = {}): Answer {
  return { kind: "answer", parts: [callPart(name, args, id)], finish: "tool", delayMs };
}

export function calls(
  list: readonly { readonly name: string; readonly args: unknown; readonly id?: string }[],
  { before = "", delayMs = 0 }: { readonly before?: string; readonly delayMs?: number } = {},
): Answer {
  const text: Part[] = before === "" ? [] : [{ type: "text", text: before, chunks: 1 }];
  const parts = [...text, ...list.map(({ name, args, id }) => callPart(name, args, id))];
  return { kind: "answer", parts, finish: "tool", delayMs };
}

export function think(text: string, then: Answer): Answer {
  return { ...then, parts: [{ type: "thinking", text }, ...then.parts] };
}

export function fail(status: number, body?: unknown, headers: Record<string, string> = {}): Reply {
  return { kind: "fail", status, body, headers };
}

export const hang = (when: "before" | "after" = "before"): Reply => ({ kind: "hang", when });
export const drip = (everyMs: number): Reply => ({ kind: "drip", everyMs });
export const garbage = (): Reply => ({ kind: "garbage" });
export const drop = (when: "before" | "middle" = "middle"): Reply => ({ kind: "drop", when });
export const empty = (): Reply => ({ kind: "empty" });
export const refuse = (text: string): Answer => say(text, { finish: "refusal" });

/** A call whose arguments stop in the middle; the stream then ends properly, or the line is cut. */
export function halfCall(name: string, text: string, ends: "done" | "cut" = "done"): Reply {
  return { kind: "half-call", name, text, ends };
}

export function lateFail(text: string, message: string, type = "server_error"): Reply {
  return { kind: "late-fail", text, type, message };
}

/** `text` in `count` nearly equal pieces, by UTF-16 units. */
export function pieces(text: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / Math.max(1, count)));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
}

function callPart(name: string, args: unknown, id: string | undefined): Part {
  callCount += 1;
  const text = typeof args === "string" ? args : JSON.stringify(args);
  return { type: "call", id: id ?? `call_${callCount}_${name}`.slice(0, 40), name, arguments: text };
}
