import { Server, ServerCredentials, status, type handleUnaryCall } from '@grpc/grpc-js';
import { afterAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';

/** A workflow service that refuses every call with a code after which the client tries again. */
let calls = 0;
const refuse: handleUnaryCall<Buffer, Buffer> = (_call, answer) => {
  calls += 1;
  answer({ code: status.UNAVAILABLE, details: 'the service is starting' });
};
const bytes = (value: Buffer) => value;
const getSystemInfo = {
  path: '/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo',
  requestStream: false,
  responseStream: false,
  requestSerialize: bytes,
  requestDeserialize: bytes,
  responseSerialize: bytes,
  responseDeserialize: bytes,
};
const server = new Server();
server.addService({ getSystemInfo }, { getSystemInfo: refuse });
const port = await new Promise<number>((resolve, reject) =>
  server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
    error ? reject(error) : resolve(bound),
  ),
);
afterAll(() => server.forceShutdown());

const { temporal } = useDeps({ TEMPORAL_ADDRESS: `127.0.0.1:${port}` });

test('a call that waits for its next attempt when the connection closes is refused, and the process keeps running', async () => {
  const refused = expect(temporal.ping()).rejects.toMatchObject({ code: 'unavailable' });
  await eventually(() => expect(calls).toBe(1));
  await temporal.close();
  await refused;
  await expect(temporal.ping()).rejects.toMatchObject({ code: 'unavailable' });
  expect(calls).toBe(1);
});
