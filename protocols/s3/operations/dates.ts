const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3600;
/** `00:00` to `59:59`: minutes and seconds of an hour. */
export const SIXTIETHS = Array.from(
  { length: 3600 },
  (_, count) => `${twoDigits(count / 60)}:${twoDigits(count % 60)}`,
);

let lastDay = { day: Number.NaN, text: '' };

/**
 * HTTP dates have whole seconds: a listing must not tell another time than `Last-Modified`. It asks a thousand times,
 * mostly within few days, so only a new day is left to `Date`.
 */
export function isoDate(time: number): string {
  const second = Math.floor(time / 1000);
  return `${hourOf(second)}${SIXTIETHS[second % HOUR_SECONDS]}.000Z`;
}

/** `2026-11-16T12:`, of a time in seconds. */
export function hourOf(second: number): string {
  const day = Math.floor(second / DAY_SECONDS);
  if (lastDay.day !== day) {
    lastDay = { day, text: new Date(day * DAY_SECONDS * 1000).toISOString().slice(0, -'00:00:00.000Z'.length) };
  }
  return `${lastDay.text}${twoDigits((second - day * DAY_SECONDS) / HOUR_SECONDS)}:`;
}

export function httpDate(time: number): string {
  return new Date(time).toUTCString();
}

function twoDigits(value: number): string {
  const whole = Math.floor(value);
  return whole < 10 ? `0${whole}` : String(whole);
}
