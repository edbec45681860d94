import type { Document, DocumentReference } from '../messages.js';
import type { StepDefinition, StepResult } from './definition.js';

export interface DocumentsStep {
  kind: 'documents';
}

export interface ReadDocumentsRequest {
  files: DocumentReference[];
}

interface Activities {
  readDocuments(request: ReadDocumentsRequest): Promise<StepResult<Document[]>>;
}

export const documents: StepDefinition<DocumentsStep, Activities> = {
  kind: 'documents',
  isAgentWork: false,
  activity: 'readDocuments',
  profile: { startToCloseTimeout: '1m' },
  id: () => 'documents',
  name: () => 'read documents',
  run: ({ readDocuments }, _step, { input }) => readDocuments({ files: input.files }),
  keep: (texts, _step, { state }) => {
    state.documents = texts;
  },
};
