import path from 'node:path';
import { z } from 'zod';
import { telemetryVariables, tracingOf, type TracingConfig } from './observability/environment.js';
import { checkTemporal, temporalOf, temporalVariables, workerOf, type TemporalConfig, type WorkerConfig } from './temporal/environment.js';

const port = z.coerce.number().int().min(0).max(65_535);
const flag = z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1');
const surface = z.enum(['gateway', 'platform', 'callbacks']);

/** Every variable that the product reads, with its default (contract, Environment). Unset and empty are the same. */
const Environment = z.object({
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  PORT: port.default(8080),
  HOST: z.string().default('0.0.0.0'),
  DOWNSTREAM_PORT: port.default(8081),
  DOWNSTREAM_HOST: z.string().default('127.0.0.1'),
  BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
  SURFACES: z
    .string()
    .default('gateway,platform,callbacks')
    .transform((text) => text.split(',').map((name) => name.trim()))
    .pipe(z.array(surface).nonempty()),
  DATA_DIR: z.string().default('.data'),
  TRUST_PROXY: z.coerce.number().int().min(0).default(0),
  MONGODB_URI: z.string().default('mongodb://localhost:27017/service'),
  NEO4J_URI: z.string().default('bolt://localhost:7687'),
  NEO4J_USER: z.string().default('neo4j'),
  NEO4J_PASSWORD: z.string().default(''),
  LLM_BASE_URL: z.url().optional(),
  LLM_API_KEY: z.string().optional(),
  LLM_MODEL: z.string().optional(),
  LLM_IDLE_TIMEOUT_MS: z.coerce.number().int().min(1).default(120_000),
  QUOTA_PROJECT_MAX: z.coerce.number().int().min(0).default(120),
  QUOTA_ORG_MAX: z.coerce.number().int().min(0).default(600),
  QUOTA_WINDOW_SECONDS: z.coerce.number().positive().default(60),
  SECRETS_KEY: z.string().optional(),
  USER_TOKEN_JWKS_URL: z.url({ protocol: /^https?$/ }).optional(),
  USER_TOKEN_ISSUER: z.string().optional(),
  CODESYNC_WEBHOOK_SECRET: z.string().optional(),
  CATALOG_WEBHOOK_SECRET: z.string().optional(),
  CATALOG_SERVER_KEY: z.string().optional(),
  CATALOG_URL: z.url({ protocol: /^https?$/ }).optional(),
  CATALOG_TOKEN: z.string().optional(),
  CATALOG_PROJECT_ID: z.string().optional(),
  CATALOG_QUIET_WINDOW_MS: z.coerce.number().int().min(0).default(5000),
  CATALOG_LONGEST_WAIT_MS: z.coerce.number().int().min(0).default(60_000),
  CALLBACK_DOWNSTREAM_URL: z.url({ protocol: /^https?$/ }).optional(),
  CALLBACK_BODY_LIMIT: z.coerce.number().int().min(0).default(25 * 1024 * 1024),
  CALLBACK_TIMEOUT_MS: z.coerce.number().int().min(1).default(30_000),
  ALLOW_PRIVATE_TARGETS: flag.default(false),
  SEED: flag.optional(),
  WORKER_METRICS_PORT: port.optional(),
  S3_BUCKET: z.string().optional(),
  AWS_REGION: z.string().optional(),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  AWS_SESSION_TOKEN: z.string().optional(),
  AWS_ENDPOINT_URL_S3: z.url({ protocol: /^https?$/ }).optional(),
  AWS_ENDPOINT_URL: z.url({ protocol: /^https?$/ }).optional(),
  ...temporalVariables,
  ...telemetryVariables,
});
const needed = 'is needed with S3_BUCKET';
const CheckedEnvironment = Environment.refine((env) => env.S3_BUCKET === undefined || env.AWS_REGION !== undefined, { path: ['AWS_REGION'], message: needed }).refine(
  (env) => env.S3_BUCKET === undefined || (env.AWS_ACCESS_KEY_ID === undefined) === (env.AWS_SECRET_ACCESS_KEY === undefined),
  { path: ['AWS_SECRET_ACCESS_KEY'], message: 'goes together with AWS_ACCESS_KEY_ID' },
).superRefine(checkTemporal);

/** Names of all variables that are read; `OTEL_…` and `TEMPORAL_GRPC_META_…` that their own packages read are more. */
export const environmentVariables: readonly string[] = Object.keys(Environment.shape);

export type Surface = z.infer<typeof surface>;

export interface Config {
  environment: 'development' | 'test' | 'production';
  logLevel: string;
  host: string;
  port: number;
  downstreamPort: number;
  /** The public address without a trailing slash; undefined: `http://localhost:<the port that was bound>`. */
  baseUrl: string | undefined;
  surfaces: readonly Surface[];
  dataDir: string;
  /** How many proxies in front of us are trusted to tell the caller's address. */
  trustProxy: number;
  temporal: TemporalConfig;
  worker: WorkerConfig;
  mongodb: { uri: string };
  neo4j: { uri: string; user: string; password: string };
  /** `idleMs`: how long the endpoint may send nothing of an answer. */
  llm: { baseUrl: string | undefined; apiKey: string | undefined; model: string | undefined; idleMs: number };
  /** Admissions in a sliding window; 0 is unlimited. */
  quota: { projectMax: number; organizationMax: number; windowSeconds: number };
  /** The key that secrets at rest are encrypted with; undefined: one generated below `dataDir`, never in production. */
  secretsKey: string | undefined;
  /** An outside identity provider whose user tokens are taken as well. */
  userTokens: { jwksUrl: string | undefined; issuer: string | undefined };
  callbacks: CallbacksConfig;
  catalog: CatalogConfig;
  allowPrivateTargets: boolean;
  seed: boolean;
  /** The bucket for files; undefined: below `dataDir`. Credentials undefined: the AWS client finds its own. */
  s3: S3Config | undefined;
  /** Undefined: no trace is exported. */
  tracing: TracingConfig | undefined;
  /** Where a worker serves its metrics; undefined: nowhere. */
  workerMetricsPort: number | undefined;
}

export interface S3Config {
  bucket: string;
  region: string;
  /** A server other than AWS's. */
  endpoint: string | undefined;
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | undefined;
}

export interface CallbacksConfig {
  /** Undefined: this process's own downstream listener. */
  downstreamUrl: string | undefined;
  downstreamHost: string;
  /** The largest body of a callback, in bytes. */
  bodyLimit: number;
  timeoutMs: number;
  codesyncSecret: string | undefined;
  catalogSecret: string | undefined;
  serverKey: string | undefined;
}

export interface CatalogConfig {
  url: string | undefined;
  token: string | undefined;
  /** The project whose graph the catalog is brought into; undefined: the seeded one. */
  projectId: string | undefined;
  quietWindowMs: number;
  longestWaitMs: number;
}

/**
 * Reads the environment once.
 * @throws Error that names every variable that is wrong, one a line, without its value.
 */
export function loadConfig(environment: NodeJS.ProcessEnv): Config {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = CheckedEnvironment.safeParse(present);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`The environment is not usable:\n${lines.join('\n')}`);
  }
  const env = parsed.data;
  return {
    environment: env.NODE_ENV,
    logLevel: env.LOG_LEVEL,
    host: env.HOST,
    port: env.PORT,
    downstreamPort: env.DOWNSTREAM_PORT,
    baseUrl: env.BASE_URL?.replace(/\/+$/, ''),
    surfaces: env.SURFACES,
    dataDir: path.resolve(env.DATA_DIR),
    trustProxy: env.TRUST_PROXY,
    temporal: temporalOf(env, present as Record<string, string>),
    worker: workerOf(env),
    mongodb: { uri: env.MONGODB_URI },
    neo4j: { uri: env.NEO4J_URI, user: env.NEO4J_USER, password: env.NEO4J_PASSWORD },
    llm: { baseUrl: env.LLM_BASE_URL, apiKey: env.LLM_API_KEY, model: env.LLM_MODEL, idleMs: env.LLM_IDLE_TIMEOUT_MS },
    quota: { projectMax: env.QUOTA_PROJECT_MAX, organizationMax: env.QUOTA_ORG_MAX, windowSeconds: env.QUOTA_WINDOW_SECONDS },
    secretsKey: env.SECRETS_KEY,
    userTokens: { jwksUrl: env.USER_TOKEN_JWKS_URL, issuer: env.USER_TOKEN_ISSUER },
    callbacks: {
      downstreamUrl: env.CALLBACK_DOWNSTREAM_URL,
      downstreamHost: env.DOWNSTREAM_HOST,
      bodyLimit: env.CALLBACK_BODY_LIMIT,
      timeoutMs: env.CALLBACK_TIMEOUT_MS,
      codesyncSecret: env.CODESYNC_WEBHOOK_SECRET,
      catalogSecret: env.CATALOG_WEBHOOK_SECRET,
      serverKey: env.CATALOG_SERVER_KEY,
    },
    catalog: {
      url: env.CATALOG_URL,
      token: env.CATALOG_TOKEN,
      projectId: env.CATALOG_PROJECT_ID,
      quietWindowMs: env.CATALOG_QUIET_WINDOW_MS,
      longestWaitMs: env.CATALOG_LONGEST_WAIT_MS,
    },
    allowPrivateTargets: env.ALLOW_PRIVATE_TARGETS,
    seed: env.SEED ?? env.NODE_ENV !== 'production',
    s3: s3Of(env),
    tracing: tracingOf(env),
    workerMetricsPort: env.WORKER_METRICS_PORT,
  };
}

function s3Of(env: z.infer<typeof Environment>): S3Config | undefined {
  const { S3_BUCKET: bucket, AWS_REGION: region, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken } = env;
  if (bucket === undefined || region === undefined) return undefined;
  const credentials = accessKeyId === undefined || secretAccessKey === undefined ? undefined : { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  return { bucket, region, endpoint: env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL, credentials };
}
