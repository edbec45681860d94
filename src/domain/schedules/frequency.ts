import { z } from 'zod';

export const Zone = z.string().max(100).describe('An IANA time zone.');

export const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;

const Weekday = z.enum(weekdays);
const TimeOfDay = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, { error: 'must be a time of day from 00:00 to 23:59, such as "09:00"' });
const DayOfMonth = z
  .int()
  .min(-31)
  .max(31)
  .refine((day) => day !== 0, { error: 'must be an integer from 1 to 31, or from -1 (the last day) to -31' });
const Nth = z.literal([1, 2, 3, 4, 5, -1]);

const exampleCalendar = { time_zone: 'Europe/Oslo', times: ['09:00'], days_of_month: [-1] };

const calendarFields = {
  time_zone: Zone,
  times: z.array(TimeOfDay).min(1).max(24).describe('Times of day, `HH:MM`.'),
  weekdays: z.array(Weekday).min(1).max(7).optional().describe('These days of every week.'),
  days_of_month: z
    .array(DayOfMonth)
    .min(1)
    .max(62)
    .optional()
    .describe(
      '1 is the first day of a month, -1 the last day, -2 the day before. A month without such a day is skipped.',
    ),
  nth_weekdays: z
    .array(z.strictObject({ weekday: Weekday, nth: Nth.describe('1 to 5, or -1 for the last one of the month.') }))
    .min(1)
    .max(42)
    .optional()
    .describe('For example the second Tuesday of a month. A month without a fifth one is skipped.'),
  months: z
    .array(z.int().min(1).max(12))
    .min(1)
    .max(12)
    .optional()
    .describe('Only in these months; 1 is January. Every month by default.'),
};

export const Cron = z.object({ cron: z.string(), time_zone: z.string() });
export type Cron = z.infer<typeof Cron>;

/** Days and times of day in a time zone. At most one kind of days is given; without any, every day matches. */
export const Calendar = z.object(calendarFields).meta({ id: 'ScheduleCalendar', example: exampleCalendar });
export type Calendar = z.infer<typeof Calendar>;

const GivenCalendar = z
  .strictObject({ ...calendarFields, time_zone: Zone.default('UTC') })
  .meta({ id: 'ScheduleCalendarInput', example: exampleCalendar });

export const Frequency = z
  .union([z.number(), Cron, Calendar])
  .nullable()
  .describe('The interval in seconds, a cron expression with its time zone, or days and times of a calendar.');
export type Frequency = z.infer<typeof Frequency>;

export const GivenFrequency = z
  .union([
    z.number(),
    z.string().min(1).max(300),
    z.strictObject({ cron: z.string().min(1).max(200), time_zone: Zone.default('UTC') }),
    GivenCalendar,
  ])
  .nullable()
  .describe(
    'For an interval: seconds. For cron: `CRON_TZ=Europe/Oslo 0 9 * * 1-5`, or {cron, time_zone}. For a calendar: `times`, and at most one of `weekdays`, `days_of_month` and `nth_weekdays`; every day without them.',
  );
export type GivenFrequency = z.infer<typeof GivenFrequency>;

export function isCalendar(frequency: GivenFrequency | undefined): frequency is Calendar {
  return typeof frequency === 'object' && frequency !== null && 'times' in frequency;
}
