import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';
import { Action } from '../agentflows/record/skills.js';
import { exampleAction } from '../agentflows/record/examples.js';
import { exampleId } from '../../base/ids.js';

export const StandaloneAction = Action.extend({ projectID: z.string(), user_id: z.string() }).meta({
  id: 'StandaloneAction',
  example: { ...exampleAction, projectID: exampleId, user_id: 'user_1' },
});
type ActionDocument = z.infer<typeof StandaloneAction>;

export const actionsCollection = defineCollection('actions', { indexes: [{ keys: { projectID: 1, _id: -1 } }] });

declare module '../../stores/collections.js' {
  interface Documents {
    actions: ActionDocument;
  }
}
