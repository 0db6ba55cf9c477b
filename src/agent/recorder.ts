// `OPENCLAW_RECORD=<folder>`: records model and tool traffic as JSON lines, secrets masked. Loads no code without it.
import type { LogSink } from "../base/log.ts";
import type { Mask } from "../base/mask.ts";
import type { Env } from "../base/paths.ts";
import type { CallTool } from "../tool/call.ts";
import type { Agents } from "./agent.ts";
import type { StreamModel } from "./deps.ts";

/** Wrappers that record calls, models and ends of runs. */
export interface Recorder {
  calls(through: CallTool): CallTool;
  model(stream: StreamModel): StreamModel;
  ends(agents: Agents): void;
}

export async function recorderOf(env: Env, mask: Mask, log: LogSink): Promise<Recorder | undefined> {
  const folder = env["OPENCLAW_RECORD"];
  if (folder === undefined || folder === "") return undefined;
  log.info(`recording sessions into ${folder}`);
  const { openRecording, recordEnds, recordingCall, recordingModel } = await import("./record-traffic.ts");
  const recording = openRecording(folder, mask, (error) => log.error("the recording could not be written", { error }));
  return {
    calls: (call) => recordingCall(call, recording),
    model: (stream) => recordingModel(stream, recording),
    ends: (agents) => void recordEnds(agents, recording),
  };
}
