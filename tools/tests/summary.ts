import type { FileResult } from './pool.ts';

const PROGRESS_EVERY_MS = 10_000;
const SLOWEST = 10;

/** Says how a run goes: a line of progress, every failure as it happens, and a summary. */
export class Summary {
  readonly #fileCount: number;
  readonly #showsOutput: boolean;
  readonly #results: FileResult[] = [];
  readonly #start = performance.now();
  readonly #isTerminal = process.stdout.isTTY;
  #failures: string[] = [];
  #saidMs = 0;

  /** With `showsOutput`, what files print is shown also where they pass. */
  constructor(fileCount: number, showsOutput = false) {
    this.#fileCount = fileCount;
    this.#showsOutput = showsOutput;
  }

  get hasFailed(): boolean {
    return this.#failures.length > 0;
  }

  add(result: FileResult): void {
    this.#results.push(result);
    const failures = failuresOf(result);
    if (failures.length > 0) {
      this.#failures.push(...failures.map(({ title }) => title));
      this.#clear();
      for (const { title, detail } of failures) process.stdout.write(`\n✖ ${title}\n${indent(detail)}\n`);
    }
    const output = result.output.trim();
    if (output !== '' && (failures.length > 0 || this.#showsOutput)) {
      this.#clear();
      process.stdout.write(`  ${result.file} printed:\n${indent(output)}\n`);
    }
    this.#progress(result.file);
  }

  #progress(file: string): void {
    const done = this.#results.length;
    const line = `${done} of ${this.#fileCount} files, ${this.#count('passed')} tests passed, ${this.#failures.length} failed, ${this.#seconds()} s`;
    if (this.#isTerminal) process.stdout.write(`\r\x1b[2K${line}: ${file}`.slice(0, process.stdout.columns + 5));
    else if (performance.now() - this.#saidMs >= PROGRESS_EVERY_MS || done === this.#fileCount) {
      this.#saidMs = performance.now();
      process.stdout.write(`${line}\n`);
    }
  }

  /** With the time of every file, or of the slowest. */
  print(withAllTimes: boolean): void {
    this.#clear();
    const tests = this.#results.flatMap((result) => result.tests);
    const skipped = tests.filter(({ outcome }) => outcome === 'skipped');
    const slowest = this.#results.toSorted((a, b) => b.wallMs - a.wallMs).slice(0, withAllTimes ? Infinity : SLOWEST);
    const lines = [
      ...section(
        withAllTimes ? 'Times' : 'Slowest files',
        slowest.map(({ file, wallMs, cpuMs }) => `${secondsOf(wallMs)} s (${secondsOf(cpuMs)} s of processor) ${file}`),
      ),
      ...section(
        'Skipped',
        skipped.map(
          ({ file, path, detail }) => `${file}: ${path.join(' › ')}${detail === undefined ? '' : ` (${detail})`}`,
        ),
      ),
      ...section('Failed', this.#failures),
      '',
      `${this.#results.length} files, ${tests.length} tests: ${this.#count('passed')} passed, ${this.#failures.length} failed, ${skipped.length} skipped, in ${this.#seconds()} s`,
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
  }

  #count(outcome: string): number {
    return this.#results.reduce((sum, { tests }) => sum + tests.filter((test) => test.outcome === outcome).length, 0);
  }

  #seconds(): string {
    return ((performance.now() - this.#start) / 1000).toFixed(0);
  }

  #clear(): void {
    if (this.#isTerminal) process.stdout.write('\r\x1b[2K');
  }
}

function failuresOf({ file, tests, problems }: FileResult): { title: string; detail: string }[] {
  const failed = tests.filter(({ outcome }) => outcome === 'failed');
  return [
    ...failed.map(({ path, detail = '' }) => ({ title: [file, ...path].join(' › '), detail })),
    ...problems.map((problem) => ({ title: `${file}: ${problem}`, detail: '' })),
    ...(tests.length === 0 && problems.length === 0 ? [{ title: `${file}: it has no tests`, detail: '' }] : []),
  ];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];
}

function secondsOf(ms: number): string {
  return (ms / 1000).toFixed(1);
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '    ');
}
