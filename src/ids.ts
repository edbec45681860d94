import { v7, validate } from 'uuid';

/** A new record id: UUIDv7, so that ids sort by the time they were made. */
export function newId(): string {
  return v7();
}

export function isId(value: string): boolean {
  return validate(value);
}
