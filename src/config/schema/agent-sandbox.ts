// `agents.defaults.sandbox` and its per-agent form: where an agent's tools run.
import { sandboxBackends } from "../../core/sandbox-backend.ts";
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
  image: text("Container image.", { default: "openclaw-sandbox:bookworm-slim" }),
  containerPrefix: text("Prefix of container names.", { default: "openclaw-sbx-" }),
  workdir: text("Working folder inside the container.", { default: "/workspace" }),
  readOnlyRoot: flag("Mounts the root file system read-only.", { default: true }),
  tmpfs: texts("Folders mounted as tmpfs.", { default: ["/tmp", "/var/tmp", "/run"] }),
  network: text("Docker network; none means no network access.", { default: "none" }),
  user: text("User and group ids inside the container, such as 1000:1000."),
  capDrop: texts("Linux capabilities to drop.", { default: ["ALL"] }),
  env: record("Environment variables inside the container; the host's environment is not passed on.", Type.String()),
  setupCommand: oneOf("Command that runs once after the container is created.", [
    Type.String(),
    Type.Array(Type.String()),
  ]),
  pidsLimit: whole("Maximum number of processes."),
  memory: oneOf("Maximum memory, such as 1g.", [Type.String(), Type.Number()]),
  memorySwap: oneOf("Maximum memory including swap, such as 2g.", [Type.String(), Type.Number()]),
  cpus: number("Maximum number of processor cores.", { minimum: 0 }),
  ulimits: record(
    "Process limits by name.",
    Type.Union([Type.String(), Type.Number(), closed({ soft: number("Soft limit."), hard: number("Hard limit.") })]),
  ),
  seccompProfile: text("Path of a seccomp profile."),
  apparmorProfile: text("Name of an AppArmor profile."),
  dns: texts("DNS servers."),
  extraHosts: texts("Additional host names, as name:address."),
  binds: texts("Host folders to mount, as host:container[:ro]. Commands in the sandbox can reach these folders."),
});

const browser = section("The browser inside the sandbox of a sandboxed session; needs bubblewrap.", {
  enabled: flag("Gives each sandbox a browser of its own.", { default: false }),
  image: notBuilt(text("Container image.", { default: "openclaw-sandbox-browser:bookworm-slim" })),
  containerPrefix: notBuilt(text("Prefix of container names.", { default: "openclaw-sbx-browser-" })),
  cdpPort: notBuilt(whole("Debugging port inside the container.", { default: 9222, maximum: 65_535 })),
  vncPort: notBuilt(whole("VNC port inside the container.", { default: 5900, maximum: 65_535 })),
  noVncPort: notBuilt(whole("Port of the viewer page inside the container.", { default: 6080, maximum: 65_535 })),
  headless: notBuilt(flag("Runs without a display.", { default: false })),
  enableNoVnc: notBuilt(flag("Serves the viewer page.", { default: true })),
  allowHostControl: flag("Allows sandboxed sessions to control the browsers of the host and of nodes.", {
    default: false,
  }),
  allowedControlUrls: notBuilt(texts("Exact URLs that a custom target may have.")),
  allowedControlHosts: notBuilt(texts("Host names that a custom target may have.")),
  allowedControlPorts: notBuilt(
    list("Ports that a custom target may have.", Type.Integer({ minimum: 1, maximum: 65_535 })),
  ),
  autoStart: flag("Starts the browser when it is needed.", { default: true }),
  autoStartTimeoutMs: whole("Milliseconds to wait for the start.", { default: 12_000 }),
});

const properties = {
  mode: choice("Which sessions are sandboxed; non-main means all but the main session.", ["off", "non-main", "all"], {
    default: "off",
  }),
  backend: choice(
    "Sandbox backend; auto uses bubblewrap when it works, otherwise Docker.",
    ["auto", ...sandboxBackends],
    {
      default: "auto",
    },
  ),
  scope: choice(
    "Number of sandboxes: one per session, one per agent, or one shared by all.",
    ["session", "agent", "shared"],
    {
      default: "agent",
    },
  ),
  workspaceAccess: choice("Access of the sandbox to the agent's workspace.", ["none", "ro", "rw"], { default: "none" }),
  gitWrite: flag(
    "Allows sandboxed commands to change git repositories of the workspace (commit, switch, rebase); otherwise every .git folder is read-only.",
    { default: false },
  ),
  workspaceRoot: text("Folder for the workspaces of sandboxes.", {
    fallback: "<state>/sandboxes",
    place: "hidden",
  }),
  sessionToolsVisibility: choice(
    "Sessions that the session tools show to a sandboxed session and to sessions with senders other than the owner.",
    ["spawned", "all"],
    { default: "spawned" },
  ),
  perSession: flag("Legacy form of scope: true is session, false is shared."),
  docker,
  browser,
  prune: section("When unused sandboxes are removed.", {
    idleHours: number("Hours without use before removal; 0 never removes.", { default: 24, minimum: 0 }),
    maxAgeDays: number("Age in days before removal; 0 never removes.", { default: 7, minimum: 0 }),
  }),
};

export const sandbox = section("Sandbox in which tools run.", properties);
export const agentSandbox = group("Sandbox in which this agent's tools run.", properties);
