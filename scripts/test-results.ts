// A reporter for node:test: what passed, failed and was skipped, as one JSON object at the end.
import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";

export interface Result {
  readonly passed: number;
  readonly failed: readonly { readonly name: string; readonly detail: string }[];
  /** `name: reason`. */
  readonly skipped: readonly string[];
}

export default async function* testResults(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failed: Result["failed"][number][] = [];
  const skipped: string[] = [];
  let passed = 0;
  for await (const { type, data } of events) {
    if (type === "test:fail") {
      // A suite fails because of a test in it, which is listed itself.
      const { error } = data.details;
      if ((error as { failureType?: string }).failureType === "subtestsFailed") continue;
      failed.push({ name: `${data.file ?? ""}: ${data.name}`, detail: inspect(error.cause ?? error) });
    } else if (type === "test:pass" && data.details.type !== "suite") {
      if (data.skip === undefined) passed += 1;
      else skipped.push(`${data.name}: ${String(data.skip)}`);
    }
  }
  yield JSON.stringify({ passed, failed, skipped } satisfies Result);
}
