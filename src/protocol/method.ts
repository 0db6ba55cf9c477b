// A method of the wire protocol: its name, the scope it needs, the schema of its parameters and the type of its result.
import { checker, Type, type Checker, type Static, type TSchema } from "../core/schema.ts";
import type { Scope } from "./scope.ts";

export interface Method<P = unknown, R = unknown, N extends string = string> {
  readonly name: N;
  /** The scope an operator needs, or `node` for what only a node host may call. */
  readonly needs: Scope | "node";
  /** Undefined where the recorded gateway accepts anything: the handler checks each field it reads. */
  readonly params: Checker<P> | undefined;
  /** Announced in hello-ok. */
  readonly announced: boolean;
  /** Carries the result type for the compiler; never set. */
  readonly result?: R;
}

/** The type of a result, as an argument: TypeScript cannot infer one type argument while another is given. */
export type ResultType<R> = Pick<Method<unknown, R>, "result">;
export const returns = <R>(): ResultType<R> => ({});

export function method<const N extends string, S extends TSchema, R>(
  name: N,
  needs: Method["needs"],
  params: S,
  _result: ResultType<R>,
  { announced = true }: { readonly announced?: boolean } = {},
): Method<Static<S>, R, N> {
  return { name, needs, params: checker(params), announced };
}

/** A method whose parameters the recorded gateway does not check. */
export function uncheckedMethod<const N extends string, R>(
  name: N,
  needs: Method["needs"],
  _result: ResultType<R>,
): Method<Readonly<Record<string, unknown>>, R, N> {
  return { name, needs, params: undefined, announced: true };
}

export const closed = { additionalProperties: false } as const;
export const noParams = Type.Object({}, closed);
export const nonEmpty = Type.String({ minLength: 1 });
export const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);
