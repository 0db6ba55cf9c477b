// Asks Google's generateContent about one sound or film file, which goes along as inline data.
import { isRecord } from "../../core/record.ts";
import type { Usage } from "../../core/message.ts";
import type { ModelEndpoint, ModelFailure } from "../model.ts";
import { credentialHeader, postFile, urlOf, type MediaSource } from "./post-file.ts";

const GOOGLE = "https://generativelanguage.googleapis.com/v1beta";

export async function generateContent(
  endpoint: ModelEndpoint,
  file: MediaSource,
  { system, prompt }: { readonly system: string; readonly prompt: string },
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly usage: Usage } | { readonly failure: ModelFailure }> {
  const { ref } = endpoint;
  const rules = JSON.stringify({ parts: [{ text: system }] });
  const type = JSON.stringify(file.mimeType);
  const result = await postFile(
    endpoint,
    {
      url: urlOf(endpoint, GOOGLE, `/models/${encodeURIComponent(ref.id.replace(/^models\//, ""))}:generateContent`),
      headers: { "content-type": "application/json", ...credentialHeader(endpoint, "x-goog-api-key") },
      // The parts of one JSON text around the data, which is never whole in memory.
      before: `{"systemInstruction":${rules},"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":${type},"data":"`,
      file,
      encoding: "base64",
      after: `"}},{"text":${JSON.stringify(prompt)}}]}]}`,
    },
    signal,
  );
  if ("failure" in result) return result;
  const text = textIn(result.answer);
  if (text !== "") return { text, usage: usageIn(result.answer) };
  return { failure: { kind: "empty", message: `${ref.provider}: the model gave no answer` } };
}

function textIn(answer: unknown): string {
  const [first] = listAt(answer, "candidates");
  const parts = isRecord(first) ? listAt(first["content"], "parts") : [];
  return parts
    .flatMap((part) =>
      isRecord(part) && part["thought"] !== true && typeof part["text"] === "string" ? part["text"] : [],
    )
    .join("")
    .trim();
}

function usageIn(answer: unknown): Usage {
  const counts = isRecord(answer) && isRecord(answer["usageMetadata"]) ? answer["usageMetadata"] : {};
  const count = (name: string): number => (typeof counts[name] === "number" ? counts[name] : 0);
  const cacheRead = count("cachedContentTokenCount");
  const input = count("promptTokenCount") - cacheRead;
  const output = count("candidatesTokenCount") + count("thoughtsTokenCount");
  return { input, output, cacheRead, cacheWrite: 0, totalTokens: input + output + cacheRead };
}

const listAt = (value: unknown, key: string): readonly unknown[] =>
  isRecord(value) && Array.isArray(value[key]) ? (value[key] as unknown[]) : [];
