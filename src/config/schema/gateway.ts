// `gateway`: how the gateway listens and who may connect.
import { choice, flag, group, notBuilt, secret, section, text, texts, whole } from "./field.ts";

const fetchLimits = {
  allowUrl: flag("Fetches content that a request gives as a URL.", { default: true }),
  maxRedirects: whole("Maximum number of redirects to follow.", { default: 3, maximum: 20 }),
  timeoutMs: whole("Milliseconds to wait for the download.", { default: 10_000 }),
};

const responses = section("Settings of POST /v1/responses.", {
  enabled: flag("Enables this endpoint.", { default: false }),
  maxBodyBytes: whole("Maximum size of a request in bytes.", { default: 20_000_000 }),
  files: section("Files in requests; also applies to POST /v1/chat/completions.", {
    ...fetchLimits,
    allowedMimes: texts("Accepted MIME types.", {
      default: ["text/plain", "text/markdown", "text/html", "text/csv", "application/json", "application/pdf"],
    }),
    maxBytes: whole("Maximum size of a file in bytes.", { default: 5_242_880 }),
    maxChars: whole("Maximum number of characters kept from a file.", { default: 200_000 }),
    pdf: section("PDF files, read as text.", {
      maxPages: whole("Maximum number of pages to read.", { default: 4 }),
      maxPixels: notBuilt(whole("Maximum number of pixels of a rendered page.", { default: 4_000_000 })),
      minTextChars: notBuilt(
        whole("Pages with fewer characters of text than this are rendered as images.", { default: 200 }),
      ),
    }),
  }),
  images: section("Images in requests; also applies to POST /v1/chat/completions.", {
    ...fetchLimits,
    allowedMimes: texts("Accepted MIME types.", { default: ["image/jpeg", "image/png", "image/gif", "image/webp"] }),
    maxBytes: whole("Maximum size of an image in bytes.", { default: 10_485_760 }),
  }),
});

export const gateway = section("How the gateway listens and who may connect.", {
  mode: choice("Where the gateway runs: local on this machine, remote elsewhere. The gateway starts only with local.", [
    "local",
    "remote",
  ]),
  port: whole("Port for WebSocket and HTTP.", { default: 18_789, minimum: 1, maximum: 65_535 }),
  bind: choice("Addresses the gateway listens on.", ["loopback", "lan", "tailnet", "auto", "custom"], {
    default: "loopback",
  }),
  customBindHost: text("Address to listen on when bind is custom."),
  allowedHosts: texts("Additional host names that clients may send in the Host header."),
  auth: section("How clients authenticate.", {
    mode: choice("Kind of shared secret.", ["token", "password"], { fallback: "token" }),
    token: secret("Shared token. The environment variable OPENCLAW_GATEWAY_TOKEN overrides it."),
    password: secret("Shared password. The environment variable OPENCLAW_GATEWAY_PASSWORD overrides it."),
    allowTailscale: notBuilt(
      flag("Accepts the identity that Tailscale reports for a user.", {
        fallback: "on with tailscale.mode serve, unless mode is password",
      }),
    ),
  }),
  controlUi: section("The Control UI that the gateway serves to browsers.", {
    enabled: flag("Serves the Control UI.", { default: true }),
    basePath: text("URL path of the Control UI.", { default: "/" }),
    root: text(
      "Folder with the page's files, instead of the built-in ones. Everyone who can reach the port can read this folder; hidden files and links that leave it are not served.",
      { place: "kept" },
    ),
    allowedOrigins: texts("Additional browser origins that may connect."),
    allowInsecureAuth: flag("Allows signing in with the token alone over plain HTTP.", { default: false }),
    dangerouslyDisableDeviceAuth: flag("Turns off the device identity check for browsers. Dangerous.", {
      default: false,
    }),
  }),
  trustedProxies: texts("Addresses of proxies whose forwarding headers are trusted."),
  tailscale: notBuilt(
    section("Publishes the gateway through Tailscale.", {
      mode: choice(
        "serve publishes to your tailnet, funnel to the whole internet, off to neither.",
        ["off", "serve", "funnel"],
        { default: "off" },
      ),
      resetOnExit: flag("Removes the publication when the gateway stops.", { default: false }),
    }),
  ),
  tls: notBuilt(
    group("TLS served by the gateway itself.", {
      enabled: flag("Listens with TLS.", { default: false }),
      autoGenerate: flag("Creates a self-signed certificate when none exists.", { default: true }),
      certPath: text("Path of the certificate file."),
      keyPath: text("Path of the private key file.", { place: "hidden" }),
      caPath: text("Path of the file with certificate authorities that client certificates are checked against."),
    }),
  ),
  remote: group("The remote gateway that the command line connects to.", {
    url: text("WebSocket URL of the remote gateway."),
    transport: notBuilt(choice("How to reach the remote gateway.", ["ssh", "direct"], { default: "ssh" })),
    token: secret("Token of the remote gateway."),
    password: secret("Password of the remote gateway."),
    tlsFingerprint: text("SHA-256 fingerprint of the remote gateway's certificate."),
    sshTarget: notBuilt(text("SSH target as user@host.")),
    sshIdentity: notBuilt(text("SSH private key file.")),
  }),
  reload: section("What the gateway does when the config file changes.", {
    mode: choice(
      "hybrid applies what it can and restarts for the rest, hot only applies, restart always restarts, off ignores changes.",
      ["hybrid", "hot", "restart", "off"],
      {
        default: "hybrid",
      },
    ),
    debounceMs: whole("Milliseconds without further changes to wait before reloading.", { default: 300 }),
  }),
  http: section("HTTP endpoints.", {
    endpoints: section("Endpoints for other programs.", {
      chatCompletions: section("Settings of POST /v1/chat/completions.", {
        enabled: flag("Enables this endpoint.", { default: false }),
      }),
      responses,
      mcp: section("Settings of /mcp, which offers the tools through the Model Context Protocol.", {
        enabled: flag("Enables this endpoint.", { default: false }),
        approvals: flag(
          "Lets the user of an MCP client on this machine answer the approval that a call of that client needs, where the client can show questions.",
          { default: true },
        ),
        sampling: flag("Lets tools send prompts to the model of an MCP client that offers it (sampling).", {
          default: false,
        }),
      }),
    }),
  }),
  nodes: section("Paired nodes.", {
    browser: section("Browsers of nodes.", {
      mode: choice(
        "auto uses the browser of a node when a call names no target, manual only when it names a node, off never.",
        ["auto", "manual", "off"],
        { default: "auto" },
      ),
      node: text("Node to use when several offer a browser: its id or name."),
    }),
    allowCommands: texts("Additional commands that the gateway may request from nodes."),
    denyCommands: texts("Commands that the gateway never requests from nodes."),
  }),
});
