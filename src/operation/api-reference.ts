import express, { type Router } from 'express';
import { getAbsoluteFSPath } from 'swagger-ui-dist';

/** `/openapi.json`, made once when it is first asked for, and `/docs`: Swagger UI from our own files, so that it needs no outside network. */
export function apiReference(router: Router, document: () => object): void {
  let made: object | undefined;
  router.get('/openapi.json', (_req, res) => {
    res.json((made ??= document()));
  });
  router.get('/docs/start.js', (_req, res) => {
    res.type('js').send(`SwaggerUIBundle({ url: '/openapi.json', dom_id: '#reference', deepLinking: true, docExpansion: 'none' });`);
  });
  router.get(['/docs', '/docs/'], (_req, res) => {
    res.type('html').send(page);
  });
  router.use('/docs', express.static(getAbsoluteFSPath(), { index: false, maxAge: '1d' }));
}

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>API reference</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <link rel="icon" href="/docs/favicon-32x32.png" />
  </head>
  <body>
    <main id="reference"></main>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;
