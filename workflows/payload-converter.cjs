// CommonJS, since Temporal's SDK loads it by path in the client, the worker and the workflow sandbox.
// The codec marks payloads that the product did not encrypt for this workflow (src/temporal/payload-codec.ts).
const { defaultPayloadConverter } = require('@temporalio/common');
const { decode } = require('@temporalio/common/lib/encoding');

const textOf = (bytes) => (bytes ? decode(bytes) : undefined);

exports.payloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload(payload) {
    const reason = textOf(payload.metadata?.untrusted);
    if (reason === undefined) return defaultPayloadConverter.fromPayload(payload);
    return { [Symbol.for('untrusted payload')]: reason };
  },
};
