// `memorySearch` of agents: how notes are indexed and found.
import { Type } from "../../core/schema.ts";
import {
  anything,
  choice,
  flag,
  group,
  list,
  number,
  oneOf,
  record,
  secret,
  section,
  text,
  texts,
  whole,
} from "./field.ts";

const share = (description: string, value: number) => number(description, { default: value, minimum: 0, maximum: 1 });

const properties = {
  enabled: flag("Offer memory_search and memory_get.", { default: true }),
  sources: list("What is indexed.", Type.Enum(["memory", "sessions"], { type: "string" }), { default: ["memory"] }),
  extraPaths: texts("Further files or folders, relative to the workspace."),
  provider: choice("Who makes the embeddings.", ["openai", "gemini", "voyage", "ollama", "local", "auto", "none"], {
    fallback: "the first one that has a key, else the local model when it is installed",
  }),
  model: text("Embedding model."),
  fallback: choice("Who steps in when that fails.", ["openai", "gemini", "voyage", "ollama", "local", "none"]),
  remote: group("The embedding service.", {
    baseUrl: text("Root of the service."),
    apiKey: secret("Key of the service."),
    headers: record("Further request headers.", Type.String()),
    batch: oneOf("Index through the batch interface.", [Type.Boolean(), Type.Record(Type.String(), Type.Unknown())]),
  }),
  local: group("A local embedding model.", {
    modelPath: text("Model file."),
    modelCacheDir: text("Folder for downloaded models."),
  }),
  store: section("The index.", {
    path: text("Index file.", { fallback: "<state>/memory/<agent>.sqlite", place: "hidden" }),
    vector: section("The vector part.", {
      enabled: flag("Use the vector extension when it is there.", { default: true }),
      extensionPath: text("File of the vector extension.", { place: "kept" }),
    }),
  }),
  chunking: section("How notes are cut.", {
    tokens: whole("Tokens per piece.", { default: 400, minimum: 16 }),
    overlap: whole("Tokens shared by neighbours.", { default: 80 }),
  }),
  sync: section("When the index is brought up to date.", {
    onSessionStart: flag("When a session starts.", { default: true }),
    onSearch: flag("Before a search.", { default: true }),
    watch: flag("When a file changes.", { default: true }),
    watchDebounceMs: whole("Milliseconds of quiet to wait for.", { default: 1500 }),
    intervalMinutes: number("Minutes between full looks; 0 never.", { default: 0, minimum: 0 }),
    sessions: group("When transcripts are indexed.", {
      deltaBytes: whole("After so many new bytes."),
      deltaMessages: whole("After so many new messages."),
    }),
  }),
  query: section("How a search is answered.", {
    maxResults: whole("Results at most.", { default: 6, minimum: 1 }),
    minScore: number("Score below which a result is dropped.", { minimum: 0, maximum: 1 }),
    hybrid: section("Mixing meaning and words.", {
      enabled: flag("Mix both.", { default: true }),
      vectorWeight: share("Weight of meaning.", 0.7),
      textWeight: share("Weight of words.", 0.3),
      candidateMultiplier: whole("Candidates fetched per result.", { default: 4, minimum: 1 }),
    }),
  }),
  cache: section("Embeddings kept.", {
    enabled: flag("Keep embeddings.", { default: true }),
    maxEntries: whole("How many at most.", { default: 50_000 }),
  }),
  experimental: section("Not settled yet.", {
    sessionMemory: flag("Search transcripts too.", { default: false }),
  }),
  params: anything("Further settings of the embedding provider."),
};

export const memorySearch = section("Search in the agent's notes.", properties);
export const agentMemorySearch = group("Search in this agent's notes.", properties);
