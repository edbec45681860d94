import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { Deps } from '../../src/domain/deps.js';

/** The payload that the Temporal UI shows after the codec has decoded it. */
export async function decoded(
  { temporal }: Pick<Deps, 'temporal'>,
  payload: Payload | null | undefined,
): Promise<unknown> {
  if (!payload) return undefined;
  const [plain] = (await temporal.dataConverter.payloadCodecs?.[0]?.decode([payload])) ?? [];
  return plain && defaultPayloadConverter.fromPayload(plain);
}
