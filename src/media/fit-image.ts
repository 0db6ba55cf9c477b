// Makes a picture fit a size limit, in a process of its own: decoders of untrusted pictures never run in the gateway.
import { fork } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { NO_DEBUGGER } from "../base/no-debugger.ts";
import { OpenClawError } from "../core/error.ts";
import type { FitAnswer, FitRequest } from "./fit-image-worker.ts";
import type { ImageType } from "./sniff.ts";

export interface Picture {
  readonly bytes: Buffer;
  readonly mimeType: ImageType;
}

export interface FittedPicture extends Picture {
  readonly width: number;
  readonly height: number;
}

const TIMEOUT_MS = 30_000;
/** The longest side of a resized picture. Vendors scale down what is larger. */
const MAX_SIDE = 2048;

/**
 * Returns the picture upright, at most `maxBytes` long, as JPEG (PNG when it has transparency and still fits). Rejects with
 * `media.unreadable` when it is no picture, and with `media.too-large` when no size fits.
 */
export function fitImage(bytes: Buffer, maxBytes: number, signal?: AbortSignal): Promise<FittedPicture> {
  const child = fork(workerFile(), {
    // Sharp is a native addon; it needs no key, no environment and writes no file.
    execArgv: ["--permission", "--allow-fs-read=*", "--allow-addons", "--no-warnings", NO_DEBUGGER],
    env: {},
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL",
    ...(signal === undefined ? {} : { signal }),
  });
  const { promise, resolve, reject } = Promise.withResolvers<FittedPicture>();
  child.on("message", (answer: FitAnswer) => {
    if ("error" in answer) return reject(failure(answer));
    resolve({ ...answer, bytes: Buffer.from(answer.bytes) });
  });
  child.on("error", (cause) => reject(unreadable(cause.message, cause)));
  child.on("exit", (code, ended) => reject(unreadable(`the image decoder ended (${ended ?? code})`)));
  child.send({ bytes, maxBytes, maxSide: MAX_SIDE } satisfies FitRequest);
  return promise.finally(() => child.kill("SIGKILL"));
}

function failure({ code, error }: Extract<FitAnswer, { error: string }>): OpenClawError {
  return code === "media.unreadable" ? unreadable(error) : new OpenClawError(code, error);
}

function unreadable(message: string, cause?: unknown): OpenClawError {
  return new OpenClawError("media.unreadable", `the picture cannot be read: ${message}`, {
    hint: "save it again as png or jpg with an image program",
    cause,
  });
}

/** Beside us in the bundle, a source otherwise. */
function workerFile(): string {
  const bundled = fileURLToPath(new URL("./fit-image-worker.js", import.meta.url));
  return existsSync(bundled) ? bundled : fileURLToPath(new URL("./fit-image-worker.ts", import.meta.url));
}
