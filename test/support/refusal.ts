import { expect } from '@jest/globals';

/** An answer that refuses: its status, its stable code, and a part of its description. */
export function refusal(status: number, error: string, text = '') {
  return { status, body: { error, error_description: expect.stringContaining(text) } };
}
