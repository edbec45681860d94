import { defineCollection } from '../../stores/collections.js';
import { type Skill } from '../agentflows/record/skills.js';

export const skillsCollection = defineCollection('skills', { indexes: [{ keys: { projectID: 1, _id: -1 } }] });

declare module '../../stores/collections.js' {
  interface Documents {
    skills: Skill;
  }
}
