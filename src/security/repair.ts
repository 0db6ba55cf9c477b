// Repairs offered by findings of the doctor and the audit, applied one after the other.

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

/** One that fails does not stop the others. */
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
