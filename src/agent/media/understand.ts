// Turns the attachments of a message into text before a model reads it; a failure leaves a note and never stops the turn.
import type { ImageBlock } from "../../core/message.ts";
import type { AgentId, SessionKey } from "../../core/names.ts";
import type { Log } from "../../base/log.ts";
import type { Mask } from "../../base/mask.ts";
import { neutralize, wrapUntrusted } from "../../base/untrusted-content.ts";
import { fitImage } from "../../media/fit-image.ts";
import type { MediaStore } from "../../media/store.ts";
import type { MediaReference } from "../../session/turns.ts";
import type { SessionRecord } from "../../store/store.ts";
import type { RunLimit } from "../run-limit.ts";
import { ofImage, openReference, type MediaInput } from "./media-input.ts";
import { nameOfEntry, runEntry, type EntryDeps } from "./run-entry.ts";
import { isInScope, mediaEntries, selectAttachments, understoodKinds, type UnderstoodKind } from "./settings.ts";

export interface UnderstandDeps extends EntryDeps {
  readonly store: MediaStore;
  /** `tools.media.concurrency`, for all turns together. */
  readonly limit: RunLimit;
  readonly log: Log;
  readonly mask: Mask;
  /** Where the agent of this session finds the file; copies it into a sandbox. */
  pathFor(session: Pick<MediaMessage, "agentId" | "sessionKey">, path: string): Promise<string>;
}

/** A message with attachments, before the model is asked. */
export interface MediaMessage {
  readonly agentId: AgentId;
  readonly sessionKey: SessionKey;
  readonly record: SessionRecord;
  readonly text: string;
  readonly images: readonly ImageBlock[];
  readonly media: readonly MediaReference[];
  /** The model that answers accepts pictures, which then stay as they are. */
  readonly seesImages: boolean;
  readonly signal: AbortSignal;
}

export interface UnderstoodMessage {
  readonly text: string;
  /** Pictures that the model gets as they are. */
  readonly images: readonly ImageBlock[];
}

/** Rejects only when the signal aborts. */
export async function understandMedia(deps: UnderstandDeps, message: MediaMessage): Promise<UnderstoodMessage> {
  const attachments = await openAll(deps, message);
  const results = await Promise.all(understoodKinds.map((kind) => understandKind(deps, message, attachments, kind)));
  const byAttachment = new Map(results.flatMap((result) => [...result]));
  const parts: string[] = [];
  let said = message.text.trim() === "" ? undefined : message.text;
  const images: ImageBlock[] = [];
  for (const attachment of attachments) {
    const result = byAttachment.get(attachment);
    const picture = result?.isUnderstood === true ? undefined : await pictureOf(deps, attachment, message);
    if (picture !== undefined) images.push(picture);
    if (picture !== undefined && result === undefined && attachment.path === undefined) continue;
    parts.push(blockOf(attachment, result, result?.isUnderstood === true ? said : undefined));
    if (result?.isUnderstood === true) said = undefined;
  }
  return { text: [...(said === undefined ? [] : [said]), ...parts].join("\n\n"), images };
}

interface Attachment {
  readonly kind: MediaReference["kind"];
  readonly label: string;
  readonly input: MediaInput | undefined;
  /** Why there is no input. */
  readonly problem?: string;
  /** Where the agent finds the file. */
  readonly path: string | undefined;
  /** As it came with the message. */
  readonly image?: ImageBlock;
}

interface Result {
  readonly isUnderstood: boolean;
  /** The description, or why there is none. */
  readonly text: string;
  /** Position among those of its kind, when several were understood. */
  readonly place?: string;
}

async function openAll(deps: UnderstandDeps, message: MediaMessage): Promise<readonly Attachment[]> {
  const pictures = message.images.map((image): Attachment => ({
    kind: "image",
    label: "",
    input: ofImage(deps.store, image),
    path: undefined,
    image,
  }));
  const files = message.media.map(async (reference): Promise<Attachment> => {
    try {
      const input = await openReference(deps.store, reference);
      return {
        kind: input.kind,
        label: input.label,
        input,
        path: await visiblePath(deps, message, await input.path()),
      };
    } catch (error) {
      deps.log.warn("an attachment cannot be read", { path: reference.path, error: messageOf(error) });
      return { kind: reference.kind, label: "", input: undefined, problem: "the file is gone", path: undefined };
    }
  });
  return [...pictures, ...(await Promise.all(files))];
}

/** A full disk or a link in the workspace costs the agent the file, not its description. */
async function visiblePath(deps: UnderstandDeps, message: MediaMessage, path: string): Promise<string | undefined> {
  return deps.pathFor(message, path).catch((error: unknown) => {
    deps.log.warn("an attachment could not be copied into the sandbox", { path, error: messageOf(error) });
    return undefined;
  });
}

/** The results of the attachments of one kind. Pictures for a model that sees them have none. */
async function understandKind(
  deps: UnderstandDeps,
  message: MediaMessage,
  attachments: readonly Attachment[],
  kind: UnderstoodKind,
): Promise<ReadonlyMap<Attachment, Result>> {
  const config = deps.config();
  const mine = attachments.filter((attachment) => attachment.kind === kind);
  const entries = mediaEntries(config, kind);
  if (mine.length === 0 || (kind === "image" && (message.seesImages || entries.length === 0))) return new Map();
  const refuse = (text: string): ReadonlyMap<Attachment, Result> =>
    new Map(mine.map((attachment) => [attachment, { isUnderstood: false, text }]));
  if (entries.length === 0) return refuse(`no model for ${kind} is configured (tools.media.${kind}.models)`);
  if (!isInScope(config, kind, message.sessionKey, message.record))
    return refuse(`${kind} is not understood in this chat (tools.media.${kind}.scope)`);
  const chosen = selectAttachments(config, kind, mine);
  const results = await Promise.all(
    mine.map(async (attachment): Promise<[Attachment, Result]> => {
      const at = chosen.indexOf(attachment);
      if (at < 0) return [attachment, { isUnderstood: false, text: `not selected (tools.media.${kind}.attachments)` }];
      const place = chosen.length > 1 ? { place: `${at + 1}/${chosen.length}` } : {};
      return [attachment, { ...(await understandOne(deps, message, attachment, kind)), ...place }];
    }),
  );
  // Pictures that were not chosen stay pictures, without a note.
  return new Map(results.filter(([attachment]) => kind !== "image" || chosen.includes(attachment)));
}

async function understandOne(
  deps: UnderstandDeps,
  { agentId, sessionKey, signal }: MediaMessage,
  { input, problem = "" }: Attachment,
  kind: UnderstoodKind,
): Promise<Result> {
  if (input === undefined) return { isUnderstood: false, text: problem };
  const release = await deps.limit.take(signal);
  const failures: string[] = [];
  try {
    for (const entry of mediaEntries(deps.config(), kind)) {
      try {
        const text = await runEntry(deps, entry, { agentId, sessionKey, kind, input, signal });
        return { isUnderstood: true, text };
      } catch (error) {
        signal.throwIfAborted();
        failures.push(deps.mask(`${nameOfEntry(entry, kind)}: ${messageOf(error)}`));
      }
    }
  } finally {
    release();
  }
  deps.log.warn(`${kind} could not be understood`, { sessionKey, failures });
  return { isUnderstood: false, text: failures.join("; ") };
}

/** A picture goes to the model unless its description does. */
async function pictureOf(
  deps: UnderstandDeps,
  { kind, input, image }: Attachment,
  { signal }: MediaMessage,
): Promise<ImageBlock | undefined> {
  if (image !== undefined || kind !== "image" || input === undefined) return image;
  try {
    const parts: Uint8Array[] = [];
    for await (const part of input.open()) parts.push(part);
    const bytes = Buffer.concat(parts);
    const limit = Math.floor((deps.config().agents?.defaults?.mediaMaxMb ?? 5) * 1_000_000);
    const { bytes: sent, mimeType } =
      bytes.length <= limit ? { bytes, mimeType: input.mimeType } : await fitImage(bytes, limit, signal);
    return { type: "image", data: sent.toString("base64"), mimeType };
  } catch (error) {
    signal.throwIfAborted();
    deps.log.warn("a picture cannot be shown to the model", { error: messageOf(error) });
    return undefined;
  }
}

const titles = { image: "Image", audio: "Audio", video: "Video", document: "File" } as const;

function blockOf({ kind, label, path }: Attachment, result: Result | undefined, said: string | undefined): string {
  const title = `[${titles[kind]}${result?.place === undefined ? "" : ` ${result.place}`}]`;
  const file = path === undefined ? [] : [`File: ${path}`];
  const name = label === "" ? [] : [`Name: ${neutralize(label)}`];
  if (result === undefined) return [title, ...name, ...file].join("\n");
  if (!result.isUnderstood)
    return [`${title} not understood: ${neutralize(oneLine(result.text))}`, ...name, ...file].join("\n");
  return [
    title,
    ...(said === undefined ? [] : [`User text:\n${said}`]),
    ...file,
    kind === "audio" ? "Transcript:" : "Description:",
    wrapUntrusted(result.text, label === "" ? kind : `${kind} ${label}`),
  ].join("\n");
}

const MAX_REASON = 600;
const oneLine = (text: string): string => text.replaceAll(/\s+/gu, " ").slice(0, MAX_REASON);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
