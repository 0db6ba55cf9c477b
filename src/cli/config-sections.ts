// The parts of the config that can be asked for one by one: their keys, the questions, what each takes.

export interface Question {
  readonly path: string;
  readonly ask: string;
  readonly choices?: readonly string[];
  /** Not shown while typed. */
  readonly secret?: boolean;
  readonly number?: boolean;
}

export const sections: Readonly<Record<string, readonly Question[]>> = {
  web: [
    { path: "tools.web.search.provider", ask: "Search service", choices: ["brave", "perplexity", "grok"] },
    { path: "tools.web.search.apiKey", ask: "Key of the search service", secret: true },
  ],
  gateway: [
    { path: "gateway.port", ask: "Port", number: true },
    {
      path: "gateway.bind",
      ask: "Who can reach it: this machine only, or your network",
      choices: ["loopback", "lan", "tailnet", "auto"],
    },
  ],
  workspace: [{ path: "agents.defaults.workspace", ask: "Folder the agent works in" }],
};
