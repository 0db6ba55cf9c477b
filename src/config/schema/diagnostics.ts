// `diagnostics`: extra logs and telemetry for finding faults.
import { Type } from "../../core/schema.ts";
import { choice, flag, group, notBuilt, number, record, section, text, texts, whole } from "./field.ts";

export const diagnostics = notBuilt(
  section("Additional logs and telemetry for diagnosis.", {
    enabled: flag("Collect diagnostics."),
    flags: texts("Areas to log in full; * is a wildcard."),
    otel: group("Sending telemetry to an OpenTelemetry collector.", {
      enabled: flag("Send it.", { default: false }),
      endpoint: text("Address of the collector."),
      protocol: choice("How it is sent.", ["http/protobuf", "grpc"], { default: "http/protobuf" }),
      serviceName: text("Name it is sent under.", { default: "openclaw" }),
      headers: record("Request headers.", Type.String()),
      traces: flag("Send traces."),
      metrics: flag("Send metrics."),
      logs: flag("Send logs."),
      sampleRate: number("Share of traces sent.", { minimum: 0, maximum: 1 }),
      flushIntervalMs: whole("Milliseconds between sendings.", { minimum: 1000 }),
    }),
  }),
);
