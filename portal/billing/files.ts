import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { formatUtc } from '@granary/kernel';
import { stringify } from 'csv-stringify/sync';
import { ZipFile } from 'yazl';
import { hoursText, nanosText, wholeCentsText } from './amount.ts';
import { Totals, type BillLine } from './bill.ts';
import type { BilledArray } from '../arrays/repository.ts';

type Row = readonly (string | number)[];

const ITEM_COLUMNS = 'array,array_id,user,provider,item,quantity,hours,unit_price_usd,amount_usd,from,to\n';
const ARRAY_COLUMNS = 'array,array_id,user,provider,product,created,deleted,amount_usd\n';
const SUMMARY_COLUMNS = 'user,provider,currency,arrays,amount_usd\n';
/** Lines written between two turns of the event loop: other requests go on while a long bill is made. */
const LINES_PER_TURN = 1000;
/** What zip archives can date a file by. */
const ZIP_TIME_MIN_MS = Date.UTC(1980, 0, 2);
const ZIP_TIME_MAX_MS = Date.UTC(2038, 0, 1);

/** The bill as a zip of three CSV files, dated: the same lines and date give the same bytes. */
export async function billFiles(lines: Iterable<BillLine>, date: number): Promise<Uint8Array> {
  const totals = new Totals();
  const items = await itemsCsv(lines, totals);
  const files = { 'summary.csv': summaryCsv(totals), 'arrays.csv': arraysCsv(totals), 'items.csv': items };
  const mtime = new Date(Math.min(Math.max(date, ZIP_TIME_MIN_MS), ZIP_TIME_MAX_MS));
  const zip = new ZipFile();
  for (const [name, text] of Object.entries(files)) zip.addBuffer(Buffer.from(text), name, { mtime });
  zip.end();
  return buffer(zip.outputStream);
}

/** Writes items.csv and adds up its lines on the way. */
async function itemsCsv(lines: Iterable<BillLine>, totals: Totals): Promise<string> {
  const texts = [ITEM_COLUMNS];
  const write = lineWriter();
  for (const line of lines) {
    totals.add(line);
    texts.push(write(line));
    if (texts.length % LINES_PER_TURN === 0) await setImmediate();
  }
  return texts.join('');
}

/** What neighbouring lines share is written once: the names, which need quoting, and the moments things changed. */
function lineWriter(): (line: BillLine) => string {
  const itemCells = new Map<string, string>();
  const moments = new Map<number, string>();
  let current: BilledArray | undefined;
  let arrayCells = '';
  return ({ array, item, quantity, from, to, price, amount }) => {
    if (array !== current) {
      current = array;
      arrayCells = csv([array.name, array.id, array.owner, array.providerName]).trimEnd();
      moments.clear();
    }
    const itemCell = remembered(itemCells, item, () => csv([item]).trimEnd());
    const charge = `${hoursText(to - from)},${price},${nanosText(amount)}`;
    const times = `${remembered(moments, from, formatMs)},${remembered(moments, to, formatMs)}`;
    return `${arrayCells},${itemCell},${quantity},${charge},${times}\n`;
  };
}

function remembered<K>(known: Map<K, string>, key: K, make: (key: K) => string): string {
  let text = known.get(key);
  if (text === undefined) known.set(key, (text = make(key)));
  return text;
}

function arraysCsv(totals: Totals): string {
  const rows = totals.arrays.map(([array, cents]) => [
    array.name,
    array.id,
    array.owner,
    array.providerName,
    array.product,
    formatUtc(array.createdAt),
    array.deletedAt === null ? '' : formatUtc(array.deletedAt),
    wholeCentsText(cents),
  ]);
  return ARRAY_COLUMNS + csv(...rows);
}

function summaryCsv(totals: Totals): string {
  const rows = totals.accounts.map(({ username, providerName, arrays, cents }) => [
    username,
    providerName,
    'USD',
    arrays.length,
    wholeCentsText(cents),
  ]);
  return SUMMARY_COLUMNS + csv(...rows, ['TOTAL', '', 'USD', totals.arrays.length, wholeCentsText(totals.cents)]);
}

/** Names are what users chose: one that begins like a formula must not become one in a spreadsheet. */
function csv(...rows: Row[]): string {
  return stringify(rows, { escape_formulas: true });
}

/** `YYYY-MM-DD HH:MM:SS.mmm UTC`: to the millisecond, so that the amount can be worked out again from its line. */
function formatMs(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23).replace('T', ' ')} UTC`;
}
