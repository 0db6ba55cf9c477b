// `agents.defaults.sandbox` and its per-agent form: where an agent's tools run.
import { Type } from "../../core/schema.ts";
import {
  choice,
  closed,
  flag,
  group,
  list,
  notBuilt,
  number,
  oneOf,
  record,
  section,
  text,
  texts,
  whole,
} from "./field.ts";

const docker = section("Settings of the Docker sandbox.", {
  image: text("Image to start.", { default: "openclaw-sandbox:bookworm-slim" }),
  containerPrefix: text("Start of container names.", { default: "openclaw-sbx-" }),
  workdir: text("Working folder inside.", { default: "/workspace" }),
  readOnlyRoot: flag("Mount the root file system read-only.", { default: true }),
  tmpfs: texts("Folders kept in memory.", { default: ["/tmp", "/var/tmp", "/run"] }),
  network: text("Docker network; none means no network.", { default: "none" }),
  user: text("User and group ids inside, such as 1000:1000."),
  capDrop: texts("Capabilities taken away.", { default: ["ALL"] }),
  env: record("Environment inside; the host's is not passed on.", Type.String()),
  setupCommand: oneOf("Command run once after creation.", [Type.String(), Type.Array(Type.String())]),
  pidsLimit: whole("Processes at most."),
  memory: oneOf("Memory at most, such as 1g.", [Type.String(), Type.Number()]),
  memorySwap: oneOf("Memory and swap at most, such as 2g.", [Type.String(), Type.Number()]),
  cpus: number("Processor cores at most.", { minimum: 0 }),
  ulimits: record(
    "Process limits by name.",
    Type.Union([
      Type.String(),
      Type.Number(),
      closed({ soft: number("Limit in force."), hard: number("Limit it may be raised to.") }),
    ]),
  ),
  seccompProfile: text("Seccomp profile file."),
  apparmorProfile: text("AppArmor profile name."),
  dns: texts("Name servers."),
  extraHosts: texts("Further host names, as name:address."),
  binds: texts("Host folders mounted inside, as host:container[:ro]; they pierce the sandbox."),
});

const browser = notBuilt(
  section("A browser of its own for sandboxed sessions.", {
    enabled: flag("Start one.", { default: false }),
    image: text("Image to start.", { default: "openclaw-sandbox-browser:bookworm-slim" }),
    containerPrefix: text("Start of container names.", { default: "openclaw-sbx-browser-" }),
    cdpPort: whole("Debugging port inside.", { default: 9222, maximum: 65_535 }),
    vncPort: whole("VNC port inside.", { default: 5900, maximum: 65_535 }),
    noVncPort: whole("Port of the viewer page inside.", { default: 6080, maximum: 65_535 }),
    headless: flag("Run without a screen.", { default: false }),
    enableNoVnc: flag("Serve the viewer page.", { default: true }),
    allowHostControl: flag("Let sandboxed sessions drive the host's browser.", { default: false }),
    allowedControlUrls: texts("Exact URLs a custom target may have."),
    allowedControlHosts: texts("Host names a custom target may have."),
    allowedControlPorts: list("Ports a custom target may have.", Type.Integer({ minimum: 1, maximum: 65_535 })),
    autoStart: flag("Start it when it is needed.", { default: true }),
    autoStartTimeoutMs: whole("Milliseconds to wait for the start.", { default: 12_000 }),
  }),
);

const properties = {
  mode: choice("Which sessions are sandboxed.", ["off", "non-main", "all"], { default: "off" }),
  backend: choice(
    "What builds the sandbox; auto takes bubblewrap when it works, else Docker.",
    ["auto", "docker", "bubblewrap"],
    {
      default: "auto",
    },
  ),
  scope: choice("How many sandboxes: one per session, per agent, or one for all.", ["session", "agent", "shared"], {
    default: "agent",
  }),
  workspaceAccess: choice("What the sandbox sees of the agent's workspace.", ["none", "ro", "rw"], { default: "none" }),
  gitWrite: flag(
    "Sandboxed commands may change git repositories of the workspace (commit, switch, rebase); otherwise every .git is read-only there.",
    { default: false },
  ),
  workspaceRoot: text("Folder of the sandboxes' own workspaces.", {
    fallback: "<state>/sandboxes",
    place: "hidden",
  }),
  sessionToolsVisibility: choice(
    "Sessions the session tools show to a sandboxed session, and where others than the owner speak.",
    ["spawned", "all"],
    { default: "spawned" },
  ),
  perSession: flag("Older spelling of scope: true is session, false is shared."),
  docker,
  browser,
  prune: section("When unused sandboxes go.", {
    idleHours: number("Hours without use; 0 never.", { default: 24, minimum: 0 }),
    maxAgeDays: number("Days of age; 0 never.", { default: 7, minimum: 0 }),
  }),
};

export const sandbox = section("Where tools run.", properties);
export const agentSandbox = group("Where this agent's tools run.", properties);
