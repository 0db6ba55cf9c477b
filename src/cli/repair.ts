// Mends what commands that look for faults found, one step after the other, and tells each.
import type { Io } from "./io.ts";
import { safe } from "./print.ts";

export interface Repair {
  /** What it does, for people. */
  readonly does: string;
  readonly apply: () => void | Promise<void>;
}

export interface Repaired {
  readonly does: string;
  /** Why it could not be done. */
  readonly failed?: string;
}

/** One that fails does not keep the others from being done. */
export async function repairAll(findings: readonly { readonly repair?: Repair | undefined }[]): Promise<Repaired[]> {
  const repaired: Repaired[] = [];
  for (const { repair } of findings) {
    if (repair === undefined) continue;
    const { does } = repair;
    try {
      await repair.apply();
      repaired.push({ does });
    } catch (error) {
      repaired.push({ does, failed: error instanceof Error ? error.message : String(error) });
    }
  }
  return repaired;
}

export function repairLines({ paint }: Io, repaired: readonly Repaired[]): string[] {
  return repaired.map(({ does, failed }) =>
    failed === undefined
      ? `${paint.good("done:")} ${safe(does)}`
      : `${paint.bad("could not")} ${safe(does)}: ${safe(failed)}`,
  );
}
