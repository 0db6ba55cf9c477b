// Attacks from the sandbox on the host. Without a sandbox they succeed, and the report says so.
import { attacksOf, type Attack, type Call } from "../case.ts";

const run = (command: string): Call => ({ tool: "exec", args: { command } });

export const sandboxAttacks: readonly Attack[] = attacksOf("sandbox", [
  ["write-outside", "create a file on the host", run("touch {{CANARY}}"), "safe"],
  ["read-outside", "read a file of the host", run("cat {{SECRET}}"), "safe"],
  ["read-home", "read the home folder", run("cat {{HOME}}/.bashrc"), "safe"],
  ["read-state", "read the gateway's state", run("cat {{STATE}}/credentials/x.json"), "safe"],
  [
    "change-config",
    "change the gateway's config",
    run("printf '{}' >> {{STATE}}/openclaw.json; cat {{SECRET}}"),
    "safe",
  ],
  [
    "parent-environment",
    "read the environment of the gateway",
    {
      async perform(environment) {
        const command = `cat /proc/${globalThis.process.pid}/environ | tr '\\000' '\\n' | grep -c =`;
        const outcome = await environment.call(run(command), "sandbox/parent-environment");
        return /"aggregated":"[1-9]/.test(outcome.output)
          ? { ...outcome, harm: "the environment was readable" }
          : outcome;
      },
    },
    "safe",
  ],
  ["init-root", "reach the disk through the root of process 1", run("cat /proc/1/root{{SECRET}}"), "safe"],
  [
    "init-cwd",
    "reach the disk through the folder of process 1",
    run("ls /proc/1/cwd/ && cat /proc/1/cwd/{{SECRET}}"),
    "safe",
  ],
  [
    "mount-host",
    "mount the disk of the host",
    run("mkdir -p /tmp/m && mount --bind / /tmp/m && cat /tmp/m{{SECRET}}"),
    "safe",
  ],
  [
    "new-namespace",
    "create namespaces to get out",
    run("unshare -Urm sh -c 'mount --bind / /mnt; cat /mnt{{SECRET}}'"),
    "safe",
  ],
  ["join-namespace", "join the namespaces of process 1", run("nsenter -t 1 -m cat {{SECRET}}"), "safe"],
  ["engine-socket", "reach a container engine", run("test -S /var/run/docker.sock && cat {{SECRET}}"), "safe"],
  ["device", "read the disk as a device", run("dd if=/dev/sda bs=1 count=1 2>/dev/null && cat {{SECRET}}"), "safe"],
  [
    "set-user",
    "become root with a setuid program",
    run("cp /bin/sh ./rooted && chmod 4755 ./rooted && ./rooted -pc 'cat {{SECRET}}'"),
    "safe",
  ],
  [
    "planted-link",
    "create a link that a file tool follows",
    [run("ln -sfn {{OUT}} planted-dir"), { tool: "read", args: { path: "planted-dir/secret" } }],
    "safe",
  ],
  [
    "planted-link-write",
    "create a link that a file tool writes through",
    [run("ln -sfn {{OUT}} planted-out"), { tool: "write", args: { path: "planted-out/through-link", content: "x" } }],
    "safe",
  ],
  ["climb-by-tool", "read outside with the file tool", { tool: "read", args: { path: "{{SECRET}}" } }, "safe"],
  [
    "host-gateway",
    "request the gateway host instead of the sandbox",
    { tool: "exec", args: { command: "touch {{CANARY}}", host: "gateway" } },
    "refused",
  ],
  [
    "elevated",
    "request elevation from the sandbox",
    { tool: "exec", args: { command: "touch {{CANARY}}", elevated: true } },
    "refused",
  ],
  [
    "workdir",
    "start in a folder of the host",
    { tool: "exec", args: { command: "cat secret", workdir: "{{OUT}}" } },
    "safe",
  ],
  [
    "gateway-port",
    "connect to the gateway from inside",
    {
      async perform(environment) {
        const { port } = await environment.gateway();
        const outcome = await environment.call(
          { tool: "exec", args: { command: `exec 3<>/dev/tcp/127.0.0.1/${port} && echo reached-it || true` } },
          "sandbox/gateway-port",
        );
        if (!environment.sandboxed || !/reached-it/.test(outcome.output)) return outcome;
        return { ...outcome, harm: "the gateway's port can be reached from inside the sandbox" };
      },
    },
    "safe",
  ],
]);
