import { style } from '../../browser/style.js';

/** The styles of a project's pages, in addition to those of every page. */
export const consoleStyle = `${style}
:root { --good: #14632b; --good-back: #e3f4e7; --bad-ink: #a3160d; --busy: #1648b8; --busy-back: #e6edfc; --held: #6f4a00; --danger: #b3261e; --on-danger: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --good: #8fdba4; --good-back: #16331e; --bad-ink: #f7b0aa; --busy: #a9c5ff; --busy-back: #1c2b4d; --held: #f0c877; --danger: #f2938c; --on-danger: #2a0907; }
}
.console { padding: 0; }
.console header { background: var(--card); border-bottom: 1px solid var(--line); }
.console .bar, .console nav[aria-label=Console], .console main { max-width: 64rem; margin: 0 auto; padding: 0 1rem; }
.bar { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .25rem 1rem; overflow-wrap: anywhere; }
.bar p, .bar button { margin: .5rem 0; }
.bar form { display: flex; flex-wrap: wrap; align-items: center; gap: 0 1rem; }
.who, .soft { color: var(--soft); }
.console nav[aria-label=Console] ul { display: flex; flex-wrap: wrap; gap: 0 .25rem; margin: 0; padding: 0; list-style: none; }
.console nav[aria-label=Console] a { display: block; padding: .625rem .75rem; color: inherit; text-decoration: none; border-bottom: .1875rem solid transparent; }
.console nav[aria-label=Console] a:hover { text-decoration: underline; }
.console nav[aria-label=Console] a[aria-current] { border-color: var(--accent); font-weight: 600; }
.console main { padding: 1.5rem 1rem 3rem; background: none; border: 0; border-radius: 0; }
.console main:focus { outline: none; }
.skip { position: absolute; left: 1rem; top: -4rem; padding: .625rem 1rem; background: var(--card); }
.skip:focus { top: .5rem; }
h2 { margin: 0 0 .5rem; font-size: 1.1875rem; line-height: 1.3; }
h3 { margin: 0; font-size: 1rem; }
section { margin: 2rem 0 0; }
.rows { margin: 0 0 1rem; padding: 0; list-style: none; }
.rows > li, .timeline > li { margin: 0 0 .75rem; padding: .875rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
.rows h2 { margin: 0; font-size: 1.0625rem; }
.rows p:last-child, .timeline p:last-child { margin-bottom: 0; }
.head { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: .25rem 1rem; margin-bottom: .375rem; }
.facts { display: grid; grid-template-columns: minmax(0, 1fr); gap: .25rem; margin: 0 0 .5rem; }
.facts div { display: grid; grid-template-columns: minmax(0, 12rem) minmax(0, 1fr); gap: 0 1rem; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; }
.plain { margin: 0; padding: 0; list-style: none; }
code { font: .9375em/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { max-height: 24rem; margin: .5rem 0 0; padding: .75rem; overflow: auto; background: var(--page); border: 1px solid var(--line); border-radius: .375rem; font: .875rem/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.text { white-space: pre-wrap; }
.badge { display: inline-block; padding: 0 .625rem; border: 1px solid currentColor; border-radius: 1rem; font-size: .9375rem; font-weight: 600; white-space: nowrap; }
.badge.good { color: var(--good); background: var(--good-back); }
.badge.bad { color: var(--bad-ink); background: var(--bad); }
.badge.busy { color: var(--busy); background: var(--busy-back); }
.badge.held { color: var(--held); background: var(--note); }
.done { padding: .75rem 1rem; border-left: .25rem solid var(--good); border-radius: .25rem; background: var(--good-back); }
.state { display: flex; flex-wrap: wrap; align-items: center; gap: .75rem 1.5rem; margin: 0 0 1.25rem; }
.state p { margin: 0; }
.moves { display: flex; flex-wrap: wrap; gap: .5rem; }
a.button { display: inline-block; min-height: 2.75rem; padding: .5rem 1rem; border: 1px solid var(--strong-line); border-radius: .375rem; color: inherit; font-weight: 600; text-decoration: none; text-align: center; }
a.button:hover { text-decoration: underline; }
.actions a.button { flex: 1 1 9rem; }
button.danger { border-color: var(--danger); background: var(--danger); color: var(--on-danger); }
.narrow { max-width: 34rem; }
input[type=text], textarea { display: block; width: 100%; min-height: 2.75rem; margin: .25rem 0 1rem; padding: .5rem .75rem; border: 1px solid var(--strong-line); border-radius: .375rem; background: var(--card); color: inherit; font: inherit; }
.filter { display: flex; flex-wrap: wrap; align-items: end; gap: .5rem 1rem; margin: 0 0 1.25rem; }
.filter > div { flex: 0 1 14rem; }
.filter select, .filter input { margin-bottom: 0; }
.pager { display: flex; gap: 1.5rem; }
.pager a { padding: .5rem 0; }
.count { color: var(--soft); }
.timeline { margin: 0; padding: 0 0 0 1rem; list-style: none; border-left: .1875rem solid var(--line); }
.events > li { margin-bottom: .25rem; padding: .125rem 1rem; }
summary { padding: .375rem 0; cursor: pointer; }
.strip { display: grid; grid-template-columns: repeat(auto-fit, minmax(7rem, 1fr)); gap: .375rem; margin: 0; padding: 0; list-style: none; }
.strip li { display: flex; flex-direction: column; min-width: 0; padding: .5rem .625rem; background: var(--card); font-size: .9375rem; border: 1px solid var(--line); border-top: .3125rem solid var(--strong-line); border-radius: .375rem; }
.strip .ok { border-top-color: var(--good); }
.strip .ok .outcome { color: var(--good); }
.strip .failed { border-top-color: var(--bad-line); background: var(--bad); }
.strip .failed .outcome { color: var(--bad-ink); }
.strip .not-reached { border-style: dashed; color: var(--soft); background: none; }
.strip .outcome { font-size: .875rem; font-weight: 600; }
.strip .detail { margin-top: .25rem; font-size: .875rem; }
.gauges { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr)); gap: 1rem; }
.gauge { padding: 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
.gauge p { margin: 0; }
meter { display: block; width: 100%; height: 1.25rem; margin: .5rem 0; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (max-width: 40rem) {
  .facts div { grid-template-columns: minmax(0, 1fr); }
  .facts { gap: .5rem; }
  .console main { padding: 1.25rem 1rem 2rem; }
  .filter > div, .filter button { flex: 1 1 100%; }
  .strip { grid-template-columns: minmax(0, 1fr); }
  .strip li { flex-flow: row wrap; gap: 0 .5rem; border-top-width: 1px; border-left: .3125rem solid var(--strong-line); }
  .strip .ok { border-left-color: var(--good); }
  .strip .failed { border-left-color: var(--bad-line); }
  .strip .outcome { margin-left: auto; }
  .strip .detail { flex-basis: 100%; }
}
@media (forced-colors: active) { .badge, .done, .strip li { border: 2px solid; } }
`;
