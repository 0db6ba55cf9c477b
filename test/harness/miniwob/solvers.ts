// A small scripted agent for each task: reads the task from the page and acts on what it sees.
import { all, one, taskOf, type Agent, type Seen } from "./agent.ts";

type Solver = (agent: Agent) => Promise<void>;

const click = (agent: Agent, { ref }: Seen): Promise<void> => agent.act({ kind: "click", ref });
const type = (agent: Agent, { ref }: Seen, text: string): Promise<void> => agent.act({ kind: "type", ref, text });
const submit = (agent: Agent, name = "Submit"): Promise<void> => click(agent, one(agent, "button", name));

/** The words that the task quotes. */
const quotedIn = (agent: Agent): string[] => [...taskOf(agent).matchAll(/"([^"]+)"/g)].map(([, word = ""]) => word);

function wordIn(agent: Agent, pattern: RegExp): string {
  const [, word] = pattern.exec(taskOf(agent)) ?? [];
  if (word === undefined) throw new Error(`cannot read the task: ${taskOf(agent)}`);
  return word;
}

const numberIn = (agent: Agent, pattern: RegExp): number => Number(wordIn(agent, pattern));

export const solvers: Readonly<Record<string, Solver>> = {
  async "choose-date"(agent) {
    const [, month = 0, day = 0] = /(\d+)\/(\d+)\/\d+/.exec(taskOf(agent))?.map(Number) ?? [];
    await click(agent, one(agent, "textbox"));
    await agent.look();
    const months = "January February March April May June July August September October November December".split(" ");
    for (let at = 0; at < 12 && !agent.seen.some(({ line }) => line.includes(months[month - 1] ?? "?")); at++) {
      await click(agent, one(agent, "text", "Prev"));
      await agent.look();
    }
    await click(agent, one(agent, "link", String(day)));
    await submit(agent);
  },
  async "choose-list"(agent) {
    await agent.act({ kind: "select", ref: one(agent, "combobox").ref, values: [wordIn(agent, /Select (.+) from/)] });
    await submit(agent);
  },
  async "click-button-sequence"(agent) {
    await submit(agent, "ONE");
    await submit(agent, "TWO");
  },
  "click-button": (agent) => submit(agent, quotedIn(agent)[0]),
  "click-checkboxes-large": checkBoxes,
  "click-checkboxes": checkBoxes,
  "click-collapsible-2": (agent) => findLink(agent, "tab"),
  async "click-color"(agent) {
    await agent.look({ graphics: true });
    const boxes = all(agent, "graphic", "color");
    const colorOf = ({ line }: Seen): string => / (#\w{6}) /.exec(line)?.[1] ?? "";
    const named = colors[/the (\w+) colored/.exec(taskOf(agent))?.[1] ?? ""];
    // Without a name the task shows the color as the first box.
    const wanted = named ?? (boxes[0] === undefined ? "" : colorOf(boxes[0]));
    await agent.act({ kind: "click", ref: boxes.findLast((box) => colorOf(box) === wanted)?.ref });
  },
  "click-dialog-2": (agent) => submit(agent, quotedIn(agent)[0] === "x" ? "Close" : quotedIn(agent)[0]),
  async "click-link"(agent) {
    const [word = ""] = quotedIn(agent);
    const text = agent.seen.find(
      ({ text: words, role }) => role === "text" && words.includes(word) && words !== taskOf(agent),
    );
    await agent.act({ kind: "click", ref: text?.ref, text: word });
  },
  async "click-menu-2"(agent) {
    await submit(agent, "Menu");
    const [, word = ""] = quotedIn(agent);
    for (const item of all(agent, "menuitem").filter(({ ref }) => ref !== ""))
      if (all(agent, "menuitem", word).length === 0) {
        await agent.act({ kind: "hover", ref: item.ref });
        // Menus open a moment after the pointer rests on them.
        await agent.act({ kind: "wait", timeMs: 400 });
      }
    await click(agent, one(agent, "menuitem", word));
  },
  async "click-option"(agent) {
    await click(agent, one(agent, "radio", wordIn(agent, /Select (.+) and click/)));
    await submit(agent);
  },
  async "click-scroll-list"(agent) {
    const values = wordIn(agent, /Select (.+) from/).split(/, | and /);
    await agent.act({ kind: "select", ref: one(agent, "listbox").ref, values });
    await submit(agent);
  },
  "click-tab-2": (agent) => findLink(agent, "tab"),
  async "click-widget"(agent) {
    const [kind = ""] = quotedIn(agent);
    if (kind !== "textarea" && kind !== "text") return click(agent, one(agent, kind));
    // Only the plain accessibility tree tells fields of one line and of several lines apart.
    const fields = all(agent, "textbox");
    const lines = (await agent.look({ snapshotFormat: "aria" })).filter(({ role }) => role === "textbox");
    const at = lines.findIndex(({ line }) => line.includes("[multiline]") === (kind === "textarea"));
    await agent.act({ kind: "click", ref: fields[at]?.ref });
  },
  async "copy-paste"(agent) {
    const [source, target] = all(agent, "textbox").toSorted((a, b) => b.text.length - a.text.length);
    await agent.act({ kind: "press", ref: source?.ref, key: "Control+a" });
    await agent.act({ kind: "press", key: "Control+c" });
    await agent.act({ kind: "press", ref: target?.ref, key: "Control+v" });
    await submit(agent);
  },
  async "drag-box"(agent) {
    await agent.act({ kind: "drag", startRef: one(agent, "text", "s").ref, endRef: one(agent, "text", "L").ref });
    await submit(agent);
  },
  async "drag-items"(agent) {
    const items = all(agent, "listitem");
    const from = items.findIndex(({ text }) => text === wordIn(agent, /Drag (\S+) /));
    const to = positionIn(taskOf(agent), from, items.length);
    await agent.act({ kind: "drag", startRef: items[from]?.ref, endRef: items[to]?.ref });
  },
  async "email-inbox-forward"(agent) {
    const [, sender = "", receiver = ""] = /by (\S+) and forward that email to (\S+)\./.exec(taskOf(agent)) ?? [];
    await click(agent, one(agent, "text", sender));
    await agent.look();
    await click(agent, one(agent, "text", "Forward"));
    await agent.look();
    await type(agent, one(agent, "textbox"), receiver);
    const send = all(agent, "clickable").at(-1);
    if (send !== undefined) await click(agent, send);
  },
  async "enter-date"(agent) {
    const [month, day, year] = wordIn(agent, /Enter (\S+) as/).split("/");
    await type(agent, one(agent, "textbox"), `${year}-${month}-${day}`);
    await submit(agent);
  },
  async "enter-password"(agent) {
    for (const field of all(agent, "textbox")) await type(agent, field, quotedIn(agent)[0] ?? "");
    await submit(agent);
  },
  async "enter-text-dynamic"(agent) {
    await type(agent, one(agent, "textbox"), quotedIn(agent)[0] ?? "");
    await submit(agent);
  },
  async "enter-time"(agent) {
    const [, hour = "", minute = "", half = ""] = /(\d+):(\d+) ([AP]M)/.exec(taskOf(agent)) ?? [];
    const hours = (Number(hour) % 12) + (half === "PM" ? 12 : 0);
    await type(agent, one(agent, "textbox"), `${String(hours).padStart(2, "0")}:${minute}`);
    await submit(agent);
  },
  async "focus-text-2"(agent) {
    const field = all(agent, "textbox")[numberIn(agent, /the (\d)/) - 1];
    await agent.act({ kind: "click", ref: field?.ref });
  },
  async "form-sequence-2"(agent) {
    const radio = all(agent, "radio")[numberIn(agent, /the (\d)\w+ radio/) - 1];
    await agent.act({ kind: "click", ref: radio?.ref });
    const field = all(agent, "textbox")[numberIn(agent, /the (\d)\w+ textbox/) - 1];
    await agent.act({ kind: "type", ref: field?.ref, text: quotedIn(agent)[0] ?? "" });
    await submit(agent);
  },
  async "highlight-text"(agent) {
    const [, paragraph] = agent.seen.filter(({ text }) => text.length > 10);
    await agent.act({ kind: "select", ref: paragraph?.ref, text: "" });
    await submit(agent);
  },
  async "login-user-popup"(agent) {
    for (const [at, words] of quotedIn(agent).entries()) {
      await agent.act({ kind: "click", ref: all(agent, "textbox")[at]?.ref });
      if (all(agent, "button", "Cancel").length > 0) await submit(agent, "Cancel");
      await agent.act({ kind: "type", ref: all(agent, "textbox")[at]?.ref, text: words });
    }
    await submit(agent, "OK");
  },
  async "navigate-tree"(agent) {
    const [word = ""] = quotedIn(agent);
    for (let turn = 0; turn < 20; turn++) {
      await agent.look({ graphics: true });
      const target = all(agent, "text", word)[0] ?? all(agent, "listitem", word)[0];
      if (target !== undefined) return click(agent, target);
      await click(agent, one(agent, "graphic", /expandable/));
    }
  },
  async "search-engine"(agent) {
    const [word = ""] = quotedIn(agent);
    const wanted = numberIn(agent, /the (\d)\w+ search result/) - 1;
    await type(agent, one(agent, "textbox"), word);
    await submit(agent, "Search");
    await agent.look();
    const page = Math.floor(wanted / 3) + 1;
    if (page > 1) {
      await click(agent, one(agent, "link", String(page)));
      await agent.look();
    }
    const results = all(agent, "link").filter(({ name }) => !/^(?:[<>\d]|First|Prev|Next|Last)/.test(name));
    await agent.act({ kind: "click", ref: results[wanted % 3]?.ref });
  },
  async "social-media"(agent) {
    const user = wordIn(agent, /user (@\w+)/);
    const [action = ""] = quotedIn(agent);
    await agent.look({ graphics: true });
    const icons = all(agent, "graphic").filter(({ line }) => line.includes(user));
    const own = icons.find(({ name }) => name === action.toLowerCase());
    if (own !== undefined) return click(agent, own);
    await agent.act({ kind: "click", ref: icons.find(({ name }) => name === "more")?.ref });
    await click(agent, one(agent, "listitem", action));
  },
  async terminal(agent) {
    const field = one(agent, "textbox");
    const enter = (line: string) => agent.act({ kind: "type", ref: field.ref, text: line, slowly: true, submit: true });
    await enter("ls");
    await agent.look();
    const [, ending = ""] = /extension (\.\S+)$/.exec(taskOf(agent)) ?? [];
    const listed = agent.seen.findIndex(({ text }) => text === "user$ ls");
    const files = (agent.seen[listed + 1]?.text ?? "").split(" ");
    const file = files.find((name) => (ending === "" ? !name.includes(".") : name.endsWith(ending)));
    await enter(`rm ${file}`);
  },
  async "text-editor"(agent) {
    const words = /give the text (\S+) the/.exec(taskOf(agent))?.[1] ?? "";
    await agent.act({ kind: "select", ref: one(agent, "paragraph").ref, text: words });
    const at = ["bold", "italics", "underlined"].findIndex((style) => taskOf(agent).includes(style));
    await agent.act({ kind: "click", ref: all(agent, "button")[at]?.ref });
    await submit(agent);
  },
  async "use-autocomplete"(agent) {
    const [start = "", end = ""] = quotedIn(agent);
    await agent.act({ kind: "type", ref: one(agent, "textbox").ref, text: start, slowly: true });
    await agent.act({ kind: "wait", timeMs: 500 });
    const option = agent.seen.find(
      ({ role, name, text }) =>
        /item|option|clickable|text/.test(role) && new RegExp(`^${start}.*${end}$`).test(name || text),
    );
    await agent.act({ kind: "click", ref: option?.ref });
    await submit(agent);
  },
  async "use-slider"(agent) {
    const wanted = numberIn(agent, /Select (-?\d+) with/);
    const button = one(agent, "button", "Submit");
    const value = (): number => Number(agent.seen.find(({ text }) => /^-?\d+$/.test(text))?.text);
    // The handle is in front of the button in the order of the Tab key.
    await agent.act({ kind: "press", ref: button.ref, key: "Shift+Tab" });
    const by = wanted - value();
    if (by !== 0) await agent.act({ kind: "press", key: by > 0 ? "ArrowRight" : "ArrowLeft", count: Math.abs(by) });
    await click(agent, button);
  },
  async "use-spinner"(agent) {
    const wanted = numberIn(agent, /Select (-?\d+) with/);
    const field = one(agent, "spinbutton");
    const key = wanted > Number(field.text) ? "ArrowUp" : "ArrowDown";
    await agent.act({ kind: "press", ref: field.ref, key, count: Math.abs(wanted - Number(field.text)) });
    await submit(agent);
  },
};

const colors: Readonly<Record<string, string>> = {
  red: "#ff0000",
  blue: "#0000ff",
  olive: "#808000",
  lime: "#00ff00",
  black: "#000000",
  white: "#ffffff",
  grey: "#808080",
  purple: "#800080",
  orange: "#ffa500",
  yellow: "#ffff00",
  cyan: "#00ffff",
  pink: "#ffc0cb",
  magenta: "#ff00ff",
};

async function checkBoxes(agent: Agent): Promise<void> {
  const names = wordIn(agent, /Select (.+) and click/).split(", ");
  const fields = names
    .filter((name) => name !== "nothing")
    .map((name) => ({ ref: one(agent, "checkbox", name).ref, type: "checkbox", value: true }));
  if (fields.length > 0) await agent.act({ kind: "fill", fields });
  await submit(agent);
}

/** Opens section after section until one contains the words, then clicks them. */
async function findLink(agent: Agent, role: string): Promise<void> {
  const [word = ""] = quotedIn(agent);
  const sections = all(agent, role);
  for (const section of sections) {
    await click(agent, section);
    await agent.look();
    const words = agent.seen.filter(({ text }) => ` ${text} `.includes(` ${word} `) && text !== taskOf(agent));
    for (const { ref } of words) {
      if (ref !== "") await agent.act({ kind: "click", ref, text: word });
      if (isOver(agent)) return;
    }
  }
}

/** The page offers the next episode. */
const isOver = (agent: Agent): boolean => agent.seen.some(({ text }) => text === "START");

function positionIn(task: string, from: number, count: number): number {
  if (task.includes("top")) return 0;
  if (task.includes("bottom")) return count - 1;
  if (task.includes("down by one")) return from + 1;
  if (task.includes("up by one")) return from - 1;
  return Number(/to the (\d)/.exec(task)?.[1]) - 1;
}
