// prompts/get: finds the provider of a prompt and checks its arguments.
import { isRecord } from "../../core/record.ts";
import { visible } from "../../core/visible.ts";
import type { RpcAnswer } from "../message.ts";
import type { ClientLink } from "./client-link.ts";
import type { MethodCall } from "./method-call.ts";

export async function getPrompt(call: MethodCall, link: ClientLink): Promise<RpcAnswer> {
  const { name, arguments: given = {} } = call.params;
  if (typeof name !== "string") return call.bad("prompts/get needs a name");
  if (!isRecord(given) || Object.values(given).some((value) => typeof value !== "string"))
    return call.bad("the arguments of a prompt are strings");
  const user = await call.user();
  for (const provider of call.parts.prompts) {
    const prompt = (await provider.list(user)).find((one) => one.name === name);
    if (prompt === undefined) continue;
    const missing = prompt.arguments?.find((argument) => argument.required === true && !(argument.name in given));
    if (missing !== undefined) return call.bad(`prompt ${name} needs the argument "${missing.name}"`);
    const found = await provider.get(name, given as Record<string, string>, user, link);
    if (found !== undefined) return call.done({ ...found });
  }
  return call.bad(`unknown prompt: ${visible(name, 80)}`);
}
