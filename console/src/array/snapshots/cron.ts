const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** Five cron fields in words; the fields themselves where they say more than words can. Times are in UTC. */
export function cronWords(pattern: string): string {
  if (pattern === 'manual') return 'only by hand';
  const fields = pattern.trim().split(/\s+/);
  const [minute, hour, day, month, weekday] = fields;
  if (fields.length !== 5 || !minute || !hour || !day || !month || !weekday) return pattern;
  const time = timeWords(minute, hour);
  if (time === undefined) return pattern;
  const which = dayWords(day, month, weekday);
  return which === undefined ? pattern : [time, which].filter(Boolean).join(', ');
}

function timeWords(minute: string, hour: string): string | undefined {
  const every = stepOf(minute, 60);
  if (every !== undefined && hour === '*') return every === 1 ? 'every minute' : `every ${every} minutes`;
  if (!isNumber(minute)) return undefined;
  const hours = stepOf(hour, 24);
  if (hours !== undefined) {
    const past = minute === '0' ? 'on the hour' : `${Number(minute)} minutes past the hour`;
    return hours === 1 ? `every hour, ${past}` : `every ${hours} hours, ${past}`;
  }
  const all = hour.split(',');
  if (!all.every(isNumber)) return undefined;
  return `at ${joined(all.map((one) => `${one.padStart(2, '0')}:${minute.padStart(2, '0')}`))} UTC`;
}

function dayWords(day: string, month: string, weekday: string): string | undefined {
  const months = month === '*' ? '' : namesOf(month, (number) => MONTHS[number - 1]);
  if (months === undefined) return undefined;
  const within = months === '' ? '' : ` in ${months}`;
  if (day === '*' && weekday === '*') return months === '' ? 'every day' : `every day${within}`;
  if (day === '*') {
    if (weekday === '1-5') return `from Monday to Friday${within}`;
    const days = namesOf(weekday, (number) => DAYS[number]);
    return days === undefined ? undefined : `every ${days}${within}`;
  }
  if (weekday !== '*' || !day.split(',').every(isNumber)) return undefined;
  return `on day ${joined(day.split(','))} of ${months === '' ? 'every month' : months}`;
}

function namesOf(list: string, name: (number: number) => string | undefined): string | undefined {
  const names = list.split(',').map((one) => (isNumber(one) ? name(Number(one)) : undefined));
  return names.every((one) => one !== undefined) ? joined([...new Set(names)]) : undefined;
}

function joined(all: readonly (string | undefined)[]): string {
  return all.length < 2 ? (all[0] ?? '') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`;
}

/** 1 for an asterisk, n for an asterisk with `/n`. A step that does not divide the whole begins anew before it is over. */
function stepOf(field: string, whole: number): number | undefined {
  if (field === '*') return 1;
  const found = Number(/^\*\/(\d{1,2})$/.exec(field)?.[1]);
  return whole % found === 0 && found < whole ? found : undefined;
}

function isNumber(text: string): boolean {
  return /^\d{1,2}$/.test(text);
}
