// Shortens a long answer from the beginning until it fits into one frame. Pure.

interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** Reserved for the frame around the answer. */
const FRAME_OVERHEAD_BYTES = 2048;
/** Output shorter than this is not cut further. */
const MIN_CHARS = 256;

/** An answer without command output is returned unchanged. */
export function fitFrame<Answer extends object>(answer: Answer, maxFrameBytes: number): Answer {
  const limit = maxFrameBytes - FRAME_OVERHEAD_BYTES;
  const payload = "payload" in answer ? answer.payload : undefined;
  if (!isOutput(payload)) return answer;
  let [stdout, stderr] = [payload.stdout, payload.stderr];
  const cut = (): Answer => ({ ...answer, payload: { ...payload, stdout, stderr, truncated: true } });
  if (sizeOf(answer) <= limit) return answer;
  while (sizeOf(cut()) > limit && stdout.length + stderr.length > MIN_CHARS) {
    if (stdout.length >= stderr.length) stdout = dropBeginning(stdout);
    else stderr = dropBeginning(stderr);
  }
  return cut();
}

export function isTooLong(answer: object, maxFrameBytes: number): boolean {
  return sizeOf(answer) > maxFrameBytes - FRAME_OVERHEAD_BYTES;
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const dropBeginning = (text: string): string => text.slice(Math.ceil(text.length / 4)).toWellFormed();

function isOutput(payload: unknown): payload is Output {
  return (
    typeof payload === "object" &&
    payload !== null &&
    "stdout" in payload &&
    "stderr" in payload &&
    typeof payload.stdout === "string" &&
    typeof payload.stderr === "string"
  );
}
