import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GranaryError } from '@granary/kernel';
import { itemName } from './items.ts';
import { priceHistory, seedPrices, setPrice } from './price-book.ts';
import { listPricesAt } from './repository.ts';
import { PricingService } from './service.ts';
import { anEngine, anInventory, TestPortal } from './testing.ts';

function priceBook(portal: TestPortal, providerId: number): Record<string, string> {
  const prices = portal.store.read((db) => listPricesAt(db, providerId, portal.clock.now()));
  return Object.fromEntries(prices.map((item) => [itemName(item), item.price]));
}

/** When each price of an item began, and what it was. */
function history(portal: TestPortal, providerId: number, item: string): [number, string][] {
  const changes = portal.store.read((db) => priceHistory(db, providerId, Infinity)).get(item) ?? [];
  return changes.map(({ effectiveFrom, price }) => [effectiveFrom, price]);
}

function eventTitles(portal: TestPortal): string[] {
  return portal.store
    .read((db) => portal.events.list(db, { start: 0, limit: 0, oldestFirst: true }))
    .messages.map(({ msg_title }) => msg_title);
}

function refused(entry: string, message: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof GranaryError, String(error));
    assert.equal(error.entry, entry);
    assert.match(error.message, message);
    return true;
  };
}

async function aPortal() {
  const portal = new TestPortal();
  const admin = await portal.addUser('admin', 'admin');
  const providerId = await portal.addProvider('local');
  const pricing = new PricingService(portal);
  return { portal, admin, providerId, pricing };
}

test("a new provider has the cloud's list prices", async () => {
  const { portal, providerId } = await aPortal();
  using _ = portal;
  assert.deepEqual(priceBook(portal, providerId), {
    'engine:small': '0.25',
    'engine:large': '1',
    'encryption:small': '0.01',
    'encryption:large': '0.01',
    'encryption:object_storage': '0',
    'app_engine:app.1': '0.05',
    'drive:SSD_10GB': '0.003',
    'drive:HDD_100GB': '0.001',
    cache_gb: '0.0001',
    public_ip: '0.004',
    proxy: '0',
    public_objs: '0',
  });
});

test('a sync prices what is new and touches no price that is there', async () => {
  const { portal, providerId } = await aPortal();
  using _ = portal;
  const { clock, store } = portal;
  const begin = clock.now();
  clock.advance(1000);
  const engines = [anEngine(1, 'small', '0.99'), anEngine(3, 'huge', '4')];
  await store.write((tx) => seedPrices(tx, providerId, anInventory({ engine_types: engines }), clock.now()));
  assert.deepEqual(history(portal, providerId, 'engine:small'), [[begin, '0.25']]);
  assert.deepEqual(history(portal, providerId, 'engine:large'), [[begin, '1']]);
  assert.deepEqual(history(portal, providerId, 'engine:huge'), [[begin + 1000, '4']]);
});

test('a list price that is no price stops the sync with words', async () => {
  const { portal, providerId } = await aPortal();
  using _ = portal;
  const inventory = anInventory({ engine_types: [anEngine(3, 'odd', 'a lot')] });
  const seeding = portal.store.write((tx) => seedPrices(tx, providerId, inventory, portal.clock.now()));
  await assert.rejects(seeding, refused('not_supported', /price for engine:odd is "a lot"/));
});

test('a price holds from the moment it is set; the ones before are kept', async () => {
  const { portal, providerId, pricing, admin } = await aPortal();
  using _ = portal;
  const begin = portal.clock.now();
  portal.clock.advance(5000);
  await pricing.setFlavorPrice({ providerId, flavor: 'small', price: '0.30' }, admin);
  assert.deepEqual(history(portal, providerId, 'engine:small'), [
    [begin, '0.25'],
    [begin + 5000, '0.30'],
  ]);
  assert.deepEqual(eventTitles(portal), ['Engine small of provider local costs 0.30 USD an hour from now on.']);
});

test('setting the same price again writes nothing, however it is written', async () => {
  const { portal, providerId, pricing, admin } = await aPortal();
  using _ = portal;
  const before = history(portal, providerId, 'engine:small');
  portal.clock.advance(5000);
  await pricing.setFlavorPrice({ providerId, flavor: 'small', price: '0.2500' }, admin);
  assert.deepEqual(history(portal, providerId, 'engine:small'), before);
  assert.deepEqual(eventTitles(portal), []);
});

test('of two changes in one millisecond the later wins', async () => {
  const { portal, providerId } = await aPortal();
  using _ = portal;
  const { clock, store } = portal;
  const begin = clock.now();
  const set = (price: string) =>
    store.write((tx) => setPrice(tx, providerId, { kind: 'engine', key: 'small', price }, clock.now()));
  clock.advance(1);
  await set('1');
  await set('2');
  assert.deepEqual(history(portal, providerId, 'engine:small'), [
    [begin, '0.25'],
    [begin + 1, '2'],
  ]);
  assert.equal(await set('0.25'), true);
  assert.deepEqual(history(portal, providerId, 'engine:small'), [[begin, '0.25']]);
});

test('a price set after the clock was set back is the current one', async () => {
  const { portal, providerId } = await aPortal();
  using _ = portal;
  const { clock, store } = portal;
  const begin = clock.now();
  const set = (price: string) =>
    store.write((tx) => setPrice(tx, providerId, { kind: 'engine', key: 'small', price }, clock.now()));
  clock.advance(10_000);
  await set('9');
  clock.advance(-5000);
  await set('8');
  assert.deepEqual(history(portal, providerId, 'engine:small'), [
    [begin, '0.25'],
    [begin + 5000, '8'],
  ]);
  assert.equal(priceBook(portal, providerId)['engine:small'], '8');
  clock.advance(-1000);
  await set('8');
  assert.deepEqual(history(portal, providerId, 'engine:small').at(-1), [begin + 4000, '8']);
});

test('a flavor is an engine id, nova_id_<n> or an engine key', async () => {
  const { portal, providerId, pricing, admin } = await aPortal();
  using _ = portal;
  const prices = ['2', '3', '4'];
  for (const flavor of ['2', 'nova_id_102', 'large']) {
    portal.clock.advance(1);
    const price = prices.shift() as string;
    await pricing.setFlavorPrice({ providerId, flavor, price }, admin);
    assert.equal(priceBook(portal, providerId)['engine:large'], price);
  }
  for (const flavor of ['3', '102', 'nova_id_2', 'Large', '02', 'SSD_10GB', '__proto__']) {
    const setting = pricing.setFlavorPrice({ providerId, flavor, price: '5' }, admin);
    await assert.rejects(setting, refused('not_found', new RegExp(`There is no engine ${flavor}\\.`)));
  }
  const setting = pricing.setFlavorPrice({ providerId: 99, flavor: '1', price: '5' }, admin);
  await assert.rejects(setting, refused('not_found', /There is no provider 99\./));
});

test('a user sees prices of visible providers only, an administrator of all', async () => {
  const { portal, pricing, admin, providerId } = await aPortal();
  using _ = portal;
  await portal.addProvider('closed', anInventory(), { enabled: false });
  await portal.addProvider('hidden', anInventory(), { hidden: true });
  await portal.addProvider('clouded', anInventory(), { cloudEnabled: false });
  const user = await portal.addUser('ann');
  const names = (actor: typeof user) => pricing.enginePrices(actor).map(({ provider }) => provider.name);
  assert.deepEqual(names(user), ['local']);
  assert.deepEqual(names(admin), ['local', 'closed', 'hidden', 'clouded']);
  assert.deepEqual(pricing.enginePrices(user)[0]?.provider.id, providerId);
});

test('an engine the cloud no longer has keeps its price and is marked so', async () => {
  const { portal, pricing, admin, providerId } = await aPortal();
  using _ = portal;
  const inventory = JSON.stringify(anInventory({ engine_types: [anEngine(2, 'large', '1')] }));
  await portal.store.write((tx) => tx.run('UPDATE clouds SET inventory = :inventory', { inventory }));
  assert.deepEqual(pricing.enginePrices(admin)[0]?.engines, [
    { key: 'large', price: '1', available: true },
    { key: 'small', price: '0.25', available: false },
  ]);
  const setting = pricing.setFlavorPrice({ providerId, flavor: 'small', price: '5' }, admin);
  await assert.rejects(setting, refused('not_found', /engine small/));
});

const FILE = `kind,key,hourly_price_usd
engine,small,0.5
drive,SSD_10GB,0.25
cache_gb,cache_gb,0.125
app_engine,app.1,0.0625
encryption,large,0.75
public_ip,public_ip,0
`;

test('a price file sets its prices for all of the providers and leaves the others', async () => {
  const { portal, pricing, admin, providerId } = await aPortal();
  using _ = portal;
  const other = await portal.addProvider('other');
  const third = await portal.addProvider('third');
  const before = priceBook(portal, third);
  portal.clock.advance(1000);
  await pricing.upload([providerId, other, other], Buffer.from(FILE), admin);
  const expected = {
    ...before,
    'engine:small': '0.5',
    'drive:SSD_10GB': '0.25',
    cache_gb: '0.125',
    'app_engine:app.1': '0.0625',
    'encryption:large': '0.75',
    public_ip: '0',
  };
  assert.deepEqual(priceBook(portal, providerId), expected);
  assert.deepEqual(priceBook(portal, other), expected);
  assert.deepEqual(priceBook(portal, third), before);
  assert.equal(history(portal, providerId, 'public_ip').length, 2);
  assert.deepEqual(eventTitles(portal), [
    'A price file changed 6 prices of provider local.',
    'A price file changed 6 prices of provider other.',
  ]);
});

test('a price file with one bad row changes nothing anywhere', async () => {
  const { portal, pricing, admin, providerId } = await aPortal();
  using _ = portal;
  const poor = await portal.addProvider('poor', anInventory({ engine_types: [anEngine(2, 'large', '1')] }));
  const books = () => [priceBook(portal, providerId), priceBook(portal, poor)];
  const before = books();
  portal.clock.advance(1000);
  const upload = (providers: number[], text: string) => pricing.upload(providers, Buffer.from(text), admin);

  const bad: [string, RegExp][] = [
    ['engine,medium,1', /^Row 8: the cloud of provider local has no engine with the key "medium"/],
    ['drive,small,1', /^Row 8: .* no drive with the key "small"/],
    ['encryption,SSD_10GB,1', /^Row 8: .* no encryption with the key/],
    ['app_engine,small,1', /^Row 8: .* no app_engine with the key/],
    ['cache_gb,20,1', /^Row 8: .* no cache_gb with the key "20"/],
    ['public_ip,1.2.3.4,1', /^Row 8: .* no public_ip with the key/],
    ['volume,small,1', /^Row 8: kind is "volume"/],
    ['engine,large,-0.1', /^Row 8: hourly_price_usd is "-0.1"/],
    ['engine,small,0.5', /^Row 8: engine:small has a price in row 2 already/],
  ];
  for (const [row, message] of bad) {
    await assert.rejects(upload([providerId], `${FILE}${row}\n`), refused('price_file', message), row);
    assert.deepEqual(books(), before);
  }
  const message = /^Row 2: the cloud of provider poor has no engine with the key "small"/;
  await assert.rejects(upload([providerId, poor], FILE), refused('price_file', message));
  await assert.rejects(upload([providerId, 99], FILE), refused('not_found', /no provider 99/));
  assert.deepEqual(books(), before);
  assert.deepEqual(eventTitles(portal), []);
});
