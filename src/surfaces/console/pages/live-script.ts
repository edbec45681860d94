/**
 * The only script. It fetches the current page again and replaces the parts that differ, so that only the server
 * renders content. Pages work without it. Focus and opened details are kept.
 */
export const liveScript = `
(() => {
  const parts = () => [...document.querySelectorAll('[data-part]')];
  const shown = new Map(parts().map((part) => [part.dataset.part, part.innerHTML]));
  const replace = (part, news) => {
    const focused = part.contains(document.activeElement) ? document.activeElement.id : '';
    const open = [...part.querySelectorAll('details[open][id]')].map(({ id }) => id);
    part.replaceChildren(...news.childNodes);
    for (const id of open) document.getElementById(id)?.setAttribute('open', '');
    if (focused) (document.getElementById(focused) ?? document.getElementById('main')).focus();
  };
  const refresh = async () => {
    const answer = await fetch(location.pathname + location.search, { headers: { 'X-Console-Refresh': '1' } });
    if (answer.redirected) return location.reload();
    if (!answer.ok) return;
    const news = new DOMParser().parseFromString(await answer.text(), 'text/html');
    for (const part of parts()) {
      const other = news.querySelector('[data-part="' + part.dataset.part + '"]');
      if (!other || other.innerHTML === shown.get(part.dataset.part)) continue;
      shown.set(part.dataset.part, other.innerHTML);
      replace(part, other);
    }
    document.body.dataset.refresh = news.body.dataset.refresh ?? '';
  };
  const wait = () => {
    const seconds = Number(document.body.dataset.refresh);
    if (seconds > 0) setTimeout(() => (document.hidden ? Promise.resolve() : refresh().catch(() => undefined)).then(wait), seconds * 1000);
  };
  wait();
})();
`;
