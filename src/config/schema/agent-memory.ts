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
  enabled: flag("Enables the tools memory_search and memory_get.", { default: true }),
  sources: list(
    "What to index: notes, transcripts of sessions, or both.",
    Type.Enum(["memory", "sessions"], { type: "string" }),
    { default: ["memory"] },
  ),
  extraPaths: texts("Additional files or folders to index, relative to the workspace."),
  provider: choice(
    "Provider of embeddings; none uses text search only.",
    ["openai", "gemini", "voyage", "ollama", "local", "auto", "none"],
    {
      fallback: "the first one that has a key, else the local model when it is installed",
    },
  ),
  model: text("Embedding model."),
  fallback: choice("Provider to use when the first one fails.", [
    "openai",
    "gemini",
    "voyage",
    "ollama",
    "local",
    "none",
  ]),
  remote: group("Settings of a remote embedding service.", {
    baseUrl: text("Base URL of the service."),
    apiKey: secret("API key of the service."),
    headers: record("Additional request headers.", Type.String()),
    batch: oneOf("Accepted for compatibility: texts are always sent in large requests, never as a batch job.", [
      Type.Boolean(),
      Type.Record(Type.String(), Type.Unknown()),
    ]),
  }),
  local: group("Settings of a local embedding model.", {
    modelPath: text("Folder of the model."),
    modelCacheDir: text("Folder for downloaded models."),
  }),
  store: section("Storage of the index.", {
    path: text("Path of the index file.", { fallback: "<state>/memory/<agent>.sqlite", place: "hidden" }),
    vector: section("Storage of vectors.", {
      enabled: flag("Uses the sqlite-vec extension when it can be loaded.", { default: true }),
      extensionPath: text("Path of the sqlite-vec extension.", { place: "kept" }),
    }),
  }),
  chunking: section("How notes are divided into chunks.", {
    tokens: whole("Tokens per chunk.", { default: 400, minimum: 16 }),
    overlap: whole("Tokens that neighboring chunks share.", { default: 80 }),
  }),
  sync: section("When the index is updated.", {
    onSessionStart: flag("Updates the index when a session starts.", { default: true }),
    onSearch: flag("Updates the index before a search.", { default: true }),
    watch: flag("Updates the index when a file changes.", { default: true }),
    watchDebounceMs: whole("Milliseconds without further changes to wait.", { default: 1500 }),
    intervalMinutes: number("Minutes between full scans; 0 turns them off.", { default: 0, minimum: 0 }),
    sessions: group("When new transcript entries are indexed.", {
      deltaBytes: whole("Indexes after this many new bytes."),
      deltaMessages: whole("Indexes after this many new messages."),
    }),
  }),
  query: section("Results of a search.", {
    maxResults: whole("Maximum number of results.", { default: 6, minimum: 1 }),
    minScore: number("Minimum score of a result, from 0 to 1.", { minimum: 0, maximum: 1 }),
    hybrid: section("Combination of semantic search and text search.", {
      enabled: flag("Combines both; false uses text search only.", { default: true }),
      vectorWeight: share("Weight of semantic search, from 0 to 1.", 0.7),
      textWeight: share("Weight of text search, from 0 to 1.", 0.3),
      candidateMultiplier: whole("Number of candidates to fetch per result.", { default: 4, minimum: 1 }),
    }),
  }),
  cache: section("Cache of embeddings.", {
    enabled: flag("Keeps embeddings of texts that are no longer in a note.", { default: true }),
    maxEntries: whole("Maximum number of cached embeddings.", { default: 50_000 }),
  }),
  experimental: section("Experimental settings that may change.", {
    sessionMemory: flag("Allows indexing of transcripts (sources: sessions).", { default: false }),
  }),
  params: anything("Additional settings of the embedding provider."),
};

export const memorySearch = section("Search in the agents' notes.", properties);
export const agentMemorySearch = group("Search in this agent's notes.", properties);
