// Contract cases of every wire, against a loopback server with the vendor's published format.
import { after, describe } from "node:test";

import type { FakeServer } from "../../test/fakes/server.ts";
import { aborts } from "./cases/aborts.ts";
import { answers } from "./cases/answers.ts";
import { conversations } from "./cases/conversations.ts";
import { failures } from "./cases/failures.ts";
import { settings } from "./cases/settings.ts";
import type { OpenModelCase, WireSubject } from "./cases/subject.ts";

export function modelCases(subject: WireSubject): void {
  describe(`model cases: ${subject.name}`, () => {
    const servers: FakeServer[] = [];
    after(() => Promise.all(servers.map((server) => server.close())));
    const open: OpenModelCase = async (script, deadlines) => {
      const server = await subject.start(script);
      servers.push(server);
      return { server, model: await subject.open(server.url, deadlines === undefined ? {} : { deadlines }) };
    };
    answers(subject, open);
    conversations(subject, open);
    settings(subject, open);
    failures(subject, open);
    aborts(open);
  });
}
