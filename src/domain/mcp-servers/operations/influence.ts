import type { SecretBox } from '../../../auth/secret-box.js';
import { canonicalText } from '../../../base/json.js';
import { sha256Hex } from '../../../base/hash.js';
import type { Collections, Documents } from '../../../stores/collections.js';
import { openConfig } from '../../connectors/operations/store.js';
import { authorizationId, type McpAuthorizationDocument } from '../record/authorizations.js';
import type { McpAgreementDocument } from '../record/agreements.js';

export interface InfluenceDeps {
  collections: Pick<Collections, 'executions' | 'connectors' | 'mcp_authorizations' | 'mcp_agreements' | 'users'>;
  box: SecretBox;
}

type Run = Documents['executions'];

/** The account of a person at the MCP server of a connector. */
export interface Account {
  connectorId: string;
  owner: string;
}

/** What other people than the owner of an account have to do with a run. */
export interface Influence {
  /** People who started it, changed its schedule or triggers, or edited what it does. No agreement covers them. */
  directed: string[];
  /** People who only changed its content: the agentflow, or the configuration of a connector. */
  changed: string[];
  /** The digest of the content. */
  digest: string;
  authorization: McpAuthorizationDocument | null;
}

const fields = {
  ...{ agentflow_id: 1, agentflow: 1, plan: 1, flow: 1, projectID: 1, executed_by: 1 },
  ...{ caused_by: 1, directed_by: 1, shaped_by: 1 },
} as const;

export async function readRun({ executions }: InfluenceDeps['collections'], id: string): Promise<Run | null> {
  return executions.findOne({ _id: id }, { projection: fields });
}

/** Reads who influenced a run, and the content that it has now. Connectors are used as they are when the run acts. */
export async function influenceOn(
  { collections, box }: InfluenceDeps,
  { connectorId, owner }: Account,
  run: Run,
): Promise<Influence> {
  const { agentflow_id, agentflow, plan, flow, caused_by, directed_by, shaped_by = [], projectID } = run;
  const ids = plan.flatMap(({ skills }) => skills.flatMap(({ connector_id }) => connector_id ?? []));
  const [connectors, authorization] = await Promise.all([
    collections.connectors
      .find({ _id: { $in: [...new Set(ids)] }, projectID })
      .sort({ _id: 1 })
      .toArray(),
    collections.mcp_authorizations.findOne({ _id: authorizationId(connectorId, 'person', owner) }),
  ]);
  // Whoever authorized a server after a change of its connector knows the change.
  const knownUntil = (id: string) => (id === connectorId ? (authorization?.authorized_at ?? 0) : 0);
  const editors = connectors.flatMap(({ _id, config_edits = [] }) =>
    config_edits.filter(({ at }) => at > knownUntil(_id)).map(({ by }) => by),
  );
  const directed = othersIn([...directed_by, ...shaped_by], owner);
  const changed = othersIn([...caused_by, ...editors], owner).filter((id) => !directed.includes(id));
  const { started_by: _by, agentflow_version: _version, ...settings } = flow ?? {};
  const content = {
    agentflow_id,
    agentflow,
    plan,
    settings,
    connectors: connectors.map((each) => configOf(box, each)),
  };
  return { directed, changed, digest: sha256Hex(canonicalText(content)), authorization };
}

function othersIn(people: readonly string[], owner: string): string[] {
  return [...new Set(people)].filter((id) => id !== owner);
}

function configOf(box: SecretBox, connector: Documents['connectors']) {
  return { id: connector._id, config: openConfig(box, connector) };
}

export function agreementId({ connectorId, owner }: Account, contentDigest: string): string {
  return sha256Hex(JSON.stringify([connectorId, owner, contentDigest]));
}

/** The agreement of the owner to this content, if it is in force. */
export async function agreementTo(
  { mcp_agreements }: InfluenceDeps['collections'],
  account: Account,
  { digest, authorization }: Influence,
): Promise<McpAgreementDocument | undefined> {
  const found = await mcp_agreements.findOne({ _id: agreementId(account, digest) });
  return found && isInForce(found, authorization) ? found : undefined;
}

export function isInForce(
  { authorized_at }: Pick<McpAgreementDocument, 'authorized_at'>,
  authorization: McpAuthorizationDocument | null,
): boolean {
  return authorization?.ended === null && authorization.authorized_at === authorized_at;
}
