import { z } from 'zod';
import { EpochSeconds } from '../../../base/time.js';
import { UserId } from '../../../base/ids.js';
import { defineCollection, expiring } from '../../../stores/collections.js';

/** What a page with an open editor says. */
export const EditingInput = z
  .strictObject({
    window: z
      .string()
      .min(1)
      .max(64)
      .describe('Any text that identifies the window, so that a late message of one that was closed has no effect.'),
    state: z
      .enum(['open', 'changed', 'closed'])
      .describe(
        '`open`: the editor is open. `changed`: it also has changes that are not saved. `closed`: it is not open.',
      ),
  })
  .meta({ id: 'AgentflowEditingInput', example: { window: '7f3a9c', state: 'changed' } });

const AgentflowEditor = z
  .object({
    user_id: UserId,
    since: EpochSeconds.describe('When the person opened the editor.'),
    has_changes: z.boolean().describe('Whether the person has changes that are not saved.'),
  })
  .meta({ id: 'AgentflowEditor' });

export const AgentflowEditors = z
  .object({ data: z.array(AgentflowEditor).describe('The other people, at most 20, the first one first.') })
  .meta({ id: 'AgentflowEditors' });

/** One person who has the editor of an agentflow open, however many windows there are. Times are epoch seconds. */
export interface AgentflowEditorDocument {
  /** `<agentflow>/<user>`. */
  _id: string;
  agentflow_id: string;
  user_id: string;
  since: number;
  has_changes: boolean;
  /** The window that spoke last. */
  window: string;
  expires_at: Date;
}

export const agentflowEditorsCollection = defineCollection('agentflow_editors', {
  indexes: [{ keys: { agentflow_id: 1, since: 1 } }, expiring],
});

declare module '../../../stores/collections.js' {
  interface Documents {
    agentflow_editors: AgentflowEditorDocument;
  }
}
