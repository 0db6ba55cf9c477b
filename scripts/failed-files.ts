// A reporter for node:test: the files in which something failed, a line each.
import type { TestEvent } from "node:test/reporters";

export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const seen = new Set<string>();
  for await (const event of events) {
    if (event.type !== "test:fail" || event.data.todo !== undefined) continue;
    const file = event.data.file ?? event.data.name;
    if (!seen.has(file)) yield `${file}\n`;
    seen.add(file);
  }
}
