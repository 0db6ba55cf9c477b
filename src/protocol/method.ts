// A method of the wire: its name, who may call it, and the schema of its parameters. What it does stands in the gateway.
import { checker, Type, type Checker, type Static, type TSchema } from "../core/schema.ts";
import type { Scope } from "./scope.ts";

export interface Method<P = unknown> {
  readonly name: string;
  /** The scope an operator needs, or `node` for what only a node host may call. */
  readonly needs: Scope | "node";
  /** Undefined: unchecked, as some recorded methods are; whatever comes must be read with care. */
  readonly params: Checker<P> | undefined;
  /** Announced in hello-ok. */
  readonly announced: boolean;
}

export function method<S extends TSchema>(
  name: string,
  needs: Method["needs"],
  params: S,
  options: { readonly announced?: boolean } = {},
): Method<Static<S>> {
  return { name, needs, params: checker(params), announced: options.announced ?? true };
}

/** A method whose parameters the recorded gateway does not check. */
export function looseMethod(name: string, needs: Method["needs"]): Method<Record<string, unknown>> {
  return { name, needs, params: undefined, announced: true };
}

export const closed = { additionalProperties: false } as const;
export const none = Type.Object({}, closed);
export const word = Type.String({ minLength: 1 });
export const maybe = <S extends TSchema>(schema: S) => Type.Optional(schema);
