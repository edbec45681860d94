import { z } from 'zod';
import { flag } from '../../governance/operations/operation.js';
import { toolCase, multiplexedTool } from '../../governance/tools/tool.js';
import { AppError } from '../../base/errors.js';
import { commitOntology, currentOntology, refuseViolations, violationsOf } from '../../graph/ontology/commit.js';
import { Ontology, OntologyDefinition } from '../../graph/ontology/definition.js';
import { deleteDraft, listVersions, readDraft, recordVersion, saveDraft } from '../../graph/ontology/drafts.js';
import { epochSeconds, EpochSeconds } from '../../base/time.js';
import type { Deps } from '../deps.js';
import { defineOperation, type DomainTool } from '../operation.js';
import { UserId } from '../../base/ids.js';

const OntologyInput = z
  .strictObject({ define: OntologyDefinition.optional(), commit: z.literal(true).optional() })
  .refine(({ define, commit }) => !(define && commit), 'must not contain both define and commit')
  .meta({ id: 'OntologyRequest', example: { commit: true } });
type OntologyInput = z.output<typeof OntologyInput>;

const { version: Version } = Ontology.shape;
const DraftView = z.object({
  base_version: Version,
  updated_at: EpochSeconds,
  updated_by: UserId,
  ...OntologyDefinition.shape,
});
const OntologyAnswer = z
  .object({
    version: Version.describe('The version in force; 0 if none has been committed.'),
    ontology: Ontology.nullable(),
    draft: DraftView.nullable().meta({ example: null }),
    versions: z.array(z.object({ version: Version, committed_at: EpochSeconds, committed_by: UserId })),
  })
  .meta({ id: 'OntologyState' });

const rules = {
  name: 'ontology',
  changesContext: { when: 'context.input.commit' },
  facts: { commit: flag('commit') },
  output: OntologyAnswer,
  resource: () => ({ type: 'ontology', id: 'project' }),
} as const;
const changes = { ...rules, grant: 'svc:ontology.write', effect: 'write' } as const;

const readOntologyState = defineOperation({
  ...rules,
  grant: 'svc:docs.read',
  effect: 'read',
  dryRun: async () => ({ read: 'ontology' }),
  run: ({ deps, ctx }) => stateOf(deps, ctx.principal.projectId),
});

const defineOntology = defineOperation({
  ...changes,
  input: z.strictObject({ define: OntologyDefinition }),
  async dryRun({ deps, ctx: { principal }, input: { define } }) {
    const { count, samples } = await violationsOf(deps.graph, principal.projectId, define);
    return { define: Object.keys(define.entity_types), violations: count, samples };
  },
  async run({ deps, ctx: { principal }, input: { define } }) {
    const { projectId, organizationId, userId } = principal;
    const baseVersion = (await currentOntology(deps.graph, projectId))?.version ?? 0;
    const draft = { definition: define, baseVersion, userId };
    await saveDraft(deps.mongo.collections, { projectId, organizationId }, draft);
    return stateOf(deps, projectId);
  },
});

const commitDraft = defineOperation({
  ...changes,
  fixedFacts: { commit: true },
  async prepare({ deps, ctx: { principal } }) {
    const draft = await readDraft(deps.mongo.collections, principal.projectId);
    if (!draft) throw new AppError('conflict', 'there is no draft to commit; define one first');
    refuseViolations(await violationsOf(deps.graph, principal.projectId, draft.definition));
    return draft;
  },
  boundState: async ({ prepared: { revision, base_version } }) => ({ draft_revision: revision, base_version }),
  dryRun: async ({ prepared }) => ({ commit: prepared.base_version + 1 }),
  async run({ deps, ctx: { principal }, prepared: { definition, base_version: baseVersion, revision } }) {
    const { projectId, userId } = principal;
    const by = { committedAt: epochSeconds(), committedBy: userId };
    await commitOntology(deps.graph, projectId, { definition, baseVersion, ...by });
    await deleteDraft(deps.mongo.collections, projectId, revision);
    return stateOf(deps, projectId);
  },
});

const answer = (state: unknown) => state;

/** Drafts the project's ontology, and commits a draft (docs/specification.md, `POST /v1/ontology`). */
export const ontologyTool: DomainTool = multiplexedTool({
  name: 'ontology',
  title: 'Define and commit the ontology',
  description:
    '`define` saves a draft of entity and relationship types. `commit` checks the draft against stored data and puts it in force as a new version. Without either, returns the draft and the version in force.',
  hints: { readOnly: false, destructive: false, idempotent: false },
  input: OntologyInput,
  output: OntologyAnswer,
  choose: (args) => ['define', 'commit'].find((name) => args[name] !== undefined),
  cases: {
    read: toolCase(readOntologyState, () => ({}), answer),
    define: toolCase(defineOntology, ({ define }: OntologyInput) => ({ input: { define } }), answer),
    commit: toolCase(commitDraft, () => ({}), answer),
  },
});

type StateDeps = Pick<Deps, 'graph' | 'mongo'>;

/** The graph determines the version in force. If a crash kept it out of the history, it is added when it is read. */
export async function stateOf(
  { graph, mongo: { collections } }: StateDeps,
  projectId: string,
): Promise<z.infer<typeof OntologyAnswer>> {
  const ontology = await currentOntology(graph, projectId);
  if (ontology) await recordVersion(collections, projectId, ontology);
  const [draft, versions] = await Promise.all([
    readDraft(collections, projectId),
    listVersions(collections, projectId),
  ]);
  return {
    version: ontology?.version ?? 0,
    ontology,
    draft: draft && {
      base_version: draft.base_version,
      updated_at: draft.updated_at,
      updated_by: draft.updated_by,
      ...draft.definition,
    },
    versions,
  };
}
