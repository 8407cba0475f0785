/** A line of Prometheus' text format. */
export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What `/metrics` answered, line by line. */
export function readSeries(text: string): Series[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^([^{ ]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key, text] as const);
      return { name, labels: Object.fromEntries<string>(pairs as [string, string][]), value: Number(value) };
    });
}

/** The value of the one series with that name and these labels; undefined where there is none. */
export function valueOf(all: readonly Series[], name: string, labels: Series['labels'] = {}): number | undefined {
  return all.find(
    (one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value),
  )?.value;
}
