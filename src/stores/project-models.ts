/** `_id` is the project id: the model settings that its agents use when they name no model (contract, `/v1/save-model`). */
export interface ProjectModelDocument {
  _id: string;
  organization_id: string;
  model: string;
  temperature: number;
  max_tokens: number;
  updated_at: number;
  updated_by: string;
}
