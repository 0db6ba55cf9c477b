// Which entries understand an attachment, and which attachments are chosen, as tables.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { Config } from "../../config/schema/index.ts";
import type { SessionKey } from "../../core/names.ts";
import { fillIn } from "./run-program.ts";
import { isInScope, mediaEntries, selectAttachments, type UnderstoodKind } from "./settings.ts";

type Media = NonNullable<NonNullable<Config["tools"]>["media"]>;
const config = (media: Media): Config => ({ tools: { media } });
const names = (media: Media, kind: UnderstoodKind): string[] =>
  mediaEntries(config(media), kind).map(({ use }) => (use.type === "cli" ? use.command : use.provider));

test("tries the entries of the kind, then shared entries that understand it", () => {
  const shared = [
    { provider: "google" },
    { provider: "openai" },
    { provider: "groq" },
    { provider: "anthropic" },
    { type: "cli" as const, command: "gemini" },
    { provider: "mine", capabilities: ["video" as const] },
  ];
  const media = { audio: { models: [{ command: "whisper" }, { provider: "Speech" }] }, models: shared };
  assert.deepEqual(names(media, "audio"), ["whisper", "speech", "google", "openai", "groq", "gemini"]);
  assert.deepEqual(names(media, "image"), ["google", "openai", "anthropic", "gemini"]);
  assert.deepEqual(names(media, "video"), ["google", "gemini", "mine"]);
});

test("has no entry for a kind that is off or has no model, and well-known providers for one that is on", () => {
  assert.deepEqual(names({}, "audio"), []);
  assert.deepEqual(names({ models: [{ provider: "google" }], audio: { enabled: false } }, "audio"), []);
  assert.deepEqual(names({ audio: { enabled: true } }, "audio"), ["openai", "groq", "google"]);
  assert.deepEqual(names({ audio: { models: [{ type: "cli" }, { model: "x" }] } }, "audio"), []);
});

test("an entry overrides the settings of its kind", () => {
  const [first, second] = mediaEntries(
    config({
      audio: {
        language: "de",
        maxBytes: 10,
        headers: { a: "1", b: "2" },
        models: [{ provider: "x" }, { provider: "y", language: "en", timeoutSeconds: 1, headers: { b: "3" } }],
      },
    }),
    "audio",
  );
  assert.deepEqual([first?.language, first?.maxBytes, first?.timeoutMs], ["de", 10, 60_000]);
  assert.deepEqual([second?.language, second?.timeoutMs, second?.headers], ["en", 1000, { a: "1", b: "3" }]);
});

test("chooses the first attachment, or as many as the config says", () => {
  const chosen = (attachments: NonNullable<Media["audio"]>["attachments"]): readonly number[] =>
    selectAttachments(config({ audio: { attachments } }), "audio", [1, 2, 3]);
  assert.deepEqual(chosen(undefined), [1]);
  assert.deepEqual(chosen({ maxAttachments: 2 }), [1]);
  assert.deepEqual(chosen({ prefer: "last" }), [3]);
  assert.deepEqual(chosen({ mode: "all", maxAttachments: 2 }), [1, 2]);
  assert.deepEqual(chosen({ mode: "all", maxAttachments: 2, prefer: "last" }), [2, 3]);
  assert.deepEqual(chosen({ mode: "all", maxAttachments: 9, prefer: "last" }), [1, 2, 3]);
  assert.deepEqual(chosen({ mode: "all", maxAttachments: 0, prefer: "last" }), []);
});

test("the first rule of the scope that matches decides", () => {
  const allows = (key: string, scope: NonNullable<Media["audio"]>["scope"]): boolean =>
    isInScope(config({ audio: { scope } }), "audio", key as SessionKey, undefined);
  const group = "agent:main:telegram:group:-1";
  const rules = [
    { action: "allow" as const, match: { channel: "telegram" } },
    { action: "deny" as const, match: { chatType: "group" as const } },
  ];
  assert.equal(allows(group, { rules }), true);
  assert.equal(allows(group, { rules: rules.toReversed() }), false);
  assert.equal(allows("agent:main:main", { rules, default: "deny" }), false);
  assert.equal(allows("agent:main:main", undefined), true);
});

test("placeholders are replaced once, and only known ones", () => {
  const values = { MediaPath: "/x/{{Prompt}}.wav", Prompt: "$& {{MediaPath}}" };
  assert.equal(fillIn("--in={{MediaPath}}", values), "--in=/x/{{Prompt}}.wav");
  assert.equal(
    fillIn("{{Prompt}} {{toString}} {{ MediaPath }}", values),
    "$& {{MediaPath}} {{toString}} {{ MediaPath }}",
  );
});
