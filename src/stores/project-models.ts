import { defineCollection } from './collections.js';
/**
 * The model settings for agents of the project that name no model (contract, `/v1/save-model`). `_id` is the project
 * id.
 */
export interface ProjectModelDocument {
  _id: string;
  organization_id: string;
  model: string;
  temperature: number | null;
  max_tokens: number | null;
  updated_at: number;
  updated_by: string;
}

export const projectModelsCollection = defineCollection('project_models', {});

declare module './collections.js' {
  interface Documents {
    project_models: ProjectModelDocument;
  }
}
