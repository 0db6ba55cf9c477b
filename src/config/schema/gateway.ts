// `gateway`: how the gateway listens and whom it lets in.
import { choice, flag, group, notBuilt, secret, section, text, texts, whole } from "./field.ts";

const fetchLimits = {
  allowUrl: flag("Fetch what is given as a URL.", { default: true }),
  maxRedirects: whole("Redirects followed.", { default: 3, maximum: 20 }),
  timeoutMs: whole("Milliseconds to wait.", { default: 10_000 }),
};

const responses = section("POST /v1/responses.", {
  enabled: flag("Answer it.", { default: false }),
  maxBodyBytes: whole("Bytes of a request at most.", { default: 20_000_000 }),
  files: section("Files in requests, also of POST /v1/chat/completions.", {
    ...fetchLimits,
    allowedMimes: texts("Types taken.", {
      default: ["text/plain", "text/markdown", "text/html", "text/csv", "application/json", "application/pdf"],
    }),
    maxBytes: whole("Bytes of a file at most.", { default: 5_242_880 }),
    maxChars: whole("Characters kept of a file.", { default: 200_000 }),
    pdf: notBuilt(
      section("PDF files; they are refused until they can be read.", {
        maxPages: whole("Pages looked at.", { default: 4 }),
        maxPixels: whole("Pixels of a rendered page.", { default: 4_000_000 }),
        minTextChars: whole("Characters of text below which pages are rendered.", { default: 200 }),
      }),
    ),
  }),
  images: section("Pictures in requests, also of POST /v1/chat/completions.", {
    ...fetchLimits,
    allowedMimes: texts("Types taken.", { default: ["image/jpeg", "image/png", "image/gif", "image/webp"] }),
    maxBytes: whole("Bytes of a picture at most.", { default: 10_485_760 }),
  }),
});

export const gateway = section("How the gateway listens and whom it lets in.", {
  mode: choice("Whether the gateway runs here or elsewhere; it starts only with local.", ["local", "remote"]),
  port: whole("Port for WebSocket and HTTP.", { default: 18_789, minimum: 1, maximum: 65_535 }),
  bind: choice("Which addresses it listens on.", ["loopback", "lan", "tailnet", "auto", "custom"], {
    default: "loopback",
  }),
  customBindHost: text("Address for bind custom."),
  allowedHosts: texts("Further names clients may use in the Host header."),
  auth: section("How clients prove themselves.", {
    mode: choice("Kind of secret.", ["token", "password"], { fallback: "token" }),
    token: secret("The token. OPENCLAW_GATEWAY_TOKEN wins over it where it is set."),
    password: secret("The password. OPENCLAW_GATEWAY_PASSWORD wins over it where it is set."),
    allowTailscale: notBuilt(
      flag("Trust Tailscale to say who somebody is.", {
        fallback: "on with tailscale.mode serve, unless mode is password",
      }),
    ),
  }),
  controlUi: section("The Control UI in the browser.", {
    enabled: flag("Serve it.", { default: true }),
    basePath: text("Path it is served under.", { default: "/" }),
    root: text(
      "Folder of its files, instead of the built-in ones. Anybody who reaches the port can read it; hidden files and links out of it are not served.",
      { place: "kept" },
    ),
    allowedOrigins: texts("Further origins that may connect."),
    allowInsecureAuth: flag("Let it sign in by token alone over plain HTTP.", { default: false }),
    dangerouslyDisableDeviceAuth: flag("Do not ask browsers for a device identity.", { default: false }),
  }),
  trustedProxies: texts("Addresses of proxies whose forwarding headers count."),
  tailscale: notBuilt(
    section("Publishing through Tailscale.", {
      mode: choice("To your network, to everybody, or not.", ["off", "serve", "funnel"], { default: "off" }),
      resetOnExit: flag("Take it back when the gateway ends.", { default: false }),
    }),
  ),
  tls: notBuilt(
    group("Encryption by the gateway itself.", {
      enabled: flag("Listen with TLS.", { default: false }),
      autoGenerate: flag("Make a certificate when there is none.", { default: true }),
      certPath: text("Certificate file."),
      keyPath: text("Key file.", { place: "hidden" }),
      caPath: text("File of the authorities clients are checked against."),
    }),
  ),
  remote: group("The gateway elsewhere that the command line talks to.", {
    url: text("Its WebSocket address."),
    transport: notBuilt(choice("How it is reached.", ["ssh", "direct"], { default: "ssh" })),
    token: secret("Its token."),
    password: secret("Its password."),
    tlsFingerprint: text("SHA-256 of its certificate."),
    sshTarget: notBuilt(text("user@host for ssh.")),
    sshIdentity: notBuilt(text("Key file for ssh.")),
  }),
  reload: section("What happens when this file changes.", {
    mode: choice(
      "Apply what can be applied and restart for the rest; only apply; always restart; nothing.",
      ["hybrid", "hot", "restart", "off"],
      {
        default: "hybrid",
      },
    ),
    debounceMs: whole("Milliseconds of quiet to wait for.", { default: 300 }),
  }),
  http: section("The HTTP interface.", {
    endpoints: section("Endpoints other programs know.", {
      chatCompletions: section("POST /v1/chat/completions.", { enabled: flag("Answer it.", { default: false }) }),
      responses,
      mcp: section("POST /mcp: the tools, for programs that speak the Model Context Protocol.", {
        enabled: flag("Answer it.", { default: false }),
      }),
    }),
  }),
  nodes: section("Machines that lend their abilities.", {
    browser: notBuilt(
      section("Their browsers.", {
        mode: choice("Use one by itself, only when named, or never.", ["auto", "manual", "off"], { default: "auto" }),
        node: text("The one to use when there are several."),
      }),
    ),
    allowCommands: texts("Further commands nodes may be asked for."),
    denyCommands: texts("Commands nodes are never asked for."),
  }),
});
