import { TestPortal } from '../pricing/testing.ts';
import { setPrice } from '../pricing/price-book.ts';
import { syncMeter } from './meter.ts';
import { Billing } from './service.ts';
const p = new TestPortal();
const admin = await p.addUser('admin', 'admin');
const users = await Promise.all(Array.from({ length: 50 }, (_, i) => p.addUser('u' + i)));
const prov = await p.addProvider('local');
const day = 86400000,
  b = p.clock.now();
const N = Number(process.argv[2] ?? 1000),
  EVERY = Number(process.argv[3] ?? 7);
for (let i = 0; i < N; i++)
  await p.store.write((tx) => {
    const id = p.insertArray(tx, users[i % 50]!, prov, 'array ' + i);
    const a = {
      id,
      placed: true,
      hasPublicIp: i % 2 === 0,
      spec: { engine: 'small', app_engine: 'app.1', extra_cache_gb: 200, drives: { SSD_10GB: 4, HDD_100GB: 2 } },
    };
    for (let d = 0; d < 365; d += EVERY) {
      syncMeter(tx, { ...a, status: 'created' }, b + d * day + i);
      syncMeter(tx, { ...a, status: 'hibernated' }, b + d * day + i + (EVERY * day) / 2);
    }
  });
for (let m = 1; m < 12; m++)
  await p.store.write((tx) => {
    setPrice(tx, prov, { kind: 'engine', key: 'small', price: '0.' + (m + 1) }, b + m * 30 * day);
    setPrice(tx, prov, { kind: 'drive', key: 'SSD_10GB', price: '0.0' + (m + 1) }, b + m * 30 * day);
  });
console.log(p.store.read((db) => db.get('select count(*) n from metered_items')));
p.clock.set('2027-01-01T00:00:00Z');
const bill = new Billing(p);
for (const [s, e, u] of [
  ['2026-01-01 00:00', '2027-01-01 00:00'],
  ['2026-01-01 00:00', '2027-01-01 00:00'],
  ['2026-06-01 00:00', '2026-07-01 00:00'],
  ['2026-01-01 00:00', '2027-01-01 00:00', users[3]!.userId],
] as [string, string, number?][]) {
  let max = 0,
    last = performance.now();
  const t = setInterval(() => {
    const n = performance.now();
    max = Math.max(max, n - last);
    last = n;
  }, 1);
  const c0 = process.cpuUsage();
  const t0 = performance.now();
  const f = await bill.report({ start: s, end: e, userId: u }, admin);
  const cu=process.cpuUsage(c0); console.log(s, e, u, Math.round(performance.now() - t0) + "ms", "cpu", Math.round((cu.user+cu.system)/1000), f.bytes.length, "loop gap", Math.round(max));
  console.log(s, e, u, Math.round(performance.now() - t0) + 'ms', f.bytes.length, 'loop gap', Math.round(max));
}
p.store.read((db) => {
  for (const q of [
    `SELECT a.id FROM arrays a JOIN users u ON u.id=a.owner_id WHERE (:o IS NULL OR a.owner_id=:o) AND (
       EXISTS (SELECT 1 FROM metered_items m WHERE m.array_id = a.id AND m.ended_at IS NULL AND m.started_at < :to)
       OR EXISTS (SELECT 1 FROM metered_items m WHERE m.array_id = a.id AND m.ended_at > :from AND m.started_at < :to))
     ORDER BY a.id`,
    `SELECT id,quantity,kind from metered_items where array_id=:o AND (ended_at IS NULL OR ended_at > :from) AND started_at < :to
     ORDER BY kind, key, started_at`,
  ])
    console.log(db.all('EXPLAIN QUERY PLAN ' + q, { from: b, to: b + day, o: null }).map((r: any) => r.detail));
});
p[Symbol.dispose]();
