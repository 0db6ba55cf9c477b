// The log levels of the Model Context Protocol, from least to most severe.

const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

export type LogLevel = (typeof levels)[number];

export function parseLogLevel(value: unknown): LogLevel | undefined {
  return levels.find((level) => level === value);
}

export function isAtLeast(level: LogLevel, least: LogLevel): boolean {
  return levels.indexOf(level) >= levels.indexOf(least);
}
