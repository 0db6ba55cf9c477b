// An agent that uses the browser tool of the gateway and reads only the text it answered.
import type { WebAnswer } from "../web.ts";
import type { Agent, Seen, Step } from "./agent.ts";

const quoted = String.raw`"((?:[^"\\]|\\.)*)"`;
const states = String.raw`((?: \[(?:[^\]"]|"(?:[^"\\]|\\.)*")*\])*)`;
const pattern = new RegExp(String.raw`^( *)([a-z]+)(?: ${quoted})?${states}(?:: ${quoted})?`);

export class OpenClawAgent implements Agent {
  seen: Seen[] = [];
  bytes = 0;
  readonly #call: (args: object) => Promise<WebAnswer>;

  constructor(call: (args: object) => Promise<WebAnswer>) {
    this.#call = call;
  }

  async look(options: object = {}): Promise<readonly Seen[]> {
    const text = await this.#read({ action: "snapshot", ...options });
    this.seen = text.split("\n").flatMap(parseLine);
    return this.seen;
  }

  async act(step: Step): Promise<void> {
    const text = await this.#read({ action: "act", request: step });
    for (const line of text.split("\n")) this.#apply(line);
  }

  /** `+` new, `~` changed, `-` gone. */
  #apply(line: string): void {
    const [, mark = "", rest = ""] = /^([+~-]) (.*)$/.exec(line) ?? [];
    if (mark === "") return;
    const [found] = parseLine(rest);
    const at = this.seen.findIndex((known) =>
      mark === "-"
        ? known.line.trim() === rest.trim()
        : found !== undefined && found.ref !== "" && known.ref === found.ref,
    );
    if (mark === "-") {
      // It stands for everything inside.
      const { depth } = this.seen[at] ?? { depth: 0 };
      const inside = this.seen.slice(at + 1).findIndex((other) => other.depth <= depth);
      if (at >= 0) this.seen.splice(at, inside < 0 ? this.seen.length - at : inside + 1);
    } else if (found !== undefined) {
      if (at >= 0) this.seen[at] = found;
      else this.seen.push(found);
    }
  }

  async #read(args: object): Promise<string> {
    const answer = await this.#call(args);
    this.bytes += Buffer.byteLength(answer.ok ? answer.text : (answer.error?.message ?? ""));
    if (!answer.ok) throw new Error(`${JSON.stringify(args)}: ${answer.error?.message}`);
    return answer.text;
  }
}

export function parseLine(line: string): Seen[] {
  const match = pattern.exec(line);
  if (match === null || /^(?:tab|http|<)/.test(line)) return [];
  const [, indent = "", role = "", name = "", brackets = "", text = ""] = match;
  return [
    {
      ref: /\[(e?\d+)\]/.exec(brackets)?.[1] ?? "",
      role,
      name: unquote(name),
      text: unquote(text),
      depth: indent.length,
      line,
    },
  ];
}

const unquote = (text: string): string => text.replaceAll(/\\(.)/g, "$1");
