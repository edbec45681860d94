import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import { createExpressServer } from '../../src/http/express-server.js';

let server: Server;
afterEach(() => void server.close().closeAllConnections());

describe('a server for an Express application', () => {
  test('gives requests and responses the prototypes that Express sets', async () => {
    const app = express();
    const prototypes: unknown[] = [];
    const note = (req: IncomingMessage, res: ServerResponse) =>
      prototypes.push(Object.getPrototypeOf(req), Object.getPrototypeOf(res));
    app.post('/notes', express.json(), (req, res) => {
      note(req, res);
      res.status(201).json({ type: req.get('content-type'), body: req.body as unknown, isOurs: req.app === app });
    });
    server = createExpressServer(app, { maxHeaderSize: 2048 }).prependListener('request', note).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/notes`;
    const headers = { 'content-type': 'application/json' };

    const answer = await fetch(url, { method: 'POST', headers, body: '{"a":1}' });

    expect(answer.status).toBe(201);
    expect(await answer.json()).toEqual({ type: 'application/json', body: { a: 1 }, isOurs: true });
    const [request, response, requestInExpress, responseInExpress] = prototypes;
    expect(requestInExpress === request && responseInExpress === response).toBe(true);
    expect(request === app.request && response === app.response).toBe(true);
    const tooLong = await fetch(url, { headers: { 'x-long': 'x'.repeat(3000) } });
    expect(tooLong.status).toBe(431);
  });
});
