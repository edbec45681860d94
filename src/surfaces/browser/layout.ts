import { html, trusted, type Html } from './html.js';
import { style } from './style.js';

const serviceName = 'Governed Context and Workflow Service';

/** Renders a page with one card, for sign-in, consent and errors. */
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

/** Renders a problem as a sentence. Screen readers announce it when the page loads. */
export function problemNote(problem: string | undefined): Html | undefined {
  return problem === undefined ? undefined : html`<p class="problem" role="alert">${sentence(problem)}</p>`;
}

/**
 * Starts with a capital letter and ends with a full stop. Error texts begin in lower case because they usually follow a
 * code.
 */
function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? '' : '.'}`;
}
