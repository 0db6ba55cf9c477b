export const root: string;
export const NODE_VERSION: string;
export const toolsFolder: string;
export function nodeBinary(): string | undefined;
export function isBuildFresh(): boolean;
