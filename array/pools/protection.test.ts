import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bytes, GranaryError } from '@granary/kernel';
import { GB } from '../units.ts';
import { poolRoutes } from './routes.ts';
import { poolBench, type PoolBench } from './testing/bench.ts';

const MINUTE_MS = 60_000;

/** The one that is called here. */
interface Routes {
  updateProtection(input: object, context: object): Promise<unknown>;
}

const OFF = {
  historyMinutes: 60,
  alertMinutes: 0,
  protectedMinutes: 0,
  emergencyBytes: bytes(0),
};

async function withPool(thresholds: Partial<typeof OFF> & Record<string, number> = {}) {
  const bench = poolBench(100 * GB);
  const { name } = await bench.pools.create(
    {
      displayName: 'main',
      groups: ['group-1'],
      cache: false,
      cowCache: true,
      mode: 'simple',
      type: 'Repository Storage',
    },
    'ann',
  );
  await bench.pools.updateProtection(name, { ...OFF, ...thresholds }, 'ann');
  return { bench, name, mode: () => bench.pools.get(name).capacityMode };
}

/** A minute at a time, so much more in each. */
async function fill(bench: PoolBench, pool: string, fromGb: number, gbPerMinute: number, minutes: number) {
  for (let minute = 1; minute <= minutes; minute++) {
    bench.clock.advance(MINUTE_MS);
    await bench.use(pool, (fromGb + gbPerMinute * minute) * GB);
  }
}

function refusal(bench: PoolBench, pool: string): GranaryError | undefined {
  try {
    bench.pools.refuseNew(bench.pools.get(pool));
    return undefined;
  } catch (error) {
    assert.ok(error instanceof GranaryError);
    return error;
  }
}

describe('the protection of a pool', () => {
  it('goes from normal to alert, protected and emergency as the pool fills, and tells of each', async () => {
    const { bench, name, mode } = await withPool({
      alertMinutes: 60,
      protectedMinutes: 20,
      emergencyBytes: bytes(10 * GB),
    });
    await fill(bench, name, 0, 1, 39);
    assert.equal(mode(), 'normal');
    assert.equal(refusal(bench, name), undefined);
    await fill(bench, name, 39, 1, 16);
    assert.equal(mode(), 'alert');
    assert.equal(refusal(bench, name), undefined);
    await fill(bench, name, 55, 1, 30);
    assert.equal(mode(), 'protected');
    assert.equal(refusal(bench, name)?.entry, 'pool_protected');
    assert.match(refusal(bench, name)?.message ?? '', /protected mode: it will be full in about \d+ minutes\. Expand/);
    await fill(bench, name, 85, 1, 6);
    assert.equal(mode(), 'emergency');
    assert.match(refusal(bench, name)?.message ?? '', /emergency mode: 9 GiB are left/);
    const reported = bench.titles().filter((title) => /is running full|is protected,|in an emergency/.test(title));
    assert.equal(reported.length, 3);
  });

  it('is off where a threshold is 0, save that a full pool is full', async () => {
    const { bench, name, mode } = await withPool();
    await fill(bench, name, 0, 1, 99);
    assert.equal(mode(), 'normal');
    await fill(bench, name, 99, 1, 1);
    assert.equal(mode(), 'emergency');
    assert.equal(refusal(bench, name)?.entry, 'capacity_refused');
  });

  it('gets better only when it stays better, but at once when space is freed', async () => {
    const { bench, name, mode } = await withPool({ emergencyBytes: bytes(10 * GB) });
    await bench.use(name, 91 * GB);
    assert.equal(mode(), 'emergency');
    bench.clock.advance(1000);
    await bench.use(name, 80 * GB);
    assert.equal(mode(), 'emergency');
    bench.clock.advance(10_000);
    await bench.use(name, 80 * GB);
    assert.equal(mode(), 'normal');
    await bench.use(name, 91 * GB);
    await bench.pools.expand(name, { groups: ['group-2'] }, 'ann');
    assert.equal(mode(), 'normal');
  });

  it('judges what servers can still write, too, when that is asked for', async () => {
    const { bench, name, mode } = await withPool({ effectiveEmergencyBytes: bytes(100 * GB) });
    await bench.use(name, 70 * GB, 210 * GB);
    assert.equal(mode(), 'normal', '30 GB are free, which hold 120 GB as the rest was reduced');
    await bench.use(name, 80 * GB, 160 * GB);
    assert.equal(mode(), 'emergency', '20 GB are free, which hold 60 GB');
  });

  it('has an alert, a protected mode and a history of its own for what servers can still write', async () => {
    // 1 GB a minute into 100 GB that hold twice as much: after 50 minutes 50 GB are free, which hold 100 GB.
    const modeAt50 = async (sent: object) => {
      const { bench, name, mode } = await withPool();
      const routes = poolRoutes(bench.pools, bench.tools.jobs) as unknown as Routes;
      await routes.updateProtection(
        { id: name, effectivecapacityhistory: 60, ...sent },
        { actor: { username: 'ann' } },
      );
      for (let minute = 1; minute <= 50; minute++) {
        bench.clock.advance(MINUTE_MS);
        await bench.use(name, minute * GB, minute * GB);
      }
      return mode();
    };
    assert.equal(await modeAt50({}), 'normal');
    assert.equal(await modeAt50({ effectivealertmode: 60 }), 'alert');
    assert.equal(await modeAt50({ effectivealertmode: 40 }), 'normal');
    assert.equal(await modeAt50({ effectiveprotectedmode: 60 }), 'protected');
    assert.equal(await modeAt50({ effectiveprotectedmode: 60, effectivecapacityhistory: 0 }), 'normal');
  });

  it('follows new thresholds at once, and keeps those that are not sent', async () => {
    const { bench, name, mode } = await withPool({ alertMinutes: 30 });
    await bench.use(name, 50 * GB);
    await bench.pools.updateProtection(name, { emergencyBytes: bytes(51 * GB) }, 'ann');
    assert.equal(mode(), 'emergency');
    const row = bench.pools.get(name);
    assert.deepEqual([row.alertMinutes, row.historyMinutes, row.emergencyBytes], [30, 60, 51 * GB]);
  });

  it('still knows after a restart how fast a pool filled', async () => {
    const { bench, name } = await withPool({ alertMinutes: 60, protectedMinutes: 20 });
    await fill(bench, name, 0, 1, 50);
    const again = bench.restart();
    bench.clock.advance(MINUTE_MS);
    await again.use(name, 80 * GB);
    assert.equal(again.pools.get(name).capacityMode, 'protected');
  });

  it('gives up snapshots one after the other in an emergency, waiting for what each frees, and only if asked to', async () => {
    const { bench, name } = await withPool();
    let given = 0;
    bench.pools.onEmergency(() => Promise.resolve(++given <= 3));
    await bench.use(name, 100 * GB);
    assert.equal(given, 0, 'it was not requested');
    await bench.pools.updateProtection(name, { emergencyBytes: bytes(10 * GB) }, 'ann');
    assert.equal(given, 1);
    await bench.use(name, 100 * GB);
    assert.equal(given, 1, 'too soon');
    bench.clock.advance(4000);
    await bench.use(name, 98 * GB);
    assert.equal(given, 1, 'it is still becoming free');
    bench.clock.advance(1000);
    await bench.use(name, 98 * GB);
    assert.equal(given, 2);
    bench.clock.advance(4000);
    await bench.use(name, 80 * GB);
    bench.clock.advance(4000);
    await bench.use(name, 80 * GB);
    assert.equal(given, 2, 'there is room again');
    await bench.pools.stopWatching();
  });

  it('tries again only now and then when there is nothing to give up', async () => {
    const { bench, name } = await withPool({ emergencyBytes: bytes(10 * GB) });
    let asked = 0;
    bench.pools.onEmergency(() => {
      asked++;
      return Promise.resolve(false);
    });
    for (let second = 0; second < 90; second++) {
      bench.clock.advance(1000);
      await bench.use(name, 95 * GB);
    }
    assert.equal(asked, 2);
  });

  it('keeps few samples, however long it runs', async () => {
    const { bench, name } = await withPool();
    await fill(bench, name, 0, 0, 300);
    const kept = bench.tools.store.read((db) => db.all('SELECT * FROM pool_samples'));
    assert.ok(kept.length > 50 && kept.length < 70, String(kept.length));
    await bench.pools.delete(name, false, 'ann');
    assert.equal(bench.tools.store.read((db) => db.all('SELECT * FROM pool_samples')).length, 0);
  });
});
