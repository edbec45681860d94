import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';
import { AgentflowContent } from '../agentflows/record.js';
import { EpochSeconds } from '../../base/time.js';
import { Id, OrganizationId, exampleId } from '../../base/ids.js';

const Time = EpochSeconds.describe('Epoch seconds.');

const Version = z.object({
  version: z.int().meta({ example: 2 }),
  notes: z.string().meta({ example: 'Reads scanned claims too' }),
  published_at: Time,
});

/** An agentflow that every organization may hire. */
export const Publication = z
  .object({
    _id: Id,
    name: z.string().meta({ example: 'Claims reader' }),
    description: z.string().meta({ example: 'Reads a claim and sums it up' }),
    role: z.string().meta({ example: 'assessor' }),
    image: z.string().meta({ example: 'https://cdn.acme.dev/claims.png' }),
    organization_id: OrganizationId.describe('The organization that published it.'),
    agentflow_id: Id.describe('The published agentflow; only its own project can read it.'),
    latest_version: z.int().meta({ example: 2 }),
    created_at: Time.describe('When its first version was published, in epoch seconds.'),
    updated_at: Time.describe('When its latest version was published, in epoch seconds.'),
  })
  .meta({ id: 'Publication' });
export type Publication = z.infer<typeof Publication>;

export const PublicationDetails = Publication.extend({
  versions: z.array(Version).describe('Newest first.'),
  agentflow: AgentflowContent.meta({
    description: 'The content of a copy of the latest version.',
    example: AgentflowContent.meta()?.example,
  }),
}).meta({ id: 'PublicationDetails' });
export type PublicationDetails = z.infer<typeof PublicationDetails>;

export const NewPublication = z
  .strictObject({
    agentflow_id: z.string().max(100),
    notes: z.string().max(10_000).default(''),
    projectID: z.string().optional(),
  })
  .meta({ id: 'PublicationInput', example: { agentflow_id: exampleId, notes: 'Reads scanned claims too' } });

export const UpdateCheck = z
  .object({
    marketplace_id: z.string(),
    agentflow_id: z.string().describe('The hired copy.'),
    hired_version: z.int(),
    latest_version: z.int(),
    update_available: z.boolean(),
  })
  .meta({
    id: 'UpdateCheck',
    example: {
      marketplace_id: 'publication_1',
      agentflow_id: 'agentflow_2',
      hired_version: 1,
      latest_version: 2,
      update_available: true,
    },
  });

/** `_id` is the id of the published agentflow, so that concurrent calls create only one publication. */
type PublicationDocument = Publication;

/** `_id` is `<publication>:<version>`. */
export interface PublicationVersionDocument extends z.infer<typeof Version> {
  _id: string;
  marketplace_id: string;
  published_by: string;
  content: AgentflowContent;
  /** The request that created it, which may be repeated. */
  request_id: string;
}

export const publicationsCollection = defineCollection('publications', {
  indexes: [{ keys: { created_at: -1, _id: -1 } }],
});
export const publicationVersionsCollection = defineCollection('publication_versions', {
  indexes: [{ keys: { marketplace_id: 1, version: -1 } }],
});

declare module '../../stores/collections.js' {
  interface Documents {
    publications: PublicationDocument;
    publication_versions: PublicationVersionDocument;
  }
}
