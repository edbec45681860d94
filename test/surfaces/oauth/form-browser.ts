import { randomAddress } from './oauth-server.js';

/** The parts of a browser that forms without scripts need: a cookie, hidden fields, buttons, redirects on the same server. */
export interface Browser {
  open(path: string): Promise<BrowserPage>;
  /** Presses a button; the given fields replace the selection of the page. */
  submit(page: BrowserPage, action: string, fields?: Record<string, string | string[]>): Promise<BrowserPage>;
  cookie: string | undefined;
}

export interface BrowserPage {
  status: number;
  headers: Headers;
  /** The target of a redirect to another server; redirects on the own server are followed. */
  location: string | undefined;
  html: string;
}

export function openBrowser(url: string): Browser {
  const address = randomAddress();
  const browser: Browser = {
    cookie: undefined,
    open: (path) => load(path, {}),
    async submit(page, action, fields = {}) {
      const form = formWith(page.html, action);
      const body = new URLSearchParams([...form.fields.filter(([name]) => !(name in fields)), ['action', action]]);
      for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) body.append(name, one);
      return load(form.action, { method: 'POST', body });
    },
  };
  async function load(path: string, init: RequestInit): Promise<BrowserPage> {
    const headers = { 'x-forwarded-for': address, ...(browser.cookie === undefined ? {} : { cookie: browser.cookie }) };
    const response = await fetch(new URL(path, url), { ...init, headers, redirect: 'manual' });
    const [set] = response.headers.getSetCookie();
    if (set !== undefined) browser.cookie = set.split(';')[0];
    const location = response.headers.get('location') ?? undefined;
    if (location?.startsWith('/')) return load(location, {});
    return { status: response.status, headers: response.headers, location, html: await response.text() };
  }
  return browser;
}

function formWith(html: string, action: string): { action: string; fields: [string, string][] } {
  const forms = html.match(/<form[\s\S]*?<\/form>/g) ?? [];
  const form = forms.find((one) => one.includes(`value="${action}"`));
  if (form === undefined)
    throw new Error(`no form with the button ${action} in: ${html.replace(/<style>[\s\S]*<\/style>/, '')}`);
  const inputs = [...form.matchAll(/<input([^>]*)>/g)].map(([, attributes = '']) => attributes);
  const sent = inputs.filter((input) => !input.includes('type="checkbox"') || / checked/.test(input));
  const fields = sent.map((input): [string, string] => [attribute(input, 'name'), attribute(input, 'value')]);
  const [, select] = /<select[^>]*name="(\w+)"/.exec(form) ?? [];
  const [, option] = /<option value="([^"]*)" selected/.exec(form) ?? [];
  if (select !== undefined && option !== undefined) fields.push([select, unescape(option)]);
  return { action: attribute(/<form([^>]*)>/.exec(form)?.[1] ?? '', 'action'), fields };
}

function attribute(text: string, name: string): string {
  return unescape(new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? '');
}

function unescape(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
