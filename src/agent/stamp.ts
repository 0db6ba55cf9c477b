// The time stamp before a message: `[Sun 2026-11-15 22:06 UTC] `.

const formats = new Map<string, Intl.DateTimeFormat>();

export function stampOf(at: number, timeZone: string): string {
  const parts = Object.fromEntries(
    formatFor(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const { weekday, year, month, day, hour, minute, timeZoneName } = parts;
  return `[${weekday} ${year}-${month}-${day} ${hour}:${minute} ${timeZoneName}] `;
}

/** The day as `YYYY-MM-DD`. */
export function dayOf(at: number, timeZone: string): string {
  const parts = Object.fromEntries(
    formatFor(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  return `${parts["year"]}-${parts["month"]}-${parts["day"]}`;
}

/** The configured zone when the system knows it, else that of the host. */
export function timeZoneOf(configured: string | undefined): string {
  const host = hostZone();
  if (configured === undefined || configured === "") return host;
  try {
    formatFor(configured);
    return configured;
  } catch {
    return host; // an unknown zone was already named by the config check or the doctor
  }
}

/** Cached for a minute, because reading it costs 2 ms and a turn needs it several times. */
function hostZone(): string {
  const now = performance.now();
  if (known === undefined || now - known.at > HOST_ZONE_MS)
    known = { zone: Intl.DateTimeFormat().resolvedOptions().timeZone, at: now };
  return known.zone;
}

const HOST_ZONE_MS = 60_000;
let known: { readonly zone: string; readonly at: number } | undefined;

function formatFor(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    weekday: "short",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
  });
  formats.set(timeZone, format);
  return format;
}
