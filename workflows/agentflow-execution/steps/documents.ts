import type { Document, DocumentReference } from '../messages.js';
import { idempotencyKey, type StepDefinition, type StepResult } from './definition.js';

interface DocumentsStep {
  kind: 'documents';
}

export interface ReadDocumentsRequest {
  idempotency_key: string;
  files: DocumentReference[];
}

interface Activities {
  readDocuments(request: ReadDocumentsRequest): Promise<StepResult<Document[]>>;
}

export const documents: StepDefinition<DocumentsStep, Activities> = {
  kind: 'documents',
  isAgentWork: false,
  activity: 'readDocuments',
  profile: { startToCloseTimeout: '10m' },
  id: () => 'documents',
  name: () => 'read documents',
  run: ({ readDocuments }, _step, run) =>
    readDocuments({ idempotency_key: idempotencyKey(run), files: run.input.files }),
  keep: (texts, _step, { state }) => {
    state.documents = texts;
  },
};
