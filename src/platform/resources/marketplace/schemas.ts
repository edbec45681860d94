import { z } from 'zod';
import { AgentflowContent, exampleContent } from './content.js';

const Time = z.number().meta({ description: 'Epoch seconds.' });

const Version = z.object({
  version: z.int(),
  notes: z.string(),
  published_at: Time,
});

/** An agentflow that every organization may hire. */
export const Publication = z
  .object({
    _id: z.string(),
    name: z.string(),
    description: z.string(),
    role: z.string(),
    image: z.string(),
    organization_id: z.string().meta({ description: 'Who publishes it.' }),
    agentflow_id: z.string().meta({ description: 'The agentflow that it is made of; read only by its own project.' }),
    latest_version: z.int(),
    created_at: Time,
    updated_at: Time,
  })
  .meta({
    id: 'Publication',
    example: {
      _id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10',
      name: 'Claims reader',
      description: 'Reads a claim and sums it up',
      role: 'assessor',
      image: '',
      organization_id: 'org_1',
      agentflow_id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10',
      latest_version: 2,
      created_at: 1763683200.5,
      updated_at: 1763769600.5,
    },
  });
export type Publication = z.infer<typeof Publication>;

export const PublicationDetails = Publication.extend({
  versions: z.array(Version).meta({ description: 'Newest first.' }),
  agentflow: AgentflowContent.meta({ description: 'What a copy of the latest version holds.', example: exampleContent }),
}).meta({ id: 'PublicationDetails' });
export type PublicationDetails = z.infer<typeof PublicationDetails>;

export const NewPublication = z
  .strictObject({ agentflow_id: z.string().max(100), notes: z.string().max(10_000).default(''), projectID: z.string().optional() })
  .meta({ id: 'NewPublication', example: { agentflow_id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10', notes: 'Reads scanned claims too' } });
export type NewPublication = z.infer<typeof NewPublication>;

export const UpdateCheck = z
  .object({
    marketplace_id: z.string(),
    agentflow_id: z.string().meta({ description: 'The hired copy.' }),
    hired_version: z.int(),
    latest_version: z.int(),
    update_available: z.boolean(),
  })
  .meta({
    id: 'UpdateCheck',
    example: { marketplace_id: 'publication_1', agentflow_id: 'agentflow_2', hired_version: 1, latest_version: 2, update_available: true },
  });
export type UpdateCheck = z.infer<typeof UpdateCheck>;

/** `_id` is the published agentflow's id, so that it has one publication, however many calls publish it at once. */
export type PublicationDocument = Publication;

/** `_id` is `<publication>:<version>`. */
export interface PublicationVersionDocument extends z.infer<typeof Version> {
  _id: string;
  marketplace_id: string;
  published_by: string;
  content: AgentflowContent;
  /** The request that made it, which may be repeated. */
  request_id: string;
}
