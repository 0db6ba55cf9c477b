// What a node offers and what its owner approved: it can use only what is both; more needs approval. Pure.
import type { ConnectParams } from "../protocol/connect.ts";
import type { NodeAbilities } from "../protocol/methods/devices.ts";

export function offeredBy({ caps = [], commands = [], permissions }: ConnectParams): NodeAbilities {
  return { caps, commands, ...(permissions === undefined ? {} : { permissions }) };
}

/** What is both offered and approved. */
export function within(offered: NodeAbilities, approved: NodeAbilities): NodeAbilities {
  const permissions = Object.entries(offered.permissions ?? {}).map(([name, isOn]): [string, boolean] => [
    name,
    isOn && approved.permissions?.[name] === true,
  ]);
  return {
    caps: offered.caps.filter((name) => approved.caps.includes(name)),
    commands: offered.commands.filter((name) => approved.commands.includes(name)),
    ...(offered.permissions === undefined ? {} : { permissions: Object.fromEntries(permissions) }),
  };
}

/** What is offered but not approved; undefined when everything is approved. */
export function beyond(offered: NodeAbilities, approved: NodeAbilities): NodeAbilities | undefined {
  const more: NodeAbilities = {
    caps: offered.caps.filter((name) => !approved.caps.includes(name)),
    commands: offered.commands.filter((name) => !approved.commands.includes(name)),
  };
  const permissions = namesOn(offered).filter((name) => approved.permissions?.[name] !== true);
  if (more.caps.length + more.commands.length + permissions.length === 0) return undefined;
  return permissions.length === 0 ? more : { ...more, permissions: allOn(permissions) };
}

/** The union: what was approved before stays approved. */
export function joined(before: NodeAbilities | undefined, more: NodeAbilities): NodeAbilities {
  if (before === undefined) return { ...more, ...(more.permissions === undefined ? {} : onlyOn(more)) };
  const permissions = [...new Set([...namesOn(before), ...namesOn(more)])];
  return {
    caps: [...new Set([...before.caps, ...more.caps])],
    commands: [...new Set([...before.commands, ...more.commands])],
    ...(permissions.length === 0 ? {} : { permissions: allOn(permissions) }),
  };
}

const namesOn = ({ permissions = {} }: NodeAbilities): string[] =>
  Object.keys(permissions).filter((name) => permissions[name] === true);
const allOn = (names: readonly string[]): Readonly<Record<string, boolean>> =>
  Object.fromEntries(names.map((name) => [name, true]));
const onlyOn = (abilities: NodeAbilities): Pick<NodeAbilities, "permissions"> => ({
  permissions: allOn(namesOn(abilities)),
});
