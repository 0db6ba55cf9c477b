// A stand-in for services that understand sound and film, on loopback: OpenAI's transcriptions and Google's generateContent.
import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface MediaRequest {
  readonly model: string;
  readonly fileName?: string;
  readonly mimeType: string;
  readonly bytes: Buffer;
  readonly language?: string;
  readonly prompt?: string;
}

export interface FakeMedia {
  readonly url: string;
  readonly requests: MediaRequest[];
  /** The text that it answers with, or the status that it fails with. "hang" never answers. */
  script: (request: MediaRequest) => string | number | Promise<string>;
  close(): Promise<void>;
}

export const MEDIA_KEY = "sk-media-0123456789abcdef";
/** The endings that the service accepts. */
const endings = /\.(?:flac|mp3|mp4|mpeg|mpga|m4a|ogg|wav|webm)$/;

export async function startFakeMedia(): Promise<FakeMedia> {
  const server = createServer((incoming, response) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of incoming) parts.push(part as Buffer);
      const body = Buffer.concat(parts);
      const { url = "", headers } = incoming;
      assert.equal(headers["content-length"], String(body.length));
      const isGoogle = url.startsWith("/v1beta/");
      const request = isGoogle ? readInline(url, headers, body) : await readForm(url, headers, body);
      fake.requests.push(request);
      const answer = await fake.script(request);
      if (answer === "hang") return;
      response.writeHead(typeof answer === "number" ? answer : 200, { "content-type": "application/json" });
      if (typeof answer === "number")
        response.end(JSON.stringify({ error: { message: `no, and the key was ${MEDIA_KEY}`, code: answer } }));
      else response.end(JSON.stringify(isGoogle ? googleAnswer(answer) : { text: answer }));
    })().catch((error: unknown) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: `wrong request: ${String(error)}` } }));
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  server.unref();
  const fake: FakeMedia = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    script: () => "heard",
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
  return fake;
}

async function readForm(url: string, headers: IncomingHttpHeaders, body: Buffer): Promise<MediaRequest> {
  assert.equal(url, "/v1/audio/transcriptions");
  assert.equal(headers.authorization, `Bearer ${MEDIA_KEY}`);
  const type = String(headers["content-type"]);
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  const file = form.get("file");
  assert.ok(file instanceof File);
  assert.match(file.name, endings);
  assert.equal(form.get("response_format"), "json");
  const [model, language, prompt] = ["model", "language", "prompt"].map((name) => form.get(name));
  assert.ok(typeof model === "string");
  return {
    model,
    fileName: file.name,
    mimeType: file.type,
    bytes: Buffer.from(await file.arrayBuffer()),
    ...(typeof language === "string" ? { language } : {}),
    ...(typeof prompt === "string" ? { prompt } : {}),
  };
}

function readInline(url: string, headers: IncomingHttpHeaders, body: Buffer): MediaRequest {
  const [, model] = /^\/v1beta\/models\/([^/:]+):generateContent$/.exec(url) ?? [];
  assert.ok(model !== undefined, url);
  assert.equal(headers["x-goog-api-key"], MEDIA_KEY);
  const { contents } = JSON.parse(body.toString()) as {
    contents: { role: string; parts: { text?: string; inlineData?: { mimeType: string; data: string } }[] }[];
  };
  assert.deepEqual(
    contents.map(({ role }) => role),
    ["user"],
  );
  const [data, prompt] = contents[0]?.parts ?? [];
  assert.match(data?.inlineData?.data ?? "", /^[A-Za-z0-9+/]+={0,2}$/);
  return {
    model,
    mimeType: data?.inlineData?.mimeType ?? "",
    bytes: Buffer.from(data?.inlineData?.data ?? "", "base64"),
    prompt: prompt?.text ?? "",
  };
}

function googleAnswer(text: string): unknown {
  return {
    candidates: [
      { content: { role: "model", parts: [{ text: "thinking …", thought: true }, { text }] }, finishReason: "STOP" },
    ],
    usageMetadata: { promptTokenCount: 300, candidatesTokenCount: 20, totalTokenCount: 320 },
  };
}
