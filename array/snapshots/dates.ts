import { badParameter } from '@granary/kernel';

/** `DD:MM:YY:HH:MM:SS` in UTC, as milliseconds. A day or an hour that does not exist is a bad parameter. */
export function momentOf(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [day = 0, month = 0, year = 0, hour = 0, minute = 0, second = 0] = text.split(':').map(Number);
  const at = new Date(Date.UTC(2000 + year, month - 1, day, hour, minute, second));
  const [date = '', time = ''] = at.toISOString().slice(2, 19).split('T');
  // What does not exist becomes another moment, and reads differently.
  if (`${date.split('-').reverse().join(':')}:${time}` === text) return at.getTime();
  throw badParameter(field, 'must be a moment that exists, as DD:MM:YY:HH:MM:SS in UTC');
}
