// completion/complete: values for an argument of a prompt or a variable of a resource template.
import { isRecord } from "../../core/record.ts";
import type { RpcAnswer } from "../message.ts";
import type { MethodCall } from "./method-call.ts";
import { collect } from "./registry.ts";

const MAX_COMPLETIONS = 100;

export async function complete(call: MethodCall): Promise<RpcAnswer> {
  const { ref, argument } = call.params;
  const { name, value } = isRecord(argument) ? argument : {};
  if (!isRecord(ref) || typeof name !== "string" || typeof value !== "string")
    return call.bad("completion/complete needs ref and argument {name, value}");
  const { resources, prompts } = call.parts;
  const { type, name: prompt, uri } = ref;
  const user = await call.user();
  const found =
    type === "ref/prompt" && typeof prompt === "string"
      ? await collect(prompts, async (provider) => (await provider.complete?.(prompt, name, value, user)) ?? [])
      : type === "ref/resource" && typeof uri === "string"
        ? await collect(resources, async (provider) => (await provider.complete?.(uri, name, value, user)) ?? [])
        : undefined;
  if (found === undefined) return call.bad("ref must be a ref/prompt with name or a ref/resource with uri");
  const values = found.slice(0, MAX_COMPLETIONS);
  return call.done({ completion: { values, total: found.length, hasMore: found.length > values.length } });
}
