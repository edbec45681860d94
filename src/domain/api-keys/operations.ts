import { z } from 'zod';
import {
  ApiKeyItem,
  ApiKeyListQuery,
  ApiKeyRequest,
  callerOn,
  listApiKeys,
  mintApiKey,
  NewApiKeyAnswer,
  revokeApiKey,
} from '../../auth/api-key-admin.js';
import { freeText, textFacts, texts, type Operation } from '../../governance/operations/operation.js';
import { listOf } from '../../stores/lists.js';
import { defineOperation } from '../operation.js';
import { Id, ProjectId, exampleId } from '../../base/ids.js';

const errors = ['scope_denied'] as const;

/** The role that the caller has on the project decides, so no grant is required. */
const createRules: Operation = {
  name: 'api-key.create',
  effect: 'write',
  grant: 'any',
  facts: { name: freeText('name'), grants: texts('grants') },
};

export const createKey = defineOperation({
  ...createRules,
  input: ApiKeyRequest.extend({ project_id: z.string().min(1) }).meta({
    id: 'ApiKeyRequest',
    example: { name: 'Nightly import', project_id: exampleId },
  }),
  output: NewApiKeyAnswer,
  errors,
  scopeOf: async ({ deps, principal, input }) => callerOn(deps, principal, (await input()).project_id),
  run: ({ deps, ctx, input: { project_id, ...request } }) => mintApiKey(deps, ctx.principal, project_id, request),
});

/** The form of the platform API: the query names the project. */
export const createKeyOfProject = defineOperation({
  ...createRules,
  key: z.object({ projectID: ProjectId.min(1) }),
  input: ApiKeyRequest,
  output: NewApiKeyAnswer,
  errors,
  scopeOf: ({ deps, principal, key }) => callerOn(deps, principal, key.projectID),
  run: ({ deps, ctx, key: { projectID }, input }) => mintApiKey(deps, ctx.principal, projectID, input),
});

export const listKeys = defineOperation({
  name: 'api-key.list',
  effect: 'read',
  grant: 'any',
  input: ApiKeyListQuery,
  output: listOf(ApiKeyItem),
  errors,
  run: ({ deps, ctx, input }) => listApiKeys(deps, ctx.principal, input),
});

export const revokeKey = defineOperation({
  name: 'api-key.revoke',
  effect: 'write',
  grant: 'any',
  facts: textFacts('key_id'),
  key: z.object({ key_id: Id, project_id: ProjectId.min(1) }),
  output: z.object({ id: Id, revoked: z.literal(true) }),
  errors,
  scopeOf: ({ deps, principal, key }) => callerOn(deps, principal, key.project_id),
  run: ({ deps, ctx, key: { key_id, project_id } }) => revokeApiKey(deps, ctx.principal, project_id, key_id),
});
