// A reporter for node:test: prints passed, failed and skipped tests as one JSON object.
import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";

export interface Result {
  readonly passed: number;
  readonly failed: readonly { readonly name: string; readonly detail: string }[];
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
}

export default async function* testResults(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failed: Result["failed"][number][] = [];
  const skipped: Result["skipped"][number][] = [];
  let passed = 0;
  for await (const { type, data } of events) {
    if (type === "test:fail") {
      // A suite fails because of a test in it, which has its own entry.
      const { error } = data.details;
      if ((error as { failureType?: string }).failureType === "subtestsFailed") continue;
      failed.push({ name: `${data.file ?? ""}: ${data.name}`, detail: inspect(error.cause ?? error) });
    } else if (type === "test:pass") {
      if (data.skip !== undefined) skipped.push({ name: data.name, reason: String(data.skip) });
      else if (data.details.type !== "suite") passed += 1;
    }
  }
  yield JSON.stringify({ passed, failed, skipped } satisfies Result);
}
