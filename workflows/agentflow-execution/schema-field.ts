export interface SchemaField {
  field_id: string;
  label: string;
  type: string;
  required: boolean;
  description: string;
  mark?: 'recipient' | 'account' | 'amount' | 'currency';
  /** Where an HTTP call sends the field. Absent: in the address if that uses it, otherwise in the query or the body. */
  in?: 'path' | 'query' | 'header' | 'body';
  /** What the author sends: a constant, whose texts are templates. The model is not asked for it. */
  value?: unknown;
}

/** Whether the author of the action gives the value of the field. */
export function hasOwnValue({ value }: Pick<SchemaField, 'value'>): boolean {
  return value !== undefined && value !== null;
}
