import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Tx } from '@granary/kernel';
import fc from 'fast-check';
import { itemName, type ItemPrice } from '../pricing/items.ts';
import { priceNanos } from '../pricing/price.ts';
import { setPrice } from '../pricing/price-book.ts';
import { TestPortal } from '../pricing/testing.ts';
import type { Shares } from './amount.ts';
import { Totals } from './bill.ts';
import { meteredItems, syncMeter, type MeteredArray } from '../metering/meter.ts';
import { billedLines } from './lines.ts';

/**
 * Goal: a bill is the integral of what existed at the price of the moment, exactly. Method: random lives of one array
 * and random price changes go through the real meter, price book and tables; the bill is held against a sum over
 * every single step of time, and bills of neighbouring windows against the bill of both.
 */
type Life = Pick<MeteredArray, 'status' | 'placed' | 'hasPublicIp' | 'retained' | 'spec'>;
type Step = { readonly at: number } & ({ readonly life: Life } | { readonly price: ItemPrice });

const STEPS = 60;

const life: fc.Arbitrary<Life> = fc.record({
  status: fc.constantFrom(
    'creating',
    'created',
    'created',
    'hibernating',
    'hibernated',
    'restoring',
    'deleted',
    'failed',
  ),
  placed: fc.boolean(),
  hasPublicIp: fc.boolean(),
  retained: fc.boolean(),
  spec: fc.record({
    engine: fc.constantFrom('small', 'large', null),
    app_engine: fc.constantFrom('app.1', null),
    extra_cache_gb: fc.constantFrom(0, 200, 400),
    drives: fc.dictionary(fc.constantFrom('SSD_10GB', 'HDD_100GB'), fc.nat({ max: 3 })),
  }),
});

const itemPrice: fc.Arbitrary<ItemPrice> = fc
  .tuple(
    fc.constantFrom(
      { kind: 'engine', key: 'small' } as const,
      { kind: 'engine', key: 'large' } as const,
      { kind: 'drive', key: 'SSD_10GB' } as const,
      { kind: 'cache_gb', key: 'cache_gb' } as const,
      { kind: 'public_ip', key: 'public_ip' } as const,
      { kind: 'app_engine', key: 'app.1' } as const,
    ),
    fc.constantFrom('0', '0.000000001', '0.1', '0.333333333', '7', '999999999.999999999'),
  )
  .map(([item, price]) => ({ ...item, price }));

const at = fc.nat({ max: STEPS });
const step: fc.Arbitrary<Step> = fc.oneof(fc.record({ at, life }), fc.record({ at, price: itemPrice }));
const story = fc.array(step, { maxLength: 12 }).map((steps) => steps.toSorted((one, other) => one.at - other.at));
const cuts = fc.uniqueArray(fc.integer({ min: -5, max: STEPS + 5 }), { minLength: 3, maxLength: 3 });
/** Milliseconds in a step: whole seconds, and times that are no whole second. */
const stepMs = fc.constantFrom(1000, 1, 777);

const portal = new TestPortal();
const begin = portal.clock.now();
after(() => {
  portal[Symbol.dispose]();
});

let runs = 0;

/** Lets a story happen to a new array of a new user; the bill of any window of it, in steps. */
async function billOf(steps: readonly Step[], ms: number): Promise<(from: number, to: number) => Shares> {
  const name = `run ${++runs}`;
  const { userId } = await portal.store.write((tx) => {
    const owner = portal.insertUser(tx, name);
    const providerId = portal.insertProvider(tx, name);
    const id = portal.insertArray(tx, owner, providerId);
    for (const one of steps) happen(tx, one, { id, providerId }, begin + one.at * ms);
    return owner;
  });
  const now = begin + STEPS * ms;
  return (from, to) => {
    const span = { from: begin + from * ms, to: Math.min(begin + to * ms, now) };
    const totals = new Totals();
    for (const line of billedLines(portal.store, span, userId)) totals.add(line);
    return totals.amount;
  };
}

function happen(tx: Tx, one: Step, { id, providerId }: { id: number; providerId: number }, now: number): void {
  if ('life' in one) syncMeter(tx, { id, ...one.life }, now);
  else setPrice(tx, providerId, one.price, now);
}

/** The plainest bill there is: look at every step of time, what is there and what it costs. */
function bruteForce(steps: readonly Step[], ms: number, from: number, to: number): Shares {
  const prices = new Map([
    ['engine:small', '0.25'],
    ['engine:large', '1'],
    ['app_engine:app.1', '0.05'],
    ['drive:SSD_10GB', '0.003'],
    ['drive:HDD_100GB', '0.001'],
    ['cache_gb', '0.0001'],
    ['public_ip', '0.004'],
  ]);
  let current: Life | undefined;
  let sum = 0n;
  for (let time = 0; time < Math.min(to, STEPS); time++) {
    for (const one of steps.filter((other) => other.at === time)) {
      if ('life' in one) current = one.life;
      else prices.set(itemName(one.price), one.price.price);
    }
    if (!current || time < from) continue;
    for (const item of meteredItems({ id: 0, ...current })) {
      sum += BigInt(item.quantity) * BigInt(ms) * priceNanos(prices.get(itemName(item)) ?? '0');
    }
  }
  return sum;
}

test('a bill is the sum over every moment of what was there at what it cost then', async () => {
  await fc.assert(
    fc.asyncProperty(story, stepMs, cuts, async (steps, ms, [a = 0, b = 0]) => {
      const bill = await billOf(steps, ms);
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      assert.equal(bill(from, to), bruteForce(steps, ms, from, to));
    }),
    { numRuns: 200 },
  );
});

test('the bills of two neighbouring windows add up to the bill of both, exactly', async () => {
  await fc.assert(
    fc.asyncProperty(story, stepMs, cuts, async (steps, ms, times) => {
      const bill = await billOf(steps, ms);
      const [a = 0, b = 0, c = 0] = times.toSorted((one, other) => one - other);
      assert.equal(bill(a, b) + bill(b, c), bill(a, c));
    }),
    { numRuns: 200 },
  );
});
