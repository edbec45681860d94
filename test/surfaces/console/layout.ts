/* Runs in the page. Each function returns what is wrong, as text. */

/** Everything about the layout that holds for every page at this width. */
export function layoutFaults(isWide: boolean): string[] {
  const { document, getComputedStyle, innerWidth, innerHeight } = globalThis as any;
  const isShown = (element: any) =>
    element.checkVisibility({ visibilityProperty: true }) && element.closest('.text-hidden') === null;
  const all = (selector: string): any[] => [...document.querySelectorAll(selector)].filter(isShown);
  const boxOf = (element: any) => element.getBoundingClientRect();
  const nameOf = (element: any) => {
    const text = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent;
    return `${element.localName} "${String(text).trim().slice(0, 40)}"`;
  };
  const faults: string[] = [];

  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) faults.push(`the page is ${scrollWidth} px wide`);

  // Nothing but the header is above the navigation and the content.
  const header = boxOf(document.querySelector('header.frame-top'));
  if (isWide && header.height > 64) faults.push(`the header is ${Math.round(header.height)} px high`);
  const top = boxOf(document.querySelector('h1')).top;
  if (isWide && top > header.bottom + 40) faults.push(`the heading begins at ${top} px`);

  // The fields of a filter share a line, and have names above them or beside them.
  for (const form of all('form.form-filter')) {
    const fields = [...form.querySelectorAll('input, select')].filter(isShown);
    const lines = new Set(fields.map((field) => Math.round(boxOf(field).top)));
    if (isWide && lines.size > 1) faults.push(`${lines.size} lines of filter fields`);
  }

  // A list shows its first row in the upper part of the window.
  for (const list of all('main > .table, main > .scroll-table-scroll')) {
    const row = list.querySelector('[role=row]:has([role=cell]), tbody tr');
    const isFirst = list === document.querySelector('main > .table, main > .scroll-table-scroll, main > section');
    if (isWide && row && isFirst && boxOf(row).top > innerHeight * 0.4)
      faults.push(`the first row is at ${Math.round(boxOf(row).top)} px of ${innerHeight}`);
  }

  // Controls do not cover each other, and buttons do not touch. A graph and a waterfall are drawn without gaps.
  const selector = 'button, a.button, input, select, textarea, summary';
  const controls = all(selector).filter(
    (element) =>
      element.closest('.react-flow, .waterfall') === null && getComputedStyle(element).position !== 'absolute',
  );
  const isButton = (element: any) =>
    element.matches('button, a.button') &&
    !element.matches('.button-plain, .table-value') &&
    element.closest('.table') === null;
  const scrollerOf = (element: any) =>
    element.closest(
      '.table, .scroll-table-scroll, .inbox-items, .lists-results, [role=dialog], .controls-stickyActions, .card-decision',
    );
  for (const [at, one] of controls.entries())
    for (const other of controls.slice(at + 1)) {
      // What scrolls on its own can pass below something else.
      if (scrollerOf(one) !== scrollerOf(other) || one.contains(other)) continue;
      const [a, b] = [boxOf(one), boxOf(other)];
      const [across, down] = [
        Math.max(a.left, b.left) - Math.min(a.right, b.right),
        Math.max(a.top, b.top) - Math.min(a.bottom, b.bottom),
      ];
      if (across < -1 && down < -1) faults.push(`${nameOf(one)} and ${nameOf(other)} overlap`);
      else if (isButton(one) && isButton(other) && across < 3 && down < 3)
        faults.push(`${nameOf(one)} and ${nameOf(other)} touch`);
    }

  // The text of a button is not cut.
  for (const button of all('button, a.button').filter(isButton))
    if (button.scrollWidth > button.clientWidth + 1) faults.push(`${nameOf(button)} is cut`);
  return faults;
}
