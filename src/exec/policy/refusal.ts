// Thrown inside the analysis when a command line needs a shell; the analysis turns it into a result.
import type { Concern } from "./analysis.ts";

export class Refusal extends Error {
  readonly concern: Concern;

  constructor(code: string, reason: string) {
    super(reason);
    this.concern = { code, reason };
  }
}

export function refuse(code: string, reason: string): never {
  throw new Refusal(code, reason);
}
