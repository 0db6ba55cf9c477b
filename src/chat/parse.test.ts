// Parsing of messages: commands, directives, and all other text unchanged.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import fc from "fast-check";

import { commandWords, directiveWords, shortcutWords } from "./command/list.ts";
import { isStopText, parseMessage, type Grammar, type Parsed } from "./parse.ts";

const grammar: Grammar = {
  commands: commandWords,
  shortcuts: shortcutWords,
  directives: directiveWords,
  modelAliases: new Set(["opus"]),
  resetTriggers: ["start over"],
};
const parse = (text: string): Parsed => parseMessage(text, grammar);
const command = (name: string, args = ""): Parsed => ({ kind: "command", name, args });
const text = (left: string, directives: string[][] = [], shortcuts: string[] = []): Parsed => ({
  kind: "text",
  text: left,
  directives: directives.map(([name = "", args = ""]) => ({ name, args })),
  shortcuts,
});

const table: readonly (readonly [message: string, expected: Parsed])[] = [
  ["hello", text("hello")],
  ["", text("")],
  ["/stop", command("stop")],
  [" STOP. ", command("stop")],
  ["esc", command("stop")],
  ["wait!", command("stop")],
  ["please stop", text("please stop")],
  ["/new", command("new")],
  ["/Reset: tell me a story", command("new", "tell me a story")],
  ["start over", command("new")],
  ["Start over with tea", command("new", "with tea")],
  ["start overboard", text("start overboard")],
  ["! ls -la", command("bash", "ls -la")],
  ["!ls", command("bash", "ls")],
  ["!!!", text("!!!")],
  ["![picture](a.png)", text("![picture](a.png)")],
  ["/bash poll 7", command("bash", "poll 7")],
  ['/tool read {path: "a b"}', command("tool", 'read {path: "a b"}')],
  ['/tool read\n{"path": "a"}', command("tool", 'read\n{"path": "a"}')],
  ["/think high", text("", [["think", "high"]])],
  ["/think: high", text("", [["think", "high"]])],
  ["/t:high", text("", [["think", "high"]])],
  ["/THINK extra high", text("", [["think", "extra high"]])],
  ["/think", text("", [["think"]])],
  ["/think maybe", text("", [["think", "maybe"]])],
  ["/think:maybe", text("", [["think", "maybe"]])],
  ["/elevated maybe", text("", [["elevated", "maybe"]])],
  ["/think about the sea", text("about the sea", [["think"]])],
  ["hey /think high what is up", text("hey what is up", [["think", "high"]])],
  [
    "/think low /verbose on /reasoning off",
    text("", [
      ["think", "low"],
      ["verbose", "on"],
      ["reasoning", "off"],
    ]),
  ],
  ["one\n/think high\ntwo", text("one\ntwo", [["think", "high"]])],
  ["/think\nhigh seas", text("high seas", [["think"]])],
  ["hey /exec host=gateway", text("hey", [["exec", "host=gateway"]])],
  ["/exec host=gateway ask=off run it", text("run it", [["exec", "host=gateway ask=off"]])],
  ["/queue steer debounce:2s cap:25 go", text("go", [["queue", "steer debounce:2s cap:25"]])],
  ["/model openai/gpt-5.2 hi", text("hi", [["model", "openai/gpt-5.2"]])],
  ["/model https://example.org/x is down", text("https://example.org/x is down", [["model"]])],
  ["/model gpt", text("", [["model", "gpt"]])],
  ["/opus", text("", [["model", "opus"]])],
  ["/opus write a poem", text("write a poem", [["model", "opus"]])],
  ["/status", text("", [], ["status"])],
  ["how are you /status today", text("how are you today", [], ["status"])],
  ["/help: and more", text("and more", [], ["help"])],
  ["/id", text("", [], ["whoami"])],
  ["/usr/bin", text("/usr/bin")],
  ["look in /usr/bin and /status/x", text("look in /usr/bin and /status/x")],
  ["see https://example.org/status", text("see https://example.org/status")],
  ["/unknown thing", text("/unknown thing")],
  ["and/or /think-hard", text("and/or /think-hard")],
  ["hey /think:sea", text("hey /think:sea")],
  ["tell me of /new", text("tell me of /new")],
  ["run `now /status here` please", text("run `now /status here` please")],
  ["```\n/status\n```", text("```\n/status\n```")],
  ["```\n/status\n```\n/status", text("```\n/status\n```", [], ["status"])],
  ["> /status\nwhat is that?", text("> /status\nwhat is that?")],
];

describe("messages", () => {
  for (const [message, expected] of table) {
    test(JSON.stringify(message), () => assert.deepEqual(parse(message), expected));
  }
});

const knownWords = [...commandWords.keys(), ...shortcutWords.keys(), ...directiveWords.keys(), "opus"];
const soup = fc
  .array(
    fc.oneof(
      fc.constantFrom(...knownWords.map((word) => `/${word}`), ...knownWords.map((word) => `/${word}:`)),
      fc.constantFrom(
        "high",
        "on",
        "host=gateway",
        "cap:3",
        "list",
        "3",
        "a/b",
        "`",
        "```",
        "> ",
        "!",
        "stop",
        "\u00a0",
      ),
      fc.string({ unit: "binary", maxLength: 12 }),
    ),
    { maxLength: 24 },
  )
  .chain((words) =>
    fc
      .array(fc.constantFrom(" ", "\n", "\t", "", "  "), { minLength: words.length, maxLength: words.length })
      .map((gaps) => words.map((word, at) => `${gaps[at] ?? ""}${word}`).join("")),
  );

describe("any text", () => {
  test("without a known command stays unchanged", () => {
    const plain = fc
      .oneof(soup, fc.string({ unit: "binary", maxLength: 200 }))
      .filter((message) => !mentionsCommand(message));
    fc.assert(
      fc.property(plain, (message) => assert.deepEqual(parse(message), text(message))),
      { numRuns: 2000 },
    );
  });

  test("never throws, and keeps the remaining words in order", () => {
    fc.assert(
      fc.property(soup, (message) => {
        const parsed = parse(message);
        if (parsed.kind === "command") return;
        const before = message.split(/\s+/);
        let at = 0;
        for (const word of parsed.text.split(/\s+/).filter((part) => part !== "")) {
          at = before.indexOf(word, at) + 1;
          assert.notEqual(at, 0, `${JSON.stringify(word)} is out of place`);
        }
      }),
      { numRuns: 4000 },
    );
  });

  test("takes time linear in its length", () => {
    // Counted in words looked at, not in seconds: a rule sees at most nine words however long the message is.
    const seen: number[] = [];
    const counting: Grammar = {
      ...grammar,
      directives: new Map([["think", { name: "think", claims: (words) => (seen.push(words.length), 0) }]]),
    };
    parseMessage("/think ".repeat(50_000), counting);
    parseMessage("`".repeat(200_000), counting);
    parseMessage("`a ".repeat(100_000), counting);
    parseMessage("\n   ".repeat(100_000), counting);
    parseMessage(`/${"a".repeat(500_000)}`, counting);
    parseMessage(`x/ ${" ".repeat(500_000)}y`, counting);
    assert.equal(seen.length, 50_000);
    assert.ok(Math.max(...seen.slice(0, 1000)) <= 10);
  });
});

test("stops only for a message that is exactly a stop word", () => {
  assert.deepEqual(
    ["stop", "/stop", "Stop!", " interrupt ", "/stop:", "stop it", "non-stop", "", "stop\nnow"].map(isStopText),
    [true, true, true, true, true, false, false, false, false],
  );
});

/** Written apart from the parser: any slash word that is known, a leading `!`, a stop word, a trigger. */
function mentionsCommand(message: string): boolean {
  const whole = message.trim().toLowerCase();
  if (whole.startsWith("!") || whole.startsWith("start over") || isStopText(whole)) return true;
  return message.split(/\s+/).some((word) => knownWords.some((known) => word.toLowerCase().startsWith(`/${known}`)));
}
