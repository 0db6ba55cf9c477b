// `diagnostics`: additional logs and telemetry.
import { Type } from "../../core/schema.ts";
import { choice, flag, group, notBuilt, number, record, section, text, texts, whole } from "./field.ts";

export const diagnostics = notBuilt(
  section("Additional logs and telemetry for diagnosis.", {
    enabled: flag("Collects diagnostics."),
    flags: texts("Areas with full logs; * is a wildcard."),
    otel: group("Sending telemetry to an OpenTelemetry collector.", {
      enabled: flag("Sends telemetry.", { default: false }),
      endpoint: text("URL of the collector."),
      protocol: choice("Protocol of the collector.", ["http/protobuf", "grpc"], { default: "http/protobuf" }),
      serviceName: text("Service name of the telemetry.", { default: "openclaw" }),
      headers: record("Request headers.", Type.String()),
      traces: flag("Sends traces."),
      metrics: flag("Sends metrics."),
      logs: flag("Sends logs."),
      sampleRate: number("Share of traces to send.", { minimum: 0, maximum: 1 }),
      flushIntervalMs: whole("Milliseconds between transmissions.", { minimum: 1000 }),
    }),
  }),
);
