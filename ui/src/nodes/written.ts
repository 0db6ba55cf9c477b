// The config file as it is written. The reader of the format is large, so it comes only when somebody saves.

export async function readWritten(raw: string): Promise<unknown> {
  if (raw.trim() === "") return {};
  const { default: json5 } = await import("json5");
  return json5.parse<unknown>(raw);
}
