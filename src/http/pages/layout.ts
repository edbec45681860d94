import { html, trusted, type Html } from './html.js';
import { style as sharedStyle } from './style.js';

const serviceName = 'Governed Context and Workflow Service';

/** A whole page: the head that all of them share, and its `<body>`. */
export function htmlPage(title: string, style: string, body: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} – ${serviceName}</title>
<style>${trusted(style)}</style>
</head>
${body}
</html>
`;
}

/** One card on an empty page: sign-in, consent, errors. */
export function layout(title: string, content: Html): Html {
  return htmlPage(
    title,
    sharedStyle,
    html`<body>
<main>
<p class="service">${serviceName}</p>
${content}
</main>
</body>`,
  );
}

/** What is wrong, as a sentence, said by a screen reader as soon as the page is there. */
export function problemNote(problem: string | undefined): Html | undefined {
  return problem === undefined ? undefined : html`<p class="problem" role="alert">${sentence(problem)}</p>`;
}

/** Texts of errors are written to stand behind a code. */
function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? '' : '.'}`;
}
