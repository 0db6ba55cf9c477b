// Thrown inside the analysis when a command line is more than words; the analysis turns it into an answer.
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
