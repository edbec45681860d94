import { z } from 'zod';

/** The maximum number of dimensions of Neo4j's vector index. */
const maxDimensions = 4096;

export const embeddingVariables = {
  EMBEDDING_BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
  EMBEDDING_API_KEY: z.string().optional(),
  EMBEDDING_MODEL: z.string().max(200).optional(),
  EMBEDDING_DIMENSIONS: z.coerce.number().int().min(1).max(maxDimensions).optional(),
  EMBEDDING_REQUESTS_PER_SECOND: z.coerce.number().positive().default(10),
  RERANK_BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
  RERANK_API_KEY: z.string().optional(),
  RERANK_MODEL: z.string().max(200).optional(),
};

type Variables = z.infer<z.ZodObject<typeof embeddingVariables>>;

export interface EmbeddingConfig {
  baseUrl: string;
  apiKey: string | undefined;
  model: string;
  dimensions: number;
  /** The limit of each process. */
  requestsPerSecond: number;
}

/** An endpoint that the operator configures, with `POST /rerank` as Cohere, Jina and local servers offer it. */
export interface RerankConfig {
  baseUrl: string;
  apiKey: string | undefined;
  model: string;
}

/** Requires a model for an endpoint, and dimensions for embeddings. Refuses them without an endpoint. */
export function checkEmbedding(
  env: Variables,
  context: { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void },
): void {
  for (const parts of together) {
    const given = parts.filter((name) => env[name] !== undefined);
    if (given.length === 0) continue;
    for (const name of parts.filter((part) => env[part] === undefined))
      context.addIssue({ code: 'custom', path: [name], message: `is needed with ${given[0]}` });
  }
}

const together = [
  ['EMBEDDING_BASE_URL', 'EMBEDDING_MODEL', 'EMBEDDING_DIMENSIONS'],
  ['RERANK_BASE_URL', 'RERANK_MODEL'],
] as const;

/** Returns undefined without an endpoint: search then keeps its own order. */
export function rerankOf(env: Variables): RerankConfig | undefined {
  const { RERANK_BASE_URL: baseUrl, RERANK_MODEL: model, RERANK_API_KEY: apiKey } = env;
  return baseUrl === undefined || model === undefined ? undefined : { baseUrl, model, apiKey };
}

/** Returns undefined without an endpoint: then nothing is embedded. */
export function embeddingOf(env: Variables): EmbeddingConfig | undefined {
  const { EMBEDDING_BASE_URL: baseUrl, EMBEDDING_MODEL: model, EMBEDDING_DIMENSIONS: dimensions } = env;
  if (baseUrl === undefined || model === undefined || dimensions === undefined) return undefined;
  return {
    baseUrl,
    model,
    dimensions,
    apiKey: env.EMBEDDING_API_KEY,
    requestsPerSecond: env.EMBEDDING_REQUESTS_PER_SECOND,
  };
}
