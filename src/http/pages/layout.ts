import { html, trusted, type Html } from './html.js';
import { style } from './style.js';

export const serviceName = 'Governed Context and Workflow Service';

/** One card on an empty page: sign-in, consent, errors. */
export function layout(title: string, content: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} – ${serviceName}</title>
<style>${trusted(style)}</style>
</head>
<body>
<main>
<p class="service">${serviceName}</p>
${content}
</main>
</body>
</html>
`;
}

/** What is wrong, said by a screen reader as soon as the page is there. */
export function problemNote(problem: string | undefined): Html | undefined {
  return problem === undefined ? undefined : html`<p class="problem" role="alert">${problem}</p>`;
}
