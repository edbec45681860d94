import { CheckField, SelectField, TextField, useRefusal, type Option } from '../field.js';
import { ActionButton } from '../parts.js';
import { capitalized, monthNames, nthTexts, weekdays } from './cadence.js';
import { joined, partsOf, type FormFields } from './form-values.js';
import { TimeZoneField } from './time-zone.js';
import textStyles from '../styles/text.module.css';
import styles from './calendar-fields.module.css';

const kindsOfDays = [
  { value: '', name: 'Every day' },
  { value: 'weekdays', name: 'Weekdays' },
  { value: 'days_of_month', name: 'Days of the month' },
  { value: 'nth_weekdays', name: 'Nth weekdays of the month' },
];

const weekdayOptions = weekdays.map((value) => ({ value, name: capitalized(value) }));
const monthOptions = monthNames.map((name, at) => ({ value: String(at + 1), name }));
const nthOptions = [1, 2, 3, 4, 5, -1].map((nth) => ({
  value: String(nth),
  name: capitalized(nthTexts[nth as keyof typeof nthTexts]),
}));

/** The days and times of a calendar. */
export function CalendarFields({ textOf, choiceOf }: FormFields) {
  const { value: days } = choiceOf('days');
  return (
    <>
      <TextField label="Times of day" {...textOf('times')} hint="Separated by commas: 09:00, 17:30" />
      <TimeZoneField {...textOf('time_zone')} />
      <SelectField label="Days" {...choiceOf('days')} options={kindsOfDays} />
      {days === 'weekdays' && <CheckGroup legend="Weekdays" {...textOf('weekdays')} options={weekdayOptions} />}
      {days === 'days_of_month' && (
        <TextField
          label="Days of the month"
          {...textOf('days_of_month')}
          hint="Separated by commas. -1 is the last day, -2 the day before. Months without such a day are skipped."
        />
      )}
      {days === 'nth_weekdays' && <NthWeekdays {...textOf('nth_weekdays')} />}
      <CheckGroup legend="Only in these months" {...textOf('months')} options={monthOptions} />
    </>
  );
}

interface ListOptions {
  name: string;
  /** The selected values, separated by commas. */
  text: string;
  onChange: (text: string) => void;
}

function CheckGroup({ legend, name, text, onChange, options }: ListOptions & { legend: string; options: Option[] }) {
  const selected = partsOf(text);
  return (
    <fieldset className={styles.group}>
      <legend>{legend}</legend>
      <div className={styles.choices}>
        {options.map(({ value, name: label }) => (
          <CheckField
            key={value}
            label={label}
            isChecked={selected.includes(value)}
            onChange={(isChecked) =>
              onChange(
                joined(
                  options
                    .map((option) => option.value)
                    .filter((each) => (each === value ? isChecked : selected.includes(each))),
                ),
              )
            }
          />
        ))}
      </div>
      <ListProblem name={name} label={legend} />
    </fieldset>
  );
}

/** One row for each weekday, such as `tuesday 2`. */
function NthWeekdays({ name, text, onChange }: ListOptions) {
  const rows = partsOf(text);
  const replace = (at: number, row: string) => onChange(joined(rows.map((each, place) => (place === at ? row : each))));
  return (
    <fieldset className={styles.group}>
      <legend>Nth weekdays of the month</legend>
      <p className={textStyles.soft}>Months without a fifth one are skipped.</p>
      {rows.map((row, at) => {
        const [weekday = '', nth = ''] = row.split(' ');
        return (
          // Rows have no identity other than their place.
          <div key={at} className={styles.row}>
            <SelectField
              label="Which"
              value={nth}
              options={nthOptions}
              onChange={(value) => replace(at, `${weekday} ${value}`)}
            />
            <SelectField
              label="Weekday"
              value={weekday}
              options={weekdayOptions}
              onChange={(value) => replace(at, `${value} ${nth}`)}
            />
            {rows.length > 1 && (
              <ActionButton name="Remove" onClick={() => onChange(joined(rows.filter((_, place) => place !== at)))} />
            )}
          </div>
        );
      })}
      <ActionButton name="Add a weekday" onClick={() => onChange(joined([...rows, 'monday 1']))} />
      <ListProblem name={name} label="Nth weekdays" />
    </fieldset>
  );
}

function ListProblem({ name, label }: { name: string; label: string }) {
  const problem = useRefusal(name);
  if (problem === undefined) return null;
  return (
    <p className={textStyles.bad} role="alert">
      {label} {problem}
    </p>
  );
}
