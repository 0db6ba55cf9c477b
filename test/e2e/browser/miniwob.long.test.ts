// Web tasks written by others, solved with the browser tool alone; the verdict is the page's own.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { noBrowser, startBrowserGround, type BrowserGround } from "../../harness/browser.ts";
import { noShared } from "../../harness/gateway.ts";
import { OpenClawAgent } from "../../harness/miniwob/openclaw-agent.ts";
import { connectEpisodes, serveTasks, taskNames, type Episodes } from "../../harness/miniwob/site.ts";
import { solvers } from "../../harness/miniwob/solvers.ts";

describe("web tasks", { skip: noShared || noBrowser }, () => {
  let ground: BrowserGround;
  let episodes: Episodes;
  before(async () => {
    ground = await startBrowserGround();
    serveTasks(ground.web);
    await ground.browser({ action: "open", targetUrl: "about:blank" });
    episodes = await connectEpisodes(ground.cdpPort);
  });
  after(async () => {
    await episodes?.close();
    await ground.close();
  });

  for (const task of noShared === false ? taskNames() : [])
    test(`solves ${task} by snapshots and acts`, async () => {
      const opened = await ground.browser({ action: "navigate", targetUrl: ground.at(`/tasks/${task}.html`) });
      assert.ok(opened.ok, opened.error?.message);
      await episodes.start(task);
      const agent = new OpenClawAgent(ground.browser);
      await agent.look();
      const solve = solvers[task];
      assert.ok(solve, `no agent for ${task}`);
      await solve(agent);
      const lines = agent.seen.map(({ line }) => line).join("\n");
      assert.ok(((await episodes.verdict(task)) ?? 0) > 0, lines);
    });
});
