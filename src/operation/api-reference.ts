import express, { type Response, type Router } from 'express';
import { getAbsoluteFSPath } from 'swagger-ui-dist';
import { onlyMethods } from '../http/method-not-allowed.js';

/** `/openapi.json`, made once when it is first asked for, and `/docs`: Swagger UI from our own files, so that it needs no outside network. */
export function apiReference(router: Router, document: () => object): void {
  let made: object | undefined;
  const get = (path: string, answer: (res: Response) => void) => router.route(path).get((_req, res) => answer(res)).all(onlyMethods('GET'));
  get('/openapi.json', (res) => res.json((made ??= document())));
  get('/docs/start.js', (res) => res.type('js').send(start));
  get('/docs', (res) => res.type('html').send(page));
  router.use('/docs', express.static(getAbsoluteFSPath(), { index: false, maxAge: '1d' }));
}

const start = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#reference', deepLinking: true, docExpansion: 'none' });`;

/**
 * No route has links, and spdx.org, to which Swagger UI links every licence, knows none of ours. The rest is for narrow screens.
 */
const style = `
      .response-col_links, .info__license { display: none; }
      .swagger-ui select { max-width: 100%; }
      @media (max-width: 640px) {
        .swagger-ui .opblock-tag { flex-wrap: wrap; position: relative; padding-right: 40px; }
        .swagger-ui .opblock-tag small { flex: 1 0 100%; padding: 4px 0 0; }
        .swagger-ui .opblock-tag .expand-operation { position: absolute; right: 0; }
        .swagger-ui .response-col_status { width: 48px; }
        .swagger-ui table.responses-table { table-layout: fixed; }
      }
    `;

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>API reference</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <link rel="icon" href="/docs/favicon-32x32.png" />
    <style>${style}</style>
  </head>
  <body>
    <main id="reference"></main>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;
