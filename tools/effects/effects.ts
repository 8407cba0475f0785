import { operations, type Api } from '@granary/contract';

/**
 * Which test shows what a parameter does. `portal.tsv`, `array.tsv` and `objects.tsv` have a line for each endpoint and
 * parameter: operation, parameter, file, name of the test. The test shows the effect of the parameter, or that it is
 * refused. `*` in place of the operation is every endpoint that has the parameter; its test walks all of them.
 */
export interface Row {
  readonly operation: string;
  readonly parameter: string;
  readonly file: string;
  readonly test: string;
}

export interface Covered {
  readonly operation: string;
  readonly parameter: string;
  readonly row: Row | undefined;
}

const EVERY = '*';
const COLUMNS = 4;

/** A line without a file says that there is no test yet. */
export function readRows(text: string): Row[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const cells = line.split('\t');
    if (cells.length !== COLUMNS) throw new Error(`A line of effects needs ${COLUMNS} columns: ${line}`);
    const [operation = '', parameter = '', file = '', test = ''] = cells;
    return { operation, parameter, file, test };
  });
}

/** Each endpoint and parameter of an API, with the row that covers it. */
export function coverage(api: Api, rows: readonly Row[]): Covered[] {
  const byKey = new Map(rows.map((row) => [`${row.operation} ${row.parameter}`, row]));
  return operations(api).flatMap(({ id, endpoint }) =>
    Object.keys(endpoint.params).map((parameter) => ({
      operation: id,
      parameter,
      row: byKey.get(`${id} ${parameter}`) ?? byKey.get(`${EVERY} ${parameter}`),
    })),
  );
}

/** Rows that name an endpoint, a parameter, a file or a test that is not there, or stand twice. */
export function staleRows(api: Api, rows: readonly Row[], sourceOf: (file: string) => string | undefined): string[] {
  const declared = new Set(
    operations(api).flatMap(({ id, endpoint }) =>
      Object.keys(endpoint.params).flatMap((parameter) => [`${id} ${parameter}`, `${EVERY} ${parameter}`]),
    ),
  );
  const seen = new Set<string>();
  return rows.flatMap((row) => {
    const key = `${row.operation} ${row.parameter}`;
    const problems: string[] = [];
    if (!declared.has(key)) problems.push('the API has no such parameter');
    if (seen.has(key)) problems.push('the row stands twice');
    seen.add(key);
    const source = sourceOf(row.file);
    if (source === undefined) problems.push(`there is no file ${row.file}`);
    else if (!namesTest(source, row.test)) problems.push(`${row.file} has no test «${row.test}»`);
    return problems.map((problem) => `${key}: ${problem}`);
  });
}

/** The name stands in the source as a literal; where it is a template, its fixed text does. */
function namesTest(source: string, test: string): boolean {
  const written = [test, test.replaceAll("'", String.raw`\'`)];
  return test !== '' && written.some((name) => source.includes(name));
}
