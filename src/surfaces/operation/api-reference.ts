import express, { type Response, type Router } from 'express';
// The package's main module would load the whole user interface into this process.
import swaggerUiFolder from 'swagger-ui-dist/absolute-path.js';
import { clientsFolder } from '../../base/packages.js';
import { onlyMethods } from '../../http/method-not-allowed.js';

/** Serves `/openapi.json`, built at the first request, and `/docs` with Swagger UI from local files. */
export function apiReference(router: Router, document: () => object): void {
  let cached: object | undefined;
  const get = (path: string, answer: (res: Response) => void) =>
    router
      .route(path)
      .get((_req, res) => answer(res))
      .all(onlyMethods('GET'));
  get('/openapi.json', (res) => res.json((cached ??= document())));
  get('/docs/start.js', (res) => res.type('js').send(start));
  get('/docs', (res) => res.type('html').send(page));
  // People who open the root URL usually want the documentation.
  get('/', (res) => res.redirect('/docs'));
  router.use('/clients', express.static(clientsFolder, { index: false, maxAge: '1h' }));
  router.use('/docs', express.static(swaggerUiFolder(), { index: false, maxAge: '1d' }));
}

/** Makes "Try it out" call the origin that served the page, whatever server the document names. */
const start = `SwaggerUIBundle({
  url: '/openapi.json', dom_id: '#reference', deepLinking: true, docExpansion: 'none',
  requestInterceptor(request) {
    const { pathname, search } = new URL(request.url, location.origin);
    request.url = location.origin + pathname + search;
    return request;
  },
});`;

/**
 * Hides the links section, which is always empty, and the licence link, because Swagger UI links to spdx.org and this
 * licence is not listed there. The remaining rules are for narrow screens.
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
