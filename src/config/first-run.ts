// The first config: short, safe and commented.

export interface FirstRun {
  /** The shared secret of clients. */
  readonly token: string;
  /** A sandbox works on this machine, so it is enabled. */
  readonly sandbox?: boolean;
}

export function firstRunText({ token, sandbox = false }: FirstRun): string {
  return `// The settings of your gateway. This is JSON5: comments and trailing commas are welcome.
// Check it with: openclaw config validate
// Completion in your editor: openclaw config schema > openclaw.schema.json, then add $schema: "./openclaw.schema.json".
{
  gateway: {
    // The gateway runs on this machine and listens only here.
    mode: "local",
    // Whoever connects must show this token. It was made for you; treat it like a password.
    auth: { mode: "token", token: ${JSON.stringify(token)} },
  },

  tools: {
    // File tools stay inside the agent's workspace. Set to false to let them reach the rest of your disk.
    fs: { workspaceOnly: true },${sandbox ? sandboxTools : ""}
  },

  // Agents get a browser of their own. Without this line they use tabs of your Chrome that you share.
  browser: { defaultProfile: "openclaw" },

  agents: {
    defaults: {${sandbox ? sandboxText : ""}
      // Which model answers, as provider/model. Leave it out and the first key in your environment decides.
      // model: "anthropic/claude-sonnet-4-5",
    },
  },
}
`;
}

const sandboxTools = `
    // Tools that sandboxed sessions may use. Left out, only those for files, commands and sessions.
    sandbox: { tools: { allow: ["*"], deny: ["gateway"] } },`;

const sandboxText = `
      // Commands and the browser run in a sandbox that sees the workspace and nothing else of your disk.
      sandbox: { mode: "all", workspaceAccess: "rw", browser: { enabled: true } },
`;
