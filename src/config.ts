import path from 'node:path';
import { z } from 'zod';
import { checkEmbedding, embeddingOf, embeddingVariables, rerankOf } from './models/environment.js';
import { outboundVariables } from './outbound/environment.js';
import { telemetryVariables, tracingOf } from './observability/environment.js';
import { bucketVariables, checkBucket, s3Of } from './stores/environment.js';
import { checkTemporal, temporalOf, temporalVariables, workerOf } from './temporal/environment.js';
import { withoutTrailing } from './base/text.js';

const port = z.coerce.number().int().min(0).max(65_535);
const flag = z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1');
const surface = z.enum(['gateway', 'platform', 'callbacks']);
const protectedTargets = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((target) => target.trim())
      .filter((target) => target !== ''),
  )
  .refine(
    (list) => list.every((target) => /^(\[[0-9A-Fa-f:.]+\]|[^\s:/[\]]+)(:\d{1,5})?$/.test(target)),
    'must be hosts, or hosts with a port such as metrics.internal:9090, separated by commas',
  );
const origins = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((origin) => origin.trim())
      .filter((origin) => origin !== ''),
  )
  .refine(
    (list) => list.every((origin) => origin === '*' || isOrigin(origin)),
    'must be * or origins such as https://app.example.com, separated by commas',
  );

/** The schemes that browsers and operating systems handle themselves, some of which run code. No app may receive codes there. */
const commonSchemes: ReadonlySet<string> = new Set([
  ...['about', 'blob', 'chrome', 'chrome-extension', 'content', 'data', 'edge', 'file', 'filesystem', 'ftp', 'ftps'],
  ...['http', 'https', 'intent', 'jar', 'javascript', 'ldap', 'livescript', 'mailto', 'mocha', 'moz-extension', 'news'],
  ...['resource', 'sftp', 'smb', 'sms', 'ssh', 'tel', 'telnet', 'urn', 'vbscript', 'view-source', 'ws', 'wss'],
]);
const appSchemes = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((scheme) => scheme.trim().replace(/:(\/\/)?$/, ''))
      .filter((scheme) => scheme !== ''),
  )
  .refine(
    (list) => list.every((scheme) => /^[a-z][a-z0-9-]{1,62}$/.test(scheme) && !commonSchemes.has(scheme)),
    'must be schemes that only an app handles, such as myeditor, separated by commas; javascript, data, http and other common ones are not allowed',
  );

/** Every variable that the product reads, with its default (contract, Environment). Unset and empty are the same. */
const Environment = z.object({
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  PORT: port.default(8080),
  HOST: z.string().default('0.0.0.0'),
  DOWNSTREAM_PORT: port.optional(),
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
  MCP_SESSIONS_PER_ORGANIZATION: z.coerce.number().int().min(1).default(2000),
  MCP_ELICITATION_WAIT: z.coerce.number().int().min(1).max(3600).default(600),
  PLATFORM_RATE_MAX: z.coerce.number().int().min(0).default(6000),
  PLATFORM_RATE_ORG_MAX: z.coerce.number().int().min(0).default(30_000),
  PLATFORM_RATE_WINDOW_SECONDS: z.coerce.number().positive().default(60),
  STREAMS_PER_ORGANIZATION: z.coerce.number().int().min(0).default(500),
  SIGN_IN_ADDRESS_MAX: z.coerce.number().int().min(0).default(100),
  SIGN_IN_TOTAL_MAX: z.coerce.number().int().min(0).default(1000),
  CORS_ORIGINS: origins.optional(),
  OAUTH_APP_SCHEMES: appSchemes.default([]),
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
  CALLBACK_BODY_LIMIT: z.coerce
    .number()
    .int()
    .min(0)
    .default(25 * 1024 * 1024),
  CALLBACK_TIMEOUT_MS: z.coerce.number().int().min(1).default(30_000),
  ALLOW_PRIVATE_TARGETS: flag.default(false),
  PROTECTED_TARGETS: protectedTargets.default([]),
  VERIFY_RESPONSES: flag.default(false),
  SEED: flag.optional(),
  WORKER_METRICS_PORT: port.optional(),
  STEP_PATIENCE: z.coerce
    .number()
    .int()
    .min(1)
    .max(30 * 24 * 3600)
    .default(3600),
  MEMORY_RETENTION_DAYS: z.coerce.number().int().min(0).max(36_500).default(0),
  SDK_NODE_INSTALL: z.string().max(500).optional(),
  SDK_PYTHON_INSTALL: z.string().max(500).optional(),
  ...bucketVariables,
  ...embeddingVariables,
  ...outboundVariables,
  ...temporalVariables,
  ...telemetryVariables,
});
const CheckedEnvironment = Environment.superRefine(checkBucket).superRefine(checkEmbedding).superRefine(checkTemporal);

/** The names of all variables that this file reads. Other packages also read `OTEL_…` and `TEMPORAL_GRPC_META_…`. */
export const environmentVariables: readonly string[] = Object.keys(Environment.shape);

export type Config = ReturnType<typeof loadConfig>;
export type CatalogConfig = Config['catalog'];

/** The public address as far as the configuration alone says it: a port of 0 is known only to the process that binds it. */
export function publicUrlOf({ baseUrl, port }: Pick<Config, 'baseUrl' | 'port'>): string {
  return baseUrl ?? `http://localhost:${port}`;
}

/** Reads the environment. @throws Error with one line for each invalid variable, without its value */
export function loadConfig(environment: NodeJS.ProcessEnv) {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = CheckedEnvironment.safeParse(present);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`The environment has invalid variables:\n${lines.join('\n')}`);
  }
  const env = parsed.data;
  return {
    environment: env.NODE_ENV,
    logLevel: env.LOG_LEVEL,
    host: env.HOST,
    port: env.PORT,
    downstreamPort: env.DOWNSTREAM_PORT ?? 8081,
    /** The public address without a trailing slash; the default is `http://localhost:<bound port>`. */
    baseUrl: env.BASE_URL && withoutTrailing(env.BASE_URL, '/'),
    surfaces: env.SURFACES,
    dataDir: path.resolve(env.DATA_DIR),
    /** The number of trusted proxies that report the caller's address. */
    trustProxy: env.TRUST_PROXY,
    temporal: temporalOf(env, present as Record<string, string>),
    worker: workerOf(env),
    mongodb: { uri: env.MONGODB_URI },
    neo4j: { uri: env.NEO4J_URI, user: env.NEO4J_USER, password: env.NEO4J_PASSWORD },
    /** `idleMs`: the maximum time between two parts of a model's answer. */
    llm: { baseUrl: env.LLM_BASE_URL, apiKey: env.LLM_API_KEY, model: env.LLM_MODEL, idleMs: env.LLM_IDLE_TIMEOUT_MS },
    /** If undefined, nothing is embedded. */
    embedding: embeddingOf(env),
    rerank: rerankOf(env),
    /** How long remembered texts are kept after their extraction ended; 0 means until their project is deleted. */
    memoryRetentionDays: env.MEMORY_RETENTION_DAYS,
    /** The maximum number of admissions in a sliding window; 0 means unlimited. */
    quota: {
      projectMax: env.QUOTA_PROJECT_MAX,
      organizationMax: env.QUOTA_ORG_MAX,
      windowSeconds: env.QUOTA_WINDOW_SECONDS,
    },
    /** The maximum number of MCP sessions and open streams of one organization in one process. */
    mcpSessionsPerOrganization: env.MCP_SESSIONS_PER_ORGANIZATION,
    /** The command lines of the MCP servers that workers may run, by the names that connectors use. */
    mcpStdio: {
      commands: env.MCP_STDIO_COMMANDS,
      /** Below it, the processes of each project have their working folder. */
      folder: path.resolve(env.MCP_STDIO_DIR ?? path.join(env.DATA_DIR, 'mcp-processes')),
    },
    /** For how many seconds a call of an MCP tool waits for the answer of a person. */
    mcpElicitationWait: env.MCP_ELICITATION_WAIT,
    /** Requests per window of one key or person and of one organization, across all processes; 0 means unlimited. */
    requestLimit: {
      credentialMax: env.PLATFORM_RATE_MAX,
      organizationMax: env.PLATFORM_RATE_ORG_MAX,
      windowSeconds: env.PLATFORM_RATE_WINDOW_SECONDS,
    },
    /** The maximum number of open event streams of one organization in one process; 0 means unlimited. */
    streamsMax: env.STREAMS_PER_ORGANIZATION,
    /**
     * The maximum number of failed sign-ins: from one network in ten minutes, and in total in one minute; 0 means
     * unlimited.
     */
    signIn: { addressMax: env.SIGN_IN_ADDRESS_MAX, totalMax: env.SIGN_IN_TOTAL_MAX },
    /** The origins that browsers may call from. By default, OAuth endpoints accept every origin and MCP accepts none. */
    corsOrigins: env.CORS_ORIGINS,
    oauthAppSchemes: env.OAUTH_APP_SCHEMES,
    /** The key that encrypts secrets at rest. If undefined, a key is generated below `dataDir`, but never in production. */
    secretsKey: env.SECRETS_KEY,
    /** An external identity provider whose user tokens are accepted too. */
    userTokens: { jwksUrl: env.USER_TOKEN_JWKS_URL, issuer: env.USER_TOKEN_ISSUER },
    callbacks: {
      /** The default is this process's own downstream listener. */
      downstreamUrl: env.CALLBACK_DOWNSTREAM_URL,
      downstreamHost: env.DOWNSTREAM_HOST,
      /** A port that is set must be free. If the default port is taken, the listener uses any free one. */
      downstreamPortIsSet: env.DOWNSTREAM_PORT !== undefined,
      /** The maximum size of a callback body, in bytes. */
      bodyLimit: env.CALLBACK_BODY_LIMIT,
      timeoutMs: env.CALLBACK_TIMEOUT_MS,
      codesyncSecret: env.CODESYNC_WEBHOOK_SECRET,
      catalogSecret: env.CATALOG_WEBHOOK_SECRET,
      serverKey: env.CATALOG_SERVER_KEY,
    },
    catalog: {
      url: env.CATALOG_URL,
      token: env.CATALOG_TOKEN,
      /** The project that receives the catalog; the default is the seeded project. */
      projectId: env.CATALOG_PROJECT_ID,
      quietWindowMs: env.CATALOG_QUIET_WINDOW_MS,
      longestWaitMs: env.CATALOG_LONGEST_WAIT_MS,
    },
    allowPrivateTargets: env.ALLOW_PRIVATE_TARGETS,
    /** Servers that no agent or connector may call, in addition to those that this configuration names. */
    protectedTargets: env.PROTECTED_TARGETS,
    /** The commands in the connection info that install the clients; the default is to download them from here. */
    clientInstall: { node: env.SDK_NODE_INSTALL, python: env.SDK_PYTHON_INSTALL },
    /** Checks each answer against the schema of its route, and answers 500 if it differs. */
    verifyResponses: env.VERIFY_RESPONSES,
    seed: env.SEED ?? env.NODE_ENV !== 'production',
    /** The bucket for files; without it, files are stored below `dataDir`. Without credentials, the AWS client uses its own. */
    s3: s3Of(env),
    /** If undefined, traces are not exported. */
    tracing: tracingOf(env),
    /** How long a step with a temporary failure is retried, in seconds. */
    stepPatience: env.STEP_PATIENCE,
    /** The port on which a worker serves its metrics; if undefined, it does not serve them. */
    workerMetricsPort: env.WORKER_METRICS_PORT,
  };
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}
