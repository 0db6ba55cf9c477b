// What a scripted agent sees of a page and can do on it, whichever browser tool it uses.

export interface Seen {
  readonly ref: string;
  readonly role: string;
  readonly name: string;
  readonly text: string;
  readonly depth: number;
  /** The whole line. */
  readonly line: string;
}

export type Step = { readonly kind: string } & Readonly<Record<string, unknown>>;

export interface Agent {
  /** The page as the agent knows it, in document order. */
  readonly seen: readonly Seen[];
  /** Takes a snapshot. */
  look(options?: object): Promise<readonly Seen[]>;
  /** Performs a step and learns what changed. */
  act(step: Step): Promise<void>;
  /** Bytes of text that the tool answered so far. */
  readonly bytes: number;
}

/** The task is the first text of the page. */
export function taskOf({ seen }: Agent): string {
  return seen.find(({ text }) => text.length > 10)?.text ?? "";
}

export function all({ seen }: Agent, role: string, name?: string | RegExp): Seen[] {
  return seen.filter((one) => {
    if (one.role !== role) return false;
    const label = one.name === "" ? one.text : one.name;
    return name === undefined || (typeof name === "string" ? label === name : name.test(label));
  });
}

export function one(agent: Agent, role: string, name?: string | RegExp): Seen {
  const [found] = all(agent, role, name);
  if (found !== undefined) return found;
  const lines = agent.seen.map(({ line }) => line).join("\n");
  throw new Error(`no ${role} ${String(name ?? "")} in:\n${lines}`);
}
