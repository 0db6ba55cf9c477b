// `openclaw browser` commands for cookies, storage, and how the browser presents itself to pages.
import { amount, browserCommand, listOf, tabOption, textOf, type Answer } from "../browser-request.ts";
import { UsageError, type Argument, type Command, type Example, type Invocation, type Options } from "../command.ts";
import { parseObject } from "../json5.ts";

const clear = { clear: { type: "boolean", description: "Back to normal." } } as const;

export const commands: Readonly<Record<string, Command>> = {
  "cookies list": browserCommand({
    options: tabOption,
    examples: [{ line: "browser cookies", does: "name, value and domain of each" }],
    request: (client, { options }) => client.get("/cookies", { targetId: options["target-id"] }),
    text: (answer) =>
      listOf(answer, "cookies")
        .map((cookie) => `${textOf(cookie, "domain")} ${textOf(cookie, "name")}=${textOf(cookie, "value")}`)
        .join("\n") || "No cookies.",
  }),
  "cookies set": setter("/cookies/set", {
    arguments: [
      { name: "name", description: "Name of the cookie." },
      { name: "value", description: "Its value." },
    ],
    options: { url: { type: "string", value: "url", description: "Page it belongs to (default: the open one)." } },
    examples: [{ line: "browser cookies set theme dark --url https://example.com", does: "one cookie" }],
    fields: ({ arguments: [name, value], options: { url } }) => ({
      cookie: { name, value, ...(url === undefined ? {} : { url }) },
    }),
  }),
  "cookies clear": setter("/cookies/clear", {
    examples: [{ line: "browser cookies clear", does: "logs out everywhere in this profile" }],
    fields: () => ({}),
  }),
  ...storage("local"),
  ...storage("session"),
  "set offline": setter("/set/offline", {
    arguments: [{ name: "state", description: "on or off." }],
    examples: [{ line: "browser set offline on", does: "as if the network were gone" }],
    fields: ({ arguments: [state] }) => ({ offline: isOn(state) }),
  }),
  "set headers": setter("/set/headers", {
    arguments: [{ name: "headers", description: "An object with a value for each header.", optional: true }],
    options: clear,
    examples: [
      { line: `browser set headers '{"X-Debug": "1"}'`, does: "sent with every request of the tab" },
      { line: "browser set headers --clear", does: "no extra headers" },
    ],
    fields: ({ arguments: [headers], options }) =>
      options.clear === true ? { clear: true } : { headers: parseObject(headers ?? "", "<headers>") },
  }),
  "set credentials": setter("/set/credentials", {
    arguments: [
      { name: "user", description: "User name.", optional: true },
      { name: "password", description: "Password.", optional: true },
    ],
    options: clear,
    examples: [{ line: "browser set credentials ann secret", does: "for pages that ask with HTTP Basic" }],
    fields: ({ arguments: [username, password], options }) => {
      if (options.clear === true) return { clear: true };
      if (username === undefined || password === undefined)
        throw new UsageError("give <user> and <password>, or --clear");
      return { username, password };
    },
  }),
  "set geo": setter("/set/geolocation", {
    arguments: [
      { name: "latitude", description: "In degrees.", optional: true },
      { name: "longitude", description: "In degrees.", optional: true },
    ],
    options: {
      ...clear,
      accuracy: { type: "string", value: "meters", description: "Accuracy of the position." },
      origin: { type: "string", value: "origin", description: "Site that may read it (default: the open one)." },
    },
    examples: [
      { line: "browser set geo 38.72 -9.14", does: "the open site may read this position" },
      { line: "browser set geo --clear", does: "no position" },
    ],
    fields: ({ arguments: [latitude, longitude], options }) => {
      if (options.clear === true) return { clear: true };
      if (latitude === undefined || longitude === undefined)
        throw new UsageError("give <latitude> and <longitude>, or --clear");
      return {
        latitude: amount("latitude", latitude),
        longitude: amount("longitude", longitude),
        accuracy: options.accuracy === undefined ? undefined : amount("accuracy", options.accuracy),
        origin: options.origin,
      };
    },
  }),
  "set media": setter("/set/media", {
    arguments: [{ name: "scheme", description: "dark, light, no-preference or none." }],
    examples: [{ line: "browser set media dark", does: "pages use their dark colors" }],
    fields: ({ arguments: [colorScheme] }) => ({ colorScheme }),
  }),
  "set timezone": setter("/set/timezone", {
    arguments: [{ name: "zone", description: "An IANA time zone." }],
    examples: [{ line: "browser set timezone Europe/Lisbon", does: "for this tab" }],
    fields: ({ arguments: [timezoneId] }) => ({ timezoneId }),
  }),
  "set locale": setter("/set/locale", {
    arguments: [{ name: "locale", description: "A language tag." }],
    examples: [{ line: "browser set locale pt-PT", does: "dates and numbers of this tab" }],
    fields: ({ arguments: [locale] }) => ({ locale }),
  }),
  "set device": setter("/set/device", {
    arguments: [{ name: "device", description: "Name of a Playwright device." }],
    examples: [{ line: "browser set device 'iPhone 14'", does: "size, touch and user agent of a phone" }],
    fields: ({ arguments: [name] }) => ({ name }),
  }),
  "set viewport": setter("/act", {
    arguments: [
      { name: "width", description: "In pixels." },
      { name: "height", description: "In pixels." },
    ],
    examples: [{ line: "browser set viewport 390 844", does: "same as browser resize" }],
    fields: ({ arguments: [width = "", height = ""] }) => ({
      kind: "resize",
      width: amount("width", width),
      height: amount("height", height),
    }),
  }),
};

interface Setter<O extends Options> {
  readonly arguments?: readonly Argument[];
  readonly options?: O;
  readonly examples: readonly Example[];
  readonly fields: (given: Invocation<O>) => object;
}

function setter<const O extends Options = Record<never, never>>(path: string, shape: Setter<O>): Command {
  const { fields, options, ...rest } = shape;
  return browserCommand({
    ...rest,
    options: { ...tabOption, ...options },
    request: (client, given) =>
      client.post(path, { targetId: given.options["target-id"], ...fields(given as Invocation<O>) }),
    text: () => "Done.",
  });
}

function storage(kind: "local" | "session"): Record<string, Command> {
  const key: Argument = { name: "key", description: "Name of the entry." };
  return {
    [`storage ${kind} get`]: browserCommand({
      arguments: [{ ...key, optional: true }],
      options: tabOption,
      examples: [{ line: `browser storage ${kind} get`, does: "all entries of the open site" }],
      request: (client, { arguments: [name], options }) =>
        client.get(`/storage/${kind}`, { key: name, targetId: options["target-id"] }),
      text: (answer) =>
        Object.entries((answer["values"] ?? {}) as Answer)
          .map(([name, value]) => `${name}=${String(value)}`)
          .join("\n") || "No entries.",
    }),
    [`storage ${kind} set`]: setter(`/storage/${kind}/set`, {
      arguments: [key, { name: "value", description: "Its value." }],
      examples: [{ line: `browser storage ${kind} set theme dark`, does: "one entry of the open site" }],
      fields: ({ arguments: [name, value] }) => ({ key: name, value }),
    }),
    [`storage ${kind} clear`]: setter(`/storage/${kind}/clear`, {
      examples: [{ line: `browser storage ${kind} clear`, does: "removes all entries of the open site" }],
      fields: () => ({}),
    }),
  };
}

function isOn(state: string | undefined): boolean {
  if (state === "on" || state === "off") return state === "on";
  throw new UsageError(`<state> must be on or off, not ${JSON.stringify(state)}`);
}
