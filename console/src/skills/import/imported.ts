import type { Fields } from '../../agentflows/document.js';

/** A field of an action before it has its place in a form. */
export interface ImportedField extends Fields {
  field_id: string;
  type: string;
  required: boolean;
  description: string;
}

/** An action that was read, without an id. */
export interface ImportedAction {
  name: string;
  description: string;
  method: string;
  /** A URL, or a path where the document names no server. */
  address: string;
  content_type?: string;
  inputs: ImportedField[];
  outputs: ImportedField[];
  /** What of it was not understood or left out, as sentences. */
  notes: string[];
}

export interface Imported {
  actions: ImportedAction[];
  /** What concerns no single action. */
  notes: string[];
}

/** @throws nothing: what cannot be read is this error, with a sentence for people */
export class NotReadable extends Error {}

/** The formats of a body that an action can send. */
export const bodyTypes = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'] as const;

/** The name of a variable of a template, which a field in the path needs. */
export const variableOf = (name: string): string => name.replace(/[^A-Za-z0-9_]+/g, '_').replace(/^(?=\d)/, '_');
