import { z } from 'zod';
import { isPerson, type Principal } from '../../../auth/principal.js';
import { namesOf } from '../../../auth/users.js';
import { AppError, notFound } from '../../../base/errors.js';
import { textFacts } from '../../../governance/operations/operation.js';
import { Id } from '../../../base/ids.js';
import { listOf, listPage, ListQuery } from '../../../stores/lists.js';
import { epochSeconds } from '../../../base/time.js';
import { requireConnector } from '../../connectors/operations/setup.js';
import type { Deps } from '../../deps.js';
import { defineOperation, reads, writes } from '../../operation.js';
import { McpAgreement, McpAgreementOffer, NewMcpAgreement, type McpAgreementDocument } from '../record/agreements.js';
import { authorizationId, type McpAuthorizationDocument } from '../record/authorizations.js';
import { oauthServerOf } from './authorize.js';
import { agreementId, agreementTo, influenceOn, isInForce, readRun, type Influence } from './influence.js';

const ofConnector = z.object({ connector_id: Id });
const rules = { ...writes, facts: textFacts('connector_id') } as const;

/** The caller's own agreements for a connector. */
export const listMcpAgreements = defineOperation({
  name: 'mcp-agreement.list',
  ...reads,
  key: ofConnector,
  input: ListQuery,
  output: listOf(McpAgreement),
  async run({ deps, ctx: { principal }, key: { connector_id }, input }) {
    const { collections } = deps.mongo;
    await requireConnector(collections, principal, connector_id);
    const filter = { connector_id, user_id: principal.userId };
    const [page, authorization] = await Promise.all([
      listPage(collections.mcp_agreements, filter, input, 'agreed_at'),
      collections.mcp_authorizations.findOne({ _id: authorizationId(connector_id, 'person', principal.userId) }),
    ]);
    return { ...page, data: page.data.map((each) => toAgreement(each, authorization)) };
  },
});

/** What the caller would agree to: the content of a run that acts for them. Throws `not_found` for another run. */
export const readMcpAgreementOffer = defineOperation({
  name: 'mcp-agreement.read-offer',
  ...reads,
  key: ofConnector.extend({ execution_id: Id }),
  output: McpAgreementOffer,
  errors: ['conflict'],
  run: async ({ deps, ctx: { principal }, key }) => (await offerOf(deps, principal, key)).offer,
});

/** Throws `scope_denied` for a program, and `conflict` if the content changed or there is no authorization. */
export const createMcpAgreement = defineOperation({
  name: 'mcp-agreement.create',
  ...rules,
  key: ofConnector,
  input: NewMcpAgreement,
  output: McpAgreement,
  errors: ['conflict', 'scope_denied'],
  async run({ deps, ctx: { principal }, key: { connector_id }, input: { execution_id, content_digest } }) {
    requirePerson(principal);
    const { offer, influence } = await offerOf(deps, principal, { connector_id, execution_id });
    if (offer.content_digest !== content_digest)
      throw new AppError('conflict', 'the content changed since you read it: read it again');
    const { authorization, directed, changed } = influence;
    if (authorization?.ended !== null)
      throw new AppError('conflict', 'you have not authorized the MCP server, so there is no account to use');
    if (directed.length > 0)
      throw new AppError(
        'conflict',
        'somebody else started or edited this run: start a run of the agentflow yourself, and agree to its content',
      );
    const agreement: McpAgreementDocument = {
      _id: agreementId({ connectorId: connector_id, owner: principal.userId }, content_digest),
      ...{ connector_id, project_id: principal.projectId, user_id: principal.userId, execution_id, content_digest },
      ...{ agentflow_id: offer.agentflow_id, agentflow_name: offer.agentflow_name, changed_by: changed },
      ...{ agreed_at: epochSeconds(), authorized_at: authorization.authorized_at },
    };
    await deps.mongo.collections.mcp_agreements.replaceOne({ _id: agreement._id }, agreement, { upsert: true });
    return toAgreement(agreement, authorization);
  },
});

/** Ends an agreement of the caller. Runs that are under way do not use the account any more either. */
export const deleteMcpAgreement = defineOperation({
  name: 'mcp-agreement.delete',
  ...rules,
  key: ofConnector.extend({ agreement_id: z.string().max(64) }),
  output: McpAgreement,
  async run({ deps, ctx: { principal }, key: { connector_id, agreement_id } }) {
    await requireConnector(deps.mongo.collections, principal, connector_id);
    const mine = { _id: agreement_id, connector_id, user_id: principal.userId };
    const ended = await deps.mongo.collections.mcp_agreements.findOneAndDelete(mine);
    if (!ended) throw notFound('the agreement');
    return toAgreement(ended, null);
  },
});

function requirePerson(principal: Principal): void {
  if (!isPerson(principal))
    throw new AppError('scope_denied', 'only a signed-in person agrees to the use of their account');
}

async function offerOf(
  deps: Deps,
  principal: Principal,
  { connector_id, execution_id }: { connector_id: string; execution_id: string },
): Promise<{ offer: McpAgreementOffer; influence: Influence }> {
  const { collections } = deps.mongo;
  const connector = await requireConnector(collections, principal, connector_id);
  const server = oauthServerOf(deps.auth.box, connector);
  if (server.auth.owner !== 'person')
    throw new AppError('conflict', 'the MCP server is authorized for the project, so no agreement is needed');
  const run = await readRun(collections, execution_id);
  if (run?.projectID !== principal.projectId || run.executed_by._id !== principal.userId)
    throw notFound('a run that acts for you, with this id,');
  const account = { connectorId: connector_id, owner: principal.userId };
  const influence = await influenceOn({ collections, box: deps.auth.box }, account, run);
  const names = await namesOf(collections, influence.changed);
  const changed_by = influence.changed.map((user_id) => ({ user_id, name: names.get(user_id) ?? user_id }));
  const actions = run.plan.flatMap(({ skills }) =>
    skills.filter((skill) => skill.connector_id === connector_id).flatMap((skill) => skill.actions),
  );
  const tools = [...new Set(actions.flatMap(({ tool }) => tool?.name ?? []))];
  const { agentflow_id, agentflow } = run;
  const agreement = await agreementTo(collections, account, influence);
  const told = { name: agentflow.name, server: server.url, changedBy: changed_by.map(({ name }) => name), tools };
  return {
    influence,
    offer: {
      ...{ connector_id, server: server.url, agentflow_id, agentflow_name: agentflow.name, execution_id },
      ...{ content_digest: influence.digest, changed_by, tools, text: textOf(told) },
      agreement_id: agreement?._id ?? null,
    },
  };
}

interface Told {
  name: string;
  server: string;
  changedBy: string[];
  tools: string[];
}

function textOf({ name, server, changedBy, tools }: Told): string {
  const who =
    changedBy.length === 0
      ? 'Nobody else has changed it or its connectors, so it needs no agreement.'
      : `It or its connectors were changed by ${changedBy.join(', ')}.`;
  return `The agentflow "${name}". ${who} If you agree, your own runs and schedules of exactly this content use your account at ${server}, with the tools ${tools.join(', ') || 'of its skills'}. Runs that other people start or edit never use it. Every change of the agentflow or of its connectors ends the agreement.`;
}

function toAgreement(
  { _id, user_id: _user, project_id: _project, authorized_at, ...shown }: McpAgreementDocument,
  authorization: McpAuthorizationDocument | null,
): McpAgreement {
  return { ...shown, agreement_id: _id, is_in_force: isInForce({ authorized_at }, authorization) };
}
