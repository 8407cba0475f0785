import { badParameter } from '@granary/kernel';

/** The 30th of February is not quietly the 2nd of March. */
export function readMinute(text: string): number | undefined {
  const ms = Date.parse(`${text.replace(' ', 'T')}:00.000Z`);
  return !Number.isNaN(ms) && minuteText(ms) === text ? ms : undefined;
}

function minuteText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
}

/** A parameter that has to be such a time. */
export function momentOf(parameter: string, text: string): number {
  const ms = readMinute(text);
  if (ms === undefined) throw badParameter(parameter, 'must be a date and time that exists, in UTC');
  return ms;
}
