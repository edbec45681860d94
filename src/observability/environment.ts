import { z } from 'zod';
import { withoutTrailing } from '../base/text.js';

const httpUrl = z.url({ protocol: /^https?$/ });
const sampler = z.enum([
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
]);
/** The exporter sends OTLP as JSON over HTTP, which every OTLP/HTTP receiver accepts. gRPC would need another port. */
const protocol = z.enum(['http/json', 'http/protobuf'], { error: 'traces go by OTLP/HTTP; gRPC is not supported' });

/**
 * The standard variables of OpenTelemetry (Environment Variable Specification, OTLP Exporter Configuration). Its
 * packages read headers, timeout, compression, certificates and `OTEL_BSP_*` themselves.
 */
export const telemetryVariables = {
  OTEL_SDK_DISABLED: z
    .string()
    .transform((text) => text.toLowerCase() === 'true')
    .default(false),
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_RESOURCE_ATTRIBUTES: z.string().optional(),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).default('otlp'),
  OTEL_TRACES_SAMPLER: sampler.default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol.optional(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol.optional(),
};
type TelemetryEnvironment = z.infer<z.ZodObject<typeof telemetryVariables>>;

export interface TracingConfig {
  /** The complete URL that receives spans. */
  url: string;
  /** Undefined: the name is derived from the role of the process. */
  serviceName: string | undefined;
  resourceAttributes: Record<string, string>;
  sampler: z.infer<typeof sampler>;
  /** The share of traces to sample, from 0 to 1, for the ratio samplers. */
  samplerRatio: number;
}

/** Returns undefined, which turns tracing off, if there is no endpoint or the SDK is disabled. */
export function tracingOf(env: TelemetryEnvironment): TracingConfig | undefined {
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? signalUrl(env.OTEL_EXPORTER_OTLP_ENDPOINT);
  if (url === undefined || env.OTEL_SDK_DISABLED || env.OTEL_TRACES_EXPORTER === 'none') return undefined;
  return {
    url,
    serviceName: env.OTEL_SERVICE_NAME,
    resourceAttributes: attributesOf(env.OTEL_RESOURCE_ATTRIBUTES),
    sampler: env.OTEL_TRACES_SAMPLER,
    samplerRatio: env.OTEL_TRACES_SAMPLER_ARG,
  };
}

/** Appends the path for traces to the general endpoint. The endpoint that is specific to traces is used unchanged. */
function signalUrl(endpoint: string | undefined): string | undefined {
  return endpoint === undefined ? undefined : `${withoutTrailing(endpoint, '/')}/v1/traces`;
}

/** Parses `key=value` pairs with percent-encoded values (W3C Baggage). Ignores anything else. */
function attributesOf(text = ''): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    const key = pair.slice(0, Math.max(at, 0)).trim();
    return key === '' ? [] : [[key, decoded(pair.slice(at + 1).trim())] as const];
  });
  return Object.fromEntries(pairs);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
