// The sections of the config that `openclaw configure` asks for: their keys, questions and answers.

export interface Question {
  readonly path: string;
  readonly ask: string;
  readonly choices?: readonly string[];
  /** The input is not shown. */
  readonly secret?: boolean;
  readonly number?: boolean;
  /** Asked at a terminal only after this answer. */
  readonly when?: { readonly path: string; readonly is: string };
}

export const sections: Readonly<Record<string, readonly Question[]>> = {
  web: [
    {
      path: "tools.web.search.provider",
      ask: "Search service (duckduckgo and searxng need no key)",
      choices: ["brave", "perplexity", "duckduckgo", "searxng"],
    },
    {
      path: "tools.web.search.apiKey",
      ask: "Key of Brave Search, from https://brave.com/search/api/",
      secret: true,
      when: { path: "tools.web.search.provider", is: "brave" },
    },
    {
      path: "tools.web.search.perplexity.apiKey",
      ask: "Key of Perplexity or OpenRouter",
      secret: true,
      when: { path: "tools.web.search.provider", is: "perplexity" },
    },
    {
      path: "tools.web.search.searxng.baseUrl",
      ask: "Address of your SearXNG, such as http://127.0.0.1:8888",
      when: { path: "tools.web.search.provider", is: "searxng" },
    },
    { path: "tools.web.fetch.firecrawl.apiKey", ask: "Key of Firecrawl, for pages that need JavaScript", secret: true },
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
