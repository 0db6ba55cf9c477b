// Speech to text by the `/audio/transcriptions` API of OpenAI, which Groq and many servers have, too.
import { isRecord } from "../../core/record.ts";
import { newSecret } from "../../base/ids.ts";
import type { ModelEndpoint, ModelFailure } from "../model.ts";
import { credentialHeader, postFile, urlOf, type MediaSource } from "./post-file.ts";

export interface TranscribeOptions {
  /** ISO 639-1. */
  readonly language?: string | undefined;
  /** Words and style to expect; not an instruction. */
  readonly prompt?: string | undefined;
}

const OPENAI = "https://api.openai.com/v1";

export async function transcribe(
  endpoint: ModelEndpoint,
  file: MediaSource,
  { language, prompt }: TranscribeOptions,
  signal: AbortSignal,
): Promise<{ readonly text: string } | { readonly failure: ModelFailure }> {
  const boundary = `openclaw-${newSecret(12)}`;
  const fields = Object.entries({ model: endpoint.ref.id, response_format: "json", language, prompt });
  const before = [
    ...fields.flatMap(([name, value]) =>
      value === undefined
        ? []
        : [`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`],
    ),
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${file.fileName}"\r\n`,
    `content-type: ${file.mimeType}\r\n\r\n`,
  ].join("");
  const result = await postFile(
    endpoint,
    {
      url: urlOf(endpoint, OPENAI, "/audio/transcriptions"),
      headers: { "content-type": `multipart/form-data; boundary=${boundary}`, ...credentialHeader(endpoint) },
      before,
      file,
      encoding: "binary",
      after: `\r\n--${boundary}--\r\n`,
    },
    signal,
  );
  if ("failure" in result) return result;
  const text = isRecord(result.answer) ? result.answer["text"] : undefined;
  if (typeof text === "string") return { text };
  return { failure: { kind: "garbled", message: `${endpoint.ref.provider}: the response has no transcript` } };
}
