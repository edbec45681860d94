/** What gateway calls take and give. Times are epoch seconds. */

export type Governed<T> = T & { lifecycle_id: string };

export interface ContextQuery {
  /** A question, or Cypher that begins with a read clause and filters on `project_id = $project_id`. */
  query: string;
  /** Parameters of the Cypher text; never the project. */
  params?: Record<string, unknown>;
  /** 25, at most 200. */
  limit?: number;
  /** 5,000, at most 30,000. */
  timeout_ms?: number;
  /** Facts as they held then: epoch seconds, or ISO 8601 with its zone. */
  as_of?: number | string;
  granted_projects?: boolean;
}

export interface Provenance {
  saved_by: string | null;
  source: string | null;
  recorded_at: number | null;
  consumed: { lifecycle_id: string; run: string | null; at: number };
}

export interface Entity {
  id: string;
  type: string;
  name: string;
  properties: Record<string, unknown>;
  score: number;
  project_id: string;
  provenance: Provenance;
}

export interface Relationship {
  id: string;
  type: string;
  from: string;
  to: string;
  properties: Record<string, unknown>;
  provenance: Provenance;
}

export interface Fact {
  subject: string;
  predicate: string;
  object: string | number | boolean;
  confidence: number | string;
  valid_from: number | null;
  valid_to: number | null;
  provenance: Provenance;
}

export interface ContextAnswer {
  entities: Entity[];
  relationships: Relationship[];
  facts: Fact[];
  rows: Record<string, unknown>[];
  limit: number;
  truncated: boolean;
}

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
/** An entity's id, or its type and name. */
export type EntityRef = string | { type: string; name: string };
export type NewEntity = { id?: string; type: string; name: string; properties?: Record<string, Json> };
export type NewRelationship = { from: EntityRef; type: string; to: EntityRef; properties?: Record<string, Json> };

export interface ContextToSave {
  entities?: NewEntity[];
  relationships?: NewRelationship[];
  facts?: {
    subject: EntityRef;
    predicate: string;
    object: string | number | boolean | { type: string; name: string };
    confidence?: number;
    valid_from?: number | string | null;
    valid_to?: number | string | null;
  }[];
  /** Where this was learned. */
  source?: string;
}

/** What a data catalog knows. */
export interface CatalogToIngest {
  source: string;
  entities?: NewEntity[];
  relationships?: NewRelationship[];
}

export interface SavedContext {
  saved: { entities: number; relationships: number; facts: number };
  /** The id of each entity of the request, in its order. */
  ids: string[];
}

export type DocsTopic = 'governance' | 'ontology' | 'query' | 'tools' | 'errors';

/** What every topic tells; the rest is the topic's. */
export interface Docs {
  topic: DocsTopic;
  auth_kind: 'api_key' | 'user_jwt' | 'session';
  /** Of an OAuth access token. */
  client_id?: string;
  grants: string[];
  /** A maximum of 0 is none. */
  quota: { org_window_max: number; org_window_used: number; project_window_max: number; project_window_used: number };
  [name: string]: unknown;
}

export interface AgentRun {
  /** An agentflow with a promoted version. */
  agentflow_id: string;
  goal: string;
  inputs?: Record<string, unknown>;
}

export interface StartedRun {
  execution_id: string;
  status: string;
}

export interface SavedSkill {
  skill_id: string;
  name: string;
}

/** What agents of the project use that name no model of their own. */
export interface ModelSettings {
  model: string;
  /** 0.2 */
  temperature?: number;
  /** 1,024 */
  max_tokens?: number;
}

export interface RepositoryBinding {
  repository: string;
  branch: string | null;
  bound_at: number;
}

export interface OntologyState {
  /** In force; 0 where none was committed. */
  version: number;
  ontology: Record<string, unknown> | null;
  draft: Record<string, unknown> | null;
  versions: { version: number; committed_at: number; committed_by: string }[];
}

export type ProjectMode = 'simple' | 'governed';

export interface DryRun {
  dry_run: true;
  would: Record<string, unknown>;
}

export type Orchestration =
  | { operation: 'list'; limit?: number }
  | { operation: 'get' | 'pause' | 'resume' | 'cancel'; execution_id: string; reason?: string };

export interface Orchestrated {
  executions?: (StartedRun & Record<string, unknown>)[];
  execution?: StartedRun & Record<string, unknown>;
}
