// Parses identity cards as people write them.
import assert from "node:assert/strict";
import { test } from "node:test";

import { readIdentityCard } from "./identity-card.ts";

test("reads fields from a list, bold or plain, and skips placeholders", () => {
  assert.deepEqual(
    readIdentityCard(
      "# Who am I\n- **Name:** Molly\n* Vibe: calm and dry\n**Emoji:** 🦀\nAvatar: _(to be found)_\nsome words: of no field\n",
    ),
    { name: "Molly", theme: "calm and dry", emoji: "🦀" },
  );
  assert.deepEqual(readIdentityCard("- Theme: first\r\n- Vibe: second\r\n- Avatar: `pic.png`"), {
    theme: "first",
    avatar: "pic.png",
  });
  assert.deepEqual(readIdentityCard("nothing here"), {});
});
