// Models: list them, find them on this machine, test one, choose one.
import { Type } from "../../core/schema.ts";
import { closed, method, noParams, nonEmpty, optional, returns } from "../method.ts";

export const modelsList = method(
  "models.list",
  "operator.read",
  noParams,
  returns<{ readonly models: readonly KnownModel[] }>(),
);
/** Ours: keys of the environment and servers on loopback (docs/decisions/0026-models-are-found.md). */
export const modelsScan = method(
  "models.scan",
  "operator.admin",
  noParams,
  returns<{ readonly found: readonly FoundModel[] }>(),
);
/** Ours: one tiny request. */
export const modelsTest = method(
  "models.test",
  "operator.admin",
  Type.Object({ provider: nonEmpty, model: nonEmpty }, closed),
  returns<ModelTest>(),
);
/** Ours: makes it the default model in the config. */
export const modelsUse = method(
  "models.use",
  "operator.admin",
  Type.Object({ provider: nonEmpty, model: nonEmpty, baseUrl: optional(nonEmpty) }, closed),
  returns<{ readonly ok: true; readonly model: string }>(),
);

export interface KnownModel {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  readonly contextWindow: number;
  readonly reasoning: boolean;
  readonly input: readonly string[];
  /** False when a key or a server is missing. */
  readonly ready: boolean;
  /** `found`: a server on this machine that is not in the config. */
  readonly source: string;
}

export interface FoundModel {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl?: string;
  readonly source: string;
  readonly ready: boolean;
}

export interface ModelTest {
  readonly ok: boolean;
  readonly ms: number;
  readonly text?: string;
  readonly failure?: { readonly kind: string; readonly message: string };
}
