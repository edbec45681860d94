import type { Period } from './as-of.js';

/** The months from January on, in the languages of full text other than Chinese and Japanese. */
const months = [
  'january february march april may june july august september october november december',
  'jan feb mar apr may jun jul aug sep oct nov dec',
  'januar februar märz april mai juni juli august september oktober november dezember',
  'janvier février mars avril mai juin juillet août septembre octobre novembre décembre',
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre',
].flatMap((names) => names.split(' ').map((name, month) => [name, month] as const));
const monthOf = new Map(months);
const monthWord = `(?:${[...monthOf.keys()].sort((a, b) => b.length - a.length).join('|')})`;
const date = new RegExp(
  [
    String.raw`\b(?<isoYear>\d{4})-(?<isoMonth>\d{2})(?:-(?<isoDay>\d{2}))?\b`,
    String.raw`(?<hanYear>\d{4})\s?年(?:\s?(?<hanMonth>\d{1,2})\s?月(?:\s?(?<hanDay>\d{1,2})\s?日)?)?`,
    String.raw`\b(?<day1>\d{1,2})(?:st|nd|rd|th|er|\.)?(?: of| de)? (?<month1>${monthWord})\.?,?(?: de)? (?<year1>\d{4})\b`,
    String.raw`\b(?<month2>${monthWord})\.?(?: de)? (?:(?<day2>\d{1,2})(?:st|nd|rd|th)?,? )?(?<year2>\d{4})\b`,
    String.raw`\b(?:in|during|since|of|from|jahr|jahre|seit|en|de|depuis|desde) (?<year3>(?:19|20)\d{2})\b`,
  ].join('|'),
  'giu',
);

/**
 * Returns the days, months and years that a question names, such as 2023-03-08, 8 March 2023, March 2023 and "in 2023".
 */
export function datesIn(question: string): Period[] {
  return [...question.normalize('NFKC').matchAll(date)].slice(0, 10).flatMap(({ groups = {} }) => {
    const firstGroup = (...names: string[]) => names.map((name) => groups[name]).find((value) => value !== undefined);
    const year = Number(firstGroup('isoYear', 'hanYear', 'year1', 'year2', 'year3'));
    const word = firstGroup('month1', 'month2')?.toLowerCase();
    const month = word === undefined ? Number(firstGroup('isoMonth', 'hanMonth') ?? 0) - 1 : (monthOf.get(word) ?? -1);
    const day = Number(firstGroup('isoDay', 'hanDay', 'day1', 'day2') ?? 0);
    // A day that the month does not have would be one of the next month.
    if (month > 11 || (day > 0 && new Date(Date.UTC(year, month, day)).getUTCDate() !== day)) return [];
    const [from, until] =
      month < 0
        ? [Date.UTC(year, 0), Date.UTC(year + 1, 0)]
        : day === 0
          ? [Date.UTC(year, month), Date.UTC(year, month + 1)]
          : [Date.UTC(year, month, day), Date.UTC(year, month, day + 1)];
    return [{ from: from / 1000, until: until / 1000 }];
  });
}
