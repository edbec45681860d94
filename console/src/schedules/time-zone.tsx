import { TextField } from '../field.js';

interface TimeZoneOptions {
  name: string;
  text: string;
  onChange: (text: string) => void;
}

/** Suggests the time zones that the browser knows. */
export function TimeZoneField(props: TimeZoneOptions) {
  return (
    <>
      <TextField label="Time zone" {...props} list="time-zones" />
      <datalist id="time-zones">
        {Intl.supportedValuesOf('timeZone').map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  );
}
