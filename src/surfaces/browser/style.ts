/** The style sheet that every page embeds. The Content-Security-Policy contains its hash. */
export const style = `
:root {
  color-scheme: light dark;
  --page: #f3f4f7; --card: #fff; --ink: #1a1d23; --soft: #535a68; --line: #c5cad4; --strong-line: #7b8394;
  --accent: #1648b8; --on-accent: #fff; --note: #fff4d6; --note-line: #b7791f; --bad: #fdeaea; --bad-line: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14161b; --card: #1e2128; --ink: #eceef2; --soft: #b3bac7; --line: #3c424f; --strong-line: #8a93a5;
    --accent: #8fb4ff; --on-accent: #0c1526; --note: #38300f; --note-line: #d9a441; --bad: #3d1917; --bad-line: #f2938c;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; padding: 2rem 1rem 3rem; background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 35rem; margin: 0 auto; padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; overflow-wrap: anywhere; }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0 0 .75rem; }
a { color: var(--accent); }
.service { color: var(--soft); font-size: .875rem; }
form { margin: 0; }
.note, .problem { margin-bottom: 1.25rem; padding: .75rem 1rem; border-left: .25rem solid var(--note-line); border-radius: .25rem; background: var(--note); }
.problem { border-color: var(--bad-line); background: var(--bad); }
.code { font: 700 1.75rem/1.5 ui-monospace, monospace; letter-spacing: .125em; }
.account { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .25rem 1rem; margin: 1.25rem 0; }
.account p { margin: 0; }
fieldset { min-width: 0; margin: 0 0 1.25rem; padding: 0; border: 0; }
legend { padding: 0; margin-bottom: .5rem; font-size: 1.125rem; font-weight: 600; }
label { font-weight: 600; }
.hint { color: var(--soft); font-size: .9375rem; }
input[type=email], input[type=password], input[type=search], input[type=text], select {
  display: block; width: 100%; min-height: 2.75rem; margin: .25rem 0 1rem; padding: .5rem .75rem;
  border: 1px solid var(--strong-line); border-radius: .375rem; background: var(--card); color: inherit; font: inherit;
}
.label-row { display: flex; flex-wrap: wrap; align-items: center; gap: 0 .5rem; }
.scope { display: flex; gap: .75rem; padding: .75rem 0; border-top: 1px solid var(--line); }
.scope:last-of-type { border-bottom: 1px solid var(--line); }
.scope input { flex: none; width: 1.375rem; height: 1.375rem; margin: .0625rem 0 0; accent-color: var(--accent); }
.scope p { margin: 0; color: var(--soft); font-size: .9375rem; }
.tag { padding: 0 .5rem; border: 1px solid var(--strong-line); border-radius: 1rem; font-size: .8125rem; font-weight: 400; color: var(--soft); white-space: nowrap; }
ul { margin: 0 0 .75rem; padding-left: 1.25rem; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem; }
.actions button { flex: 1 1 9rem; }
button { min-height: 2.75rem; padding: .5rem 1rem; border: 1px solid var(--strong-line); border-radius: .375rem; background: transparent; color: inherit; font: inherit; font-weight: 600; cursor: pointer; }
button.primary { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
button.small { font-size: .9375rem; font-weight: 400; }
button:hover { text-decoration: underline; }
:focus-visible { outline: .1875rem solid var(--accent); outline-offset: .1875rem; }
@media (max-width: 30rem) {
  body { padding: 0; background: var(--card); }
  main { padding: 1.25rem 1rem 2rem; border: 0; border-radius: 0; }
}
@media (forced-colors: active) { .note, .problem, button.primary { border: 2px solid; } }
`;
