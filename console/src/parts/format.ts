const GB = 1;
const UNITS: readonly (readonly [number, string])[] = [
  [1024 * 1024 * 1024, 'EiB'],
  [1024 * 1024, 'PiB'],
  [1024, 'TiB'],
  [GB, 'GiB'],
  [1 / 1024, 'MiB'],
  [1 / 1024 / 1024, 'KiB'],
];

/** A capacity in the GB of the APIs, which are 2^30 bytes. Cut, not rounded up: what is shown is there. */
export function gigabytes(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (value === 0) return '0 GiB';
  const [size, unit] = UNITS.find(([least]) => Math.abs(value) >= least) ?? [1 / 1024 / 1024 / 1024, 'B'];
  return `${cut(value / size)} ${unit}`;
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  return Math.abs(value) < 1024 ? `${Math.trunc(value)} B` : gigabytes(value / 2 ** 30);
}

function cut(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  const scale = 10 ** digits;
  // 8.2 TiB are 819.9999999999999 hundredths of one to a computer.
  return String(Math.trunc(Number((value * scale).toPrecision(12))) / scale);
}

export function percent(part: number, whole: number): number {
  return whole > 0 ? Math.min(100, (part / whole) * 100) : 0;
}

const times = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** How much of the whole, uncut: `133%`, and `27,648 times` where percent are hard to read. */
export function shareText(part: number, whole: number): string {
  if (whole <= 0) return part > 0 ? 'no capacity' : '0%';
  const share = part / whole;
  return share >= 10 ? `${times.format(Math.trunc(share))} times` : `${wholePercent(share * 100)}%`;
}

/** Rounded, but what is not whole yet is not shown as if it were. */
export function wholePercent(share: number): number {
  return share < 100 ? Math.min(99, Math.round(share)) : Math.trunc(share);
}

/** What a month is where a price of an hour is shown for a month. */
export const HOURS_A_MONTH = 730;

const counting = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : counting.format(value);
}

/** An exact amount as the service gave it, cut for the eye: to cents, or to four digits where it is less than a cent. */
export function money(amount: string | number, currency = 'USD'): string {
  const value = Number(amount);
  if (!Number.isFinite(value)) return '–';
  const isTiny = value !== 0 && Math.abs(value) < 0.01;
  const digits = isTiny ? { maximumSignificantDigits: 4 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return `${new Intl.NumberFormat('en', digits).format(value)} ${currency}`;
}

const marking = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

/** Money at an axis: marks of cents have to differ. */
export function moneyMark(value: number): string {
  return `${marking.format(value)} USD`;
}

/** Any of the APIs' times: `2026-11-18 20:41:29 UTC`, without the zone, ISO, or seconds since 1970. */
export function timeOf(text: string | number): Date | undefined {
  if (typeof text === 'number' || /^\d{9,}$/.test(text)) return new Date(Number(text) * 1000);
  const iso = text
    .replace(' UTC', 'Z')
    .replace(/^(\d{4}-\d\d-\d\d) /, '$1T')
    .replace(/\+0000$/, 'Z');
  const date = new Date(/[zZ]|[+-]\d\d:?\d\d$/.test(iso) ? iso : `${iso}Z`);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const localExact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

const localSecond = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' });

/** To the second: of measurements that are seconds apart. */
export function secondTime(date: Date): string {
  return localSecond.format(date);
}

export function localTime(date: Date): string {
  return local.format(date);
}

const DAY_SECONDS = 86_400;
const MINUTE_SECONDS = 60;
const markDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const markMinute = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const markSecond = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** A mark of an axis whose marks are this many seconds apart, in the viewer's zone and manner. */
export function timeMark(date: Date, seconds: number): string {
  if (seconds >= DAY_SECONDS) return markDay.format(date);
  return (seconds >= MINUTE_SECONDS ? markMinute : markSecond).format(date);
}

/** The time of one measurement, with its day. */
export function timeMarkWhole(date: Date, seconds: number): string {
  return (seconds >= MINUTE_SECONDS ? local : localSecond).format(date);
}

const billDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const billMonth = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' });

/** A day or a month of a bill: those are of UTC. */
export function billMark(date: Date, seconds: number): string {
  return (seconds > 7 * DAY_SECONDS ? billMonth : billDay).format(date);
}

const localDate = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

export function localDay(date: Date): string {
  return localDate.format(date);
}

export function exactTime(date: Date): string {
  return localExact.format(date);
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

export function ago(date: Date, now = Date.now()): string {
  const seconds = (date.getTime() - now) / 1000;
  const step = STEPS.find(([, length]) => Math.abs(seconds) >= length);
  return step ? relative.format(Math.trunc(seconds / step[1]), step[0]) : 'just now';
}

/** `expand_by_gb` → `Expand by gb`: for fields without a name of their own. */
export function words(name: string): string {
  const text = name
    .replaceAll(/[_-]+/g, ' ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
  const known = text.replace(
    /\b(id|ip|ipv6|iqn|nfs|smb|iops|mbps|chap|url|uuid|cpu|raid|vlan|cidr|http|tls|ssl|s3|lun|uid|gid|mtu|dns)\b/g,
    (short) => short.toUpperCase(),
  );
  return known.charAt(0).toUpperCase() + known.slice(1);
}
